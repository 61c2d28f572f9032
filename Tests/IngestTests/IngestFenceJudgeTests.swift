import FenceJudging
import Geodesy
import Geofencing
import Logging
import StoreRecords
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Ingest

/// Many fences that change while batches come, and fences that cannot be read.
@Suite struct IngestFenceJudgeTests {
    private let store = TestStore()
    private let service: ServiceID

    init() async throws {
        service = try await store.createService(named: "fleet", at: .at(-2000)).id
        for name in ["van", "bus"] { try await store.haveEntity(named: name, in: service, at: .at(-1000)) }
    }

    @discardableResult
    private func make(_ east: Double, _ names: [String]? = nil, radius: Double = 100) async throws -> Int32 {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116 + east / 85_393.76), radius: radius)))
        definition.watch = try names.map { try FenceSubjects($0) } ?? .everyone
        return try await store.createFence(definition, in: service, at: .at(-1000)).fence.id
    }

    /// At second s it is 10 s metres east of the middle.
    private func batch(_ entity: String, _ times: [Int64]) throws -> IngestBatch {
        let points = try times.map { time in
            let place = try #require(Coordinate(latitude: 40, longitude: 116 + Double(time) * 10 / 85_393.76))
            return TrackPoint(
                Fix(time: .at(time), coordinate: place, speed: 1000, accuracy: 50, mode: .threeDimensional))
        }
        return IngestBatch(
            service: service, entity: entity, position: nil, points: points, sequences: [], payload: nil,
            received: .at(1000))
    }

    /// Judges and stores, as the writer does; returns the alarms.
    private func alarms(_ fenceJudge: IngestFenceJudge, _ entity: String, _ times: [Int64]) async throws -> [String] {
        let judged = try await fenceJudge.judge([try batch(entity, times)])
        let outcomes = await store.ingest(judged.map(\.batch))
        _ = await fenceJudge.settle(judged, outcomes)
        return judged.flatMap(\.batch.alarms).map { "\($0.alarm.action) \($0.alarm.fence)" }
    }

    private func fenceJudge(
        _ store: any FenceStore & ChangeStore,
        pack: @escaping @Sendable (ServiceFences) async -> ServiceFences = { $0.rebuilt() }
    ) -> IngestFenceJudge {
        IngestFenceJudge(
            store, zones: { _ in nil }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, pack: pack)
    }

    // MARK: The index

    /// Indexes that wait until somebody lets them be built.
    private final class Packer: Sendable {
        private let (begun, begin) = AsyncStream<Int>.makeStream()
        private let (allowed, allow) = AsyncStream<Void>.makeStream()
        private let (ended, end) = AsyncStream<Void>.makeStream()

        func pack(_ fences: ServiceFences) async -> ServiceFences {
            begin.yield(0)
            for await _ in allowed { break }
            defer { end.yield() }
            return fences.rebuilt()
        }

        func hasBegun() async { for await _ in begun { break } }
        func goOn() { allow.yield() }
        func hasEnded() async { for await _ in ended { break } }
    }

    /// An index that takes long holds up no batch, and what changes meanwhile is not lost when it comes.
    @Test func anIndexIsBuiltBesideTheBatches() async throws {
        let packer = Packer()
        let fenceJudge = fenceJudge(store) { await packer.pack($0) }
        for number in 0..<20 { try await make(1_000_000 + Double(number)) }
        #expect(try await alarms(fenceJudge, "van", [-40, -35]) == [])
        // More changes than an overlay takes.
        for number in 0...FenceSet.mostChanges { try await make(2_000_000 + Double(number)) }
        let first = try await make(0)
        #expect(try await alarms(fenceJudge, "van", [-30, -20]) == [])
        await packer.hasBegun()
        // While the index is being built, fences come, move and go, and the next batch is judged by them.
        let second = try await make(0, radius: 60)
        let gone = try await make(0, radius: 70)
        let entered = try await alarms(fenceJudge, "van", [-15, -12, -8, 0])
        #expect(entered == ["enter \(first)", "enter \(gone)", "enter \(second)"])
        _ = try await store.deleteFences(matching: FenceFilter(fences: [gone]), in: service, at: .at(1))
        #expect(try await alarms(fenceJudge, "bus", [-15, -8, 0]) == ["enter \(first)", "enter \(second)"])
        packer.goOn()
        await packer.hasEnded()
        while await fenceJudge.isPacking { await Task.yield() }
        // By the new index, and by the changes since.
        #expect(try await alarms(fenceJudge, "van", [3, 8, 15, 20]) == ["exit \(second)", "exit \(first)"])
        #expect(try await alarms(fenceJudge, "bus", [3, 8, 15, 20]) == ["exit \(second)", "exit \(first)"])
    }

    // MARK: Fences that cannot be read

    /// A store that cannot read some fences.
    private final class RottenStore: StoreDecorator {
        let inner: any EngineStore
        let rotten = Mutex<Set<Int32>>([])
        let pages = Mutex<Int>(0)
        /// Readings of fences fail.
        let isFailing = Mutex(false)

        init(_ inner: any EngineStore) { self.inner = inner }

        private func isRotten(_ fence: Int32) -> Bool { rotten.withLock { $0.contains(fence) } }

        func fences(
            in service: ServiceID, matching filter: FenceFilter, page: Page
        ) async throws(TrackStoreError) -> (total: Int, fences: [FenceRecord]) {
            let found = try await inner.fences(in: service, matching: filter, page: page)
            if let bad = found.fences.first(where: { isRotten($0.fence.id) }) {
                throw TrackStoreError(.corrupt, "the fence \(bad.fence.id) cannot be read")
            }
            return found
        }

        func readableFences(
            in service: ServiceID, matching filter: FenceFilter, page: Page
        ) async throws(TrackStoreError) -> ReadableFences {
            pages.withLock { $0 += 1 }
            guard !isFailing.withLock({ $0 }) else { throw TrackStoreError(.failed, "the disk refuses") }
            var found = try await inner.readableFences(in: service, matching: filter, page: page)
            found.unreadable = found.fences.map(\.fence.id).filter(isRotten).map {
                UnreadableFence(fence: $0, reason: "the fence \($0) cannot be read")
            }
            found.fences.removeAll { isRotten($0.fence.id) }
            return found
        }

        func fences(naming entities: [EntityKey]) async throws(TrackStoreError) -> NamingFences {
            var found = try await inner.fences(naming: entities)
            let rotten = Set(found.fences.joined().map(\.record.fence.id).filter(isRotten))
            found.unreadable = rotten.map { UnreadableFence(fence: $0, reason: "the fence \($0) cannot be read") }
            found.fences = found.fences.map { $0.filter { !isRotten($0.record.fence.id) } }
            return found
        }
    }

    @Test func aFenceThatCannotBeReadHidesNoOther() async throws {
        let rotten = RottenStore(store)
        let fenceJudge = fenceJudge(rotten)
        let (bad, good) = (try await make(0), try await make(0, radius: 80))
        let (ownBad, ownGood) = (try await make(0, ["van"]), try await make(0, ["van"], radius: 60))
        rotten.rotten.withLock { $0 = [bad, ownBad] }
        #expect(try await alarms(fenceJudge, "van", [-20, -15, -7, 0]) == ["enter \(good)", "enter \(ownGood)"])
        #expect(try await alarms(fenceJudge, "bus", [-20, -15, -7, 0]) == ["enter \(good)"])
        #expect(await fenceJudge.unreadable == 2)
        // Another fence is changed: the damaged ones stay what they are.
        let next = try await make(0, radius: 40)
        #expect(
            try await alarms(fenceJudge, "bus", [2, 5, 6, 15]) == ["enter \(next)", "exit \(next)", "exit \(good)"])
        #expect(await fenceJudge.unreadable == 2)
        // Who deletes it has mended it.
        _ = try await store.deleteFences(matching: FenceFilter(fences: [bad, ownBad]), in: service, at: .at(20))
        #expect(try await alarms(fenceJudge, "bus", [20, 25]) == [])
        #expect(await fenceJudge.unreadable == 0)
    }

    // MARK: Changes while fences are read

    /// A store in which a fence is moved away just before the fences of an entity are read for the first time.
    private final class RestlessStore: StoreDecorator {
        let inner: any EngineStore
        private let moved: Mutex<Int32?>
        private let service: ServiceID
        /// Before the fences over everyone are read, and not before those of an entity.
        private let isEarly: Bool

        init(_ inner: any EngineStore, moving fence: Int32, in service: ServiceID, isEarly: Bool = false) {
            (self.inner, self.service, self.isEarly) = (inner, service, isEarly)
            moved = Mutex(fence)
        }

        func fences(naming entities: [EntityKey]) async throws(TrackStoreError) -> NamingFences {
            let fence = entities.isEmpty == isEarly ? moved.withLock { $0.take() } : nil
            if let fence, let now = try await inner.fence(fence, in: service) {
                var definition = now.fence.definition
                definition.shape = ShapeDraft(.circle(centre: Degrees(latitude: 41, longitude: 116), radius: 100))
                _ = try await inner.updateFence(
                    fence, to: definition, expecting: now.version, in: service, at: .at(900))
            }
            return try await inner.fences(naming: entities)
        }
    }

    /// The vehicle had the fence as it was, whichever of the fences the desk has read already.
    @Test func aChangeWhileFencesAreReadIsHeardOf() async throws {
        let fence = try await make(0, ["van"])
        let version = try await store.fences(naming: []).version
        let fenceJudge = fenceJudge(RestlessStore(store, moving: fence, in: service))
        var batch = try batch("van", [-20, -15, -7, 0])
        batch.fencesUsed = [FencesUsed(version: version, after: .at(-100))]
        let judged = try await fenceJudge.judge([batch])
        #expect(judged.flatMap(\.batch.alarms).map { "\($0.alarm.action) \($0.alarm.fence)" } == ["enter \(fence)"])
    }

    /// The change is in what was read already, and the feed tells it once more.
    @Test func aChangeThatWasReadBeforeItIsHeardOfHidesNoOtherFence() async throws {
        let (fence, other) = (try await make(0, ["van"]), try await make(1_000_000, ["van"]))
        let fenceJudge = fenceJudge(RestlessStore(store, moving: other, in: service, isEarly: true))
        #expect(try await alarms(fenceJudge, "van", [-20, -15, -7, 0]) == ["enter \(fence)"])
    }

    /// The feed has told the change, and the store then fails to tell the fence: the change is read once more.
    @Test func aChangeIsNotLostWhenTheStoreFailsBehindIt() async throws {
        let store = RottenStore(store)
        let fenceJudge = fenceJudge(store)
        let gone = try await make(0)
        #expect(try await alarms(fenceJudge, "van", [-40, -35]) == [])
        _ = try await store.deleteFences(matching: FenceFilter(fences: [gone]), in: service, at: .at(1))
        store.isFailing.withLock { $0 = true }
        await #expect(throws: TrackStoreError.self) { try await alarms(fenceJudge, "van", [-30]) }
        store.isFailing.withLock { $0 = false }
        #expect(try await alarms(fenceJudge, "van", [-20, -15, -7, 0]) == [])
    }

    /// A vehicle that is away judges by the fences of before. What operators make meanwhile, the server judges beside them.
    @Test func aNewFenceJudgesBesideTheEarlierOnesOfAVehicle() async throws {
        let fenceJudge = fenceJudge(store)
        let known = try await make(0, radius: 60)
        let used = FencesUsed(version: try await store.fences(naming: []).version, after: .at(-100))
        try await make(1_000_000)
        func alarms(_ times: [Int64]) async throws -> [String] {
            var batch = try batch("van", times)
            batch.fencesUsed = [used]
            let judged = try await fenceJudge.judge([batch])
            _ = await fenceJudge.settle(judged, await store.ingest(judged.map(\.batch)))
            return judged.flatMap(\.batch.alarms).map { "\($0.alarm.action) \($0.alarm.fence)" }
        }
        #expect(try await alarms([-40, -35]) == [])
        let new = try await make(0)
        #expect(try await alarms([-20, -15, -8, 0]) == ["enter \(new)", "enter \(known)"])
    }

    /// One request may have batches of a hundred entities, each with a thousand alarms. Others wait while they are judged.
    @Test func whatASenderHasBeyondOneTransactionIsNotJudged() async throws {
        try await make(0)
        let names = ["a", "b", "other", "c"]
        let batches = try names.map { try batch($0, [-20, -15, -7, 0]) }
        let senders = names.map { name in
            name == "other" ? IngestSender.vehicle(EntityKey(service: service, name: name)) : .clients(service)
        }
        let judged = try await fenceJudge(store).judge(batches, of: SenderRowCounts(senders, most: 7))
        #expect(judged.map(\.batch.alarms.count) == [1, 1, 1, 0])
        #expect(judged.map(\.isLeft) == [false, false, false, true])
    }

    // MARK: Before the first batch

    @Test func fencesAreReadBeforeTheFirstBatch() async throws {
        let rotten = RottenStore(store)
        let fenceJudge = fenceJudge(rotten)
        let fence = try await make(0)
        try await fenceJudge.prepare([service], atMost: 10)
        let pages = rotten.pages.withLock { $0 }
        #expect(pages == 1)
        #expect(try await alarms(fenceJudge, "van", [-20, -15, -7, 0]) == ["enter \(fence)"])
        #expect(rotten.pages.withLock { $0 } == pages)
        // Too many: the first batch reads them.
        let other = self.fenceJudge(rotten)
        try await other.prepare([service], atMost: 0)
        #expect(rotten.pages.withLock { $0 } == pages)
        #expect(try await alarms(other, "bus", [-20, -15, -7, 0]) == ["enter \(fence)"])
    }
}
