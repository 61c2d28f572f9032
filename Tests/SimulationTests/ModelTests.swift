import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import SystemSimulation

/// The models must be able to say no.
@Suite struct ModelTests {
    private func fix(_ seconds: Int64) throws -> Fix {
        let place = try #require(Coordinate(latitudeE7: Int32(seconds), longitudeE7: 7))
        return Fix(time: Timestamp(seconds: 1_800_000_000 + seconds), coordinate: place, mode: .threeDimensional)
    }

    private func batch(_ sequences: ClosedRange<UInt64>, after previous: UInt64 = 0) throws -> IngestBatch {
        IngestBatch(
            service: try #require(ServiceID(rawValue: 1)), entity: "van",
            position: StreamPosition(
                stream: StreamID(high: 1, low: 2), epoch: 1, previous: previous, first: sequences.lowerBound,
                count: UInt32(sequences.count)),
            points: try sequences.map { TrackPoint(try fix(Int64($0))) }, sequences: Array(sequences), payload: nil,
            received: Timestamp(seconds: 0))
    }

    private func owner() throws -> StreamOwner {
        StreamOwner(
            service: try #require(ServiceID(rawValue: 1)), entity: "van", stream: StreamID(high: 1, low: 2))
    }

    @Test func onlyTheAlarmsOfAStoredBatchAreQueued() throws {
        var pushes = PushModel(seed: 1)
        func causing(_ sequences: ClosedRange<UInt64>, without cleared: UInt64? = nil) throws -> IngestBatch {
            var batch = try batch(sequences)
            batch.pushes = sequences.filter { $0 != cleared }.map {
                pushes.caused(by: $0, of: StreamID(high: 1, low: 2), for: "van", lifetime: 900_000, at: 0)
            }
            return batch
        }
        _ = try causing(4...6)
        #expect(pushes.waiting(for: "van", at: 0).isEmpty, "the store has none of them")
        pushes.stored(try causing(4...6, without: 5), after: 4, at: 10_000)
        #expect(
            pushes.waiting(for: "van", at: 0) == [2], "the stream had passed 4, and the batch that is stored has no 5")
    }

    @Test func aBatchThatCameTwiceIsNewOnce() throws {
        var store = StoreModel()
        try store.open(try owner(), StreamClaim(epoch: 1, storedThrough: 0, version: 0))
        #expect(try store.commit(try batch(1...3), .stored(through: 3, version: 1)).count == 3)
        #expect(try store.commit(try batch(1...3), .duplicate(through: 3, version: 1)).isEmpty)
        #expect(try store.commit(try batch(2...5, after: 3), .stored(through: 5, version: 2)).count == 2)
        #expect(store.count == 5)
        let again = try batch(1...3)
        #expect(throws: Violation.self) { try store.commit(again, .stored(through: 3, version: 3)) }
        let behind = try batch(7...8, after: 6)
        #expect(throws: Violation.self) { try store.commit(behind, .stored(through: 8, version: 3)) }
    }

    @Test func onlyTheNewestClaimStores() throws {
        var store = StoreModel()
        try store.open(try owner(), StreamClaim(epoch: 1, storedThrough: 0, version: 0))
        #expect(try store.commit(try batch(1...3), .stored(through: 3, version: 1)).count == 3)
        let (late, owner) = (try batch(4...6, after: 3), try owner())
        #expect(throws: Violation.self) { try store.commit(late, .replaced) }
        #expect(throws: Violation.self) { try store.open(owner, StreamClaim(epoch: 2, storedThrough: 2, version: 1)) }
        #expect(throws: Violation.self) { try store.open(owner, StreamClaim(epoch: 1, storedThrough: 3, version: 1)) }
        try store.open(owner, StreamClaim(epoch: 2, storedThrough: 3, version: 1))
        #expect(try store.commit(late, .replaced).isEmpty)
        #expect(throws: Violation.self) { try store.commit(late, .stored(through: 6, version: 2)) }
    }

    @Test func pointsOfNoStreamMayBeLeftByAPowerCut() throws {
        var store = StoreModel()
        let owner = try owner()
        try store.open(owner, StreamClaim(epoch: 1, storedThrough: 0, version: 0))
        #expect(try store.commit(try batch(1...3), .stored(through: 3, version: 1)).count == 3)
        var rescued = try batch(4...5)
        (rescued.position, rescued.sequences) = (nil, [])
        var other = store
        #expect(try store.powerReturned([rescued], through: [owner: 3], points: 3).isEmpty)
        #expect(store.count == 3)
        #expect(try store.powerReturned([rescued], through: [owner: 3], points: 5).map(\.new.count) == [2])
        #expect(store.count == 5)
        // A part of a transaction, or points that nobody sent.
        let both = [rescued, try batch(4...6, after: 3)]
        for (through, points) in [(3, 5), (6, 6), (3, 4)] as [(UInt64, Int)] {
            #expect(throws: Violation.self) { try other.powerReturned(both, through: [owner: through], points: points) }
        }
        #expect(try other.powerReturned(both, through: [owner: 6], points: 8).count == 2)
    }

    @Test func aPointIsStoredOnceAndInOrder() throws {
        var ledger = PointModel()
        let fixes = try (1...3).map { try fix($0) }
        for fix in fixes { ledger.choose(fix, entity: "van") }
        try ledger.stored(TrackPoint(fixes[1]), entity: "van", at: 0)
        #expect(throws: Violation.self) { try ledger.stored(TrackPoint(fixes[1]), entity: "van", at: 0) }
        #expect(throws: Violation.self) { try ledger.stored(TrackPoint(fixes[0]), entity: "van", at: 0) }
        #expect(throws: Violation.self) { try ledger.stored(TrackPoint(fixes[2]), entity: "bus", at: 0) }
        var changed = fixes[2]
        changed.speed = 1
        #expect(throws: Violation.self) { try ledger.stored(TrackPoint(changed), entity: "van", at: 0) }
        try ledger.stored(TrackPoint(fixes[2]), entity: "van", at: 0)
        // The first one was chosen and never arrived.
        #expect(throws: Violation.self) { try ledger.settle() }
    }

    @Test func theGridTakesTheFirstFixAtOrAfterEachDueTime() {
        var grid = GridModel()
        grid.setInterval(seconds: 5)
        grid.startGathering("van")
        var times: [Int64] = []
        for second in Int64(0)...21 where !(11...13).contains(second) {
            let report = PlainReport(time: 1_800_000_000_000 + second * 1000, mode: 3, latitude: 1, longitude: 2)
            times += grid.report(report, DateModel.Clocks(now: second * 1000, system: 0, isKept: false)).map {
                $0.fix.time.seconds - 1_800_000_000
            }
        }
        // The point due at 10 s came; after the gap the grid goes on where it stands.
        #expect(times == [0, 5, 10, 15, 20])
    }
}
