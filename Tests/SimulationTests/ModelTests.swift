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

    private func batch(_ sequences: ClosedRange<UInt64>) throws -> IngestBatch {
        IngestBatch(
            service: try #require(ServiceID(rawValue: 1)), entity: "van",
            position: StreamPosition(
                stream: StreamID(high: 1, low: 2), first: sequences.lowerBound, count: UInt32(sequences.count)),
            points: try sequences.map { TrackPoint(try fix(Int64($0))) }, sequences: Array(sequences), payload: nil,
            received: Timestamp(seconds: 0))
    }

    @Test func aBatchThatCameTwiceIsNewOnce() throws {
        var store = StoreModel()
        #expect(try store.commit(try batch(1...3), .stored(through: 3)).count == 3)
        #expect(try store.commit(try batch(1...3), .duplicate(through: 3)).isEmpty)
        #expect(try store.commit(try batch(2...5), .stored(through: 5)).count == 2)
        #expect(store.count == 5)
        let again = try batch(1...3)
        #expect(throws: Violation.self) { try store.commit(again, .stored(through: 3)) }
    }

    @Test func aPointIsStoredOnceAndInOrder() throws {
        var ledger = PointLedger()
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
            times += grid.report(report).map { $0.fix.time.seconds - 1_800_000_000 }
        }
        // The point due at 10 s came; after the gap the grid goes on where it stands.
        #expect(times == [0, 5, 10, 15, 20])
    }
}
