import FenceJudging
import Geodesy
import Geofencing
import Ingest
import Testing
import TrackModel
import TrackStore
import TrackTestKit

/// What the writer stores beside points when a service has fences.
@Suite struct FenceTests {
    private let van = "van"

    private struct Place {
        let bench: Bench
        let service: ServiceID

        /// A bench whose service has the entities van and bus.
        init(isOpen: Bool = true, failures: [TrackStoreError] = []) async throws {
            // A retry comes at once; only a request's own limits of time are waited for.
            bench = try await Bench(
                isOpen: isOpen, failures: failures,
                sleep: { if $0 >= IngestLimits().requestWait { try? await Task.sleep(for: $0) } })
            service = try #require(ServiceID(rawValue: 1))
            for name in ["van", "bus"] { try await bench.store.haveEntity(named: name, in: service, at: .at(-1000)) }
        }

        func upload(_ batches: IngestBatch...) async -> [Result<UInt64, IngestFailure>] {
            await bench.writer.submit(batches)
        }

        func batch(_ entity: String, _ times: [Int64], received: Int64 = 100) throws -> IngestBatch {
            IngestBatch(
                service: service, entity: entity, position: nil, points: try times.map { try point($0) }, sequences: [],
                payload: nil, received: .at(received))
        }

        func alarms(_ entity: String? = nil) async throws -> [String] {
            try await bench.store.alarms(
                in: service, matching: AlarmFilter(entity: entity), page: Page(offset: 0, limit: 100)
            ).alarms.map { "\($0.alarm.action) \($0.alarm.fence)" }
        }

        func pushes(_ entity: String) async throws -> [PendingPush] {
            try await bench.store.pendingPushes(of: entity, in: service, after: nil, at: .at(100), limit: 100).pushes
        }

        @discardableResult
        func fence(_ names: [String]?, radius: Double = 100) async throws -> FenceRecord {
            var definition = FenceDefinition(
                ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: radius)))
            definition.watch = try names.map { try FenceSubjects($0) } ?? .everyone
            return try await bench.store.createFence(definition, in: service, at: .at(-1000))
        }
    }

    /// At second s it is 10 s metres east of the fences' centre.
    private static func point(_ seconds: Int64) throws -> TrackPoint {
        let place = try #require(Coordinate(latitude: 40, longitude: 116 + Double(seconds) * 10 / 85_393.76))
        return TrackPoint(
            Fix(time: .at(seconds), coordinate: place, speed: 1000, accuracy: 50, mode: .threeDimensional))
    }

    @Test func pointsThatAreTooFarAheadOrTooLateAreCounted() async throws {
        let place = try await Place()
        try await place.fence(nil)
        _ = await place.upload(try place.batch("van", [0, 10, 701, 702, 5], received: 100))
        _ = await place.upload(try place.batch("van", [8, 20, 100_000], received: 101))
        #expect(place.bench.writer.counts.pointsAhead == 3)
        #expect(place.bench.writer.counts.latePoints == 1)
        // A service without fences judges nothing.
        #expect(place.bench.writer.counts.storedPoints == 8)
    }

    @Test func alarmsAndPushesComeWithTheirPoints() async throws {
        let place = try await Place()
        try await place.fence(nil)
        try await place.fence(["van"], radius: 50)
        for times in [[-20, -15], [-7, -3, 0, 3]] as [[Int64]] {
            _ = await place.upload(try place.batch("van", times), try place.batch("bus", times))
        }
        #expect(try await place.alarms("van") == ["enter 1", "enter 2"])
        #expect(try await place.alarms("bus") == ["enter 1"])
        _ = await place.upload(try place.batch("van", [7, 10, 15, 20]))
        #expect(try await place.alarms("van") == ["enter 1", "enter 2", "exit 2", "exit 1"])
        let pushes = try await place.pushes("van")
        #expect(pushes.map(\.type) == Array(repeating: PushRules.fenceAlarm, count: 4))
        #expect(Set(pushes.map(\.id)).count == 4)
        #expect(place.bench.writer.counts.alarms == 5)
        // Points that come too late change nothing.
        _ = await place.upload(try place.batch("van", [0, 1, 2]))
        #expect(try await place.alarms("van").count == 4)
        #expect(place.bench.writer.counts.latePoints == 3)
    }

    @Test func severalBatchesOfAnEntityAreJudgedAsOneTrack() async throws {
        let place = try await Place(isOpen: false)
        try await place.fence(nil)
        let owner = TestOwner(.session(1))
        let all: [[Int64]] = [[-20, -15], [-7, -3], [0, 3], [7, 10], [15, 20]]
        for (index, times) in all.enumerated() {
            try place.bench.submit(try place.batch("van", times), of: owner, ticket: UInt64(index))
        }
        place.bench.gate.open()
        let settled = await owner.settled(all.count)
        #expect(settled.map(\.result) == Array(repeating: .success(0), count: all.count))
        #expect(try await place.alarms() == ["enter 1", "exit 1"])
        #expect(place.bench.writer.counts.staleBatches == 0)
    }

    /// The transaction fails, and is tried again: nothing twice, nothing lost.
    @Test func aFailedTransactionLeavesNothingBehind() async throws {
        let busy = TrackStoreError(.busy, "busy")
        let place = try await Place(failures: [busy, busy])
        try await place.fence(nil)
        #expect(await place.upload(try place.batch("van", [-20, -15, -7])) == [.success(0)])
        #expect(try await place.alarms() == ["enter 1"])
        #expect(try await place.pushes("van").count == 1)
        _ = await place.upload(try place.batch("van", [0, 7]), try place.batch("van", [15, 20]))
        #expect(try await place.alarms() == ["enter 1", "exit 1"])
    }

    /// Another server stores points of the entity and its alarms: what this one had in mind does not hold any more.
    @Test func whatAnotherWriterJudgedIsNotJudgedAgain() async throws {
        let place = try await Place()
        let record = try await place.fence(nil)
        _ = await place.upload(try place.batch("van", [-20, -15]))
        var others = try place.batch("van", [-7, 0])
        let key = EntityKey(service: place.service, name: van)
        let state = try #require(try await place.bench.store.fenceStates(of: [key]).first)
        var judge = BatchJudge()
        let verdict = judge.judge(
            others, from: try JudgedState(encoded: try #require(state.fences)),
            by: [JudgingFences(ServiceFences([record]) { _ in nil }, own: nil)])
        (others.fences, others.alarms, others.expectedVersion) = (verdict.state.encoded, verdict.alarms, state.version)
        _ = await place.bench.store.ingest([others])
        #expect(try await place.alarms() == ["enter 1"])
        let results = await place.upload(
            try place.batch("van", [-5, 7]), try place.batch("van", [15, 20]), try place.batch("bus", [-20, 0]))
        #expect(results == [.success(0), .success(0), .success(0)])
        #expect(try await place.alarms("van") == ["enter 1", "exit 1"])
        #expect(place.bench.writer.counts.latePoints == 1)
    }

    @Test func aChangedFenceCountsFromTheNextBatchOn() async throws {
        let place = try await Place()
        try await place.fence(nil)
        _ = await place.upload(try place.batch("van", [-20, -15]), try place.batch("bus", [-20, -15]))
        // Made, changed and deleted while the writer has it all in memory.
        try await place.fence(["van"])
        _ = try await place.bench.store.deleteFences(
            matching: FenceFilter(fences: [1]), in: place.service, at: .at(-14))
        _ = await place.upload(try place.batch("van", [-12, -7, 0]), try place.batch("bus", [-12, -7, 0]))
        #expect(try await place.alarms() == ["enter 2"])
        let radius = try await place.bench.store.changeFence(2, in: place.service, at: .at(1)) { definition in
            var definition = definition
            definition.shape = ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 10))
            return definition
        }
        #expect(radius.fence.revision == 2)
        // The van is placed anew by its last point, inside.
        _ = await place.upload(try place.batch("van", [4, 7, 9]), try place.batch("bus", [4, 7, 9]))
        #expect(try await place.alarms() == ["enter 2", "exit 2"])
        // News that were forgotten: everything is read anew.
        _ = try await place.bench.store.changeFence(2, in: place.service, at: .at(10)) { definition in
            var definition = definition
            definition.shape = ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116.01), radius: 500))
            definition.watch = .everyone
            return definition
        }
        _ = try await place.bench.store.removeFenceNotices(before: .at(1000), limit: 100)
        _ = await place.upload(try place.batch("van", [11, 40]), try place.batch("bus", [11, 40, 60]))
        #expect(try await place.alarms("bus") == ["enter 2"])
    }

    @Test func anEntityThatWasMadeAnewBeginsAnew() async throws {
        let place = try await Place()
        try await place.fence(["van"])
        _ = await place.upload(try place.batch("van", [-20, -15]))
        try await place.bench.store.deleteEntity(named: van, in: place.service, at: .at(0))
        // Inside from the first point on: its place is found, and nothing is told.
        _ = await place.upload(try place.batch("van", [-7, 0]))
        #expect(try await place.alarms() == [])
        _ = await place.upload(try place.batch("van", [15, 20]))
        #expect(try await place.alarms() == ["exit 1"])
    }

    @Test func withoutFencesNothingIsRemembered() async throws {
        let place = try await Place()
        _ = await place.upload(try place.batch("van", [-20, 0, 20]))
        let keys = [EntityKey(service: place.service, name: van)]
        #expect(try await place.bench.store.fenceStates(of: keys).map(\.fences) == [nil])
        // A fence over others is no fence of the van.
        try await place.fence(["bus"])
        _ = await place.upload(try place.batch("van", [30, 40]))
        #expect(try await place.bench.store.fenceStates(of: keys).map(\.fences) == [nil])
    }
}

extension FenceStore {
    /// Edits that never refuse.
    fileprivate func changeFence(
        _ fence: Int32, in service: ServiceID, at now: Timestamp, _ change: (FenceDefinition) -> FenceDefinition
    ) async throws(TrackStoreError) -> FenceRecord {
        try await editFence(fence, in: service, at: now) { (definition) throws(TrackStoreError) in change(definition) }
    }
}
