import FenceJudging
import Geofencing
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@Suite struct FenceStatusesTests {
    @Test func theStatusIsWhatTheAlarmsTold() async throws {
        let store: any TrackStore = TestStore()
        let service = try await store.createService(named: "fleet", at: .at(-1000)).id
        try await store.haveEntity(named: "van", in: service, at: .at(-1000))
        var definition = circle()
        definition.watch = .everyone
        let open = try await store.createFence(definition, in: service, at: .at(-1000))
        definition.watch = try FenceSubjects(["van"])
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
            own: OwnFences([SubjectFence(record: own, since: .at(-10))]) { _ in nil })
        var stored = batch
        stored.fences = verdict.state.encoded
        _ = await store.ingest([stored])
        statuses = try await FenceStatuses(of: key, in: store)
        #expect(statuses.place(of: open) == .in)
    }

    /// The vehicle's points are five minutes ahead of the server's clock.
    @Test func watchedAgainNobodyKnows() async throws {
        let store: any TrackStore = TestStore()
        let service = try await store.createService(named: "fleet", at: .at(-1000)).id
        try await store.haveEntity(named: "van", in: service, at: .at(-1000))
        var definition = circle()
        definition.watch = .everyone
        let open = try await store.createFence(definition, in: service, at: .at(-1000))
        definition.watch = try FenceSubjects(["van"])
        var own = try await store.createFence(definition, in: service, at: .at(-1000))
        let key = EntityKey(service: service, name: "van")
        func judged(_ points: [TrackPoint], received: Int64, from state: JudgedState) async throws -> JudgedState {
            var batch = IngestBatch(
                service: service, entity: "van", position: nil, points: points, sequences: [], payload: nil,
                received: .at(received))
            let since = try await store.watchTimes(of: key)[own.fence.id]
            var judge = BatchJudge()
            let verdict = judge.judge(
                batch, from: state, by: ServiceFences([open]) { _ in nil },
                own: OwnFences([SubjectFence(record: own, since: try #require(since))]) { _ in nil })
            #expect(verdict.alarms.isEmpty)
            batch.fences = verdict.state.encoded
            _ = await store.ingest([batch])
            return verdict.state
        }
        let state = try await judged(
            [point(300, 0), point(310, 0), point(320, 0)], received: 20, from: JudgedState())
        var statuses = try await FenceStatuses(of: key, in: store)
        #expect(statuses.place(of: open) == .in && statuses.place(of: own) == .in)
        for (watch, seconds) in [(FenceSubjects.nobody, 30), (definition.watch, 40)] as [(FenceSubjects, Int64)] {
            definition.watch = watch
            own = try await store.updateFence(
                own.fence.id, to: definition, expecting: own.version, in: service, at: .at(seconds))
        }
        statuses = try await FenceStatuses(of: key, in: store)
        #expect(statuses.place(of: open) == .in)
        #expect(statuses.place(of: own) == .unknown)
        _ = try await judged([point(350, 0), point(360, 0), point(370, 0)], received: 70, from: state)
        statuses = try await FenceStatuses(of: key, in: store)
        #expect(statuses.place(of: open) == .in && statuses.place(of: own) == .in)
    }
}
