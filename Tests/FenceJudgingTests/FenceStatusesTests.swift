import FenceJudging
import Geofencing
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@Suite struct FenceStatusesTests {
    @Test func theStatusIsWhatTheAlarmsTold() async throws {
        let store = ReferenceTrackStore()
        let service = try await store.createService(named: "fleet", at: .at(-1000)).id
        try await store.haveEntity(named: "van", in: service, at: .at(-1000))
        var definition = circle()
        definition.watch = .everyone
        let open = try await store.createFence(definition, in: service, at: .at(-1000))
        definition.watch = try FenceWatch(["van"])
        let own = try await store.createFence(definition, in: service, at: .at(-1000))
        definition.watch = .nobody
        let none = try await store.createFence(definition, in: service, at: .at(-1000))
        let key = EntityKey(service: service, name: "van")
        var statuses = try await FenceStatuses(of: key, in: store)
        #expect(statuses.place(of: open) == .unknown)
        #expect(statuses.place(of: own) == .unknown)
        #expect(statuses.place(of: none) == nil)
        // In by the public fence and out of the other, as a judge may have left it.
        var judge = BatchJudge()
        let points = try [point(-20, -200), point(-15, -150), point(-5, -50)]
        let batch = IngestBatch(
            service: service, entity: "van", position: nil, points: points, sequences: [], payload: nil,
            received: .at(0))
        let verdict = judge.judge(
            batch, from: JudgedState(), by: ServiceFences([open]) { _ in nil },
            own: OwnFences([WatchedFence(record: own, since: .at(-10))]) { _ in nil })
        var stored = batch
        stored.fences = verdict.state.encoded
        _ = await store.ingest([stored])
        statuses = try await FenceStatuses(of: key, in: store)
        #expect(statuses.place(of: open) == .in)
    }
}
