import Testing
import TrackModel

@testable import Ingest

@Suite struct PointRulesTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    @Test func aPlainPointIsFine() throws {
        #expect(try problem { _ in } == nil)
        #expect(try problem { $0.fix.time = now.adding(milliseconds: 600_000) } == nil)
        #expect(
            try problem {
                $0.attributes = ["a": .integer(.min), "b": .double(-0.0), "c": .string("")]
                $0.objectName = String(repeating: "x", count: 128)
                $0.fix.course = 3599
            } == nil)
    }

    @Test func whatBreaksARuleIsNamed() throws {
        let changes: [(String, (inout TrackPoint) -> Void)] = [
            ("time", { $0.fix.time = Timestamp(milliseconds: 0) }),
            ("time", { $0.fix.time = Timestamp(milliseconds: .min) }),
            ("time", { $0.fix.time = Timestamp(milliseconds: .max) }),
            ("time", { $0.fix.time = Timestamp(milliseconds: 1_800_000_600_001) }),
            ("speed", { $0.fix.speed = -1 }),
            ("course", { $0.fix.course = 3600 }),
            ("course", { $0.fix.course = -1 }),
            ("accuracy", { $0.fix.accuracy = -1 }),
            ("object name", { $0.objectName = String(repeating: "x", count: 129) }),
            ("key", { $0.attributes = ["": .integer(1)] }),
            ("key", { $0.attributes = [String(repeating: "k", count: 129): .integer(1)] }),
            ("finite", { $0.attributes = ["a": .double(.nan)] }),
            ("text", { $0.attributes = ["a": .string(String(repeating: "x", count: 1025))] }),
            (
                "65 attributes",
                { point in
                    for index in 0...64 { point.attributes["k\(index)"] = .integer(1) }
                }
            ),
        ]
        for (word, change) in changes {
            let found = try #require(try problem(change), "\(word)")
            #expect(found.contains(word), "\(found)")
        }
    }

    /// People compare the two clocks by the sentence.
    @Test func aPointOfTheFutureIsToldWithBothDates() throws {
        let found = try problem { $0.fix.time = Timestamp(milliseconds: 2_066_860_800_999) }
        #expect(
            found == "time 2066860800999 ms (2035-07-01T00:00:00Z) is more than 600 s ahead of the server's clock "
                + "(2027-01-15T08:00:00Z)")
        #expect(
            try problem { $0.fix.time = Timestamp(milliseconds: .max) }?.contains("292278994-08-17T07:12:55Z") == true)
    }

    private func problem(_ change: (inout TrackPoint) -> Void) throws -> String? {
        let place = try #require(Coordinate(latitudeE7: 1, longitudeE7: 1))
        var point = TrackPoint(Fix(time: Timestamp(milliseconds: 1_790_000_000_000), coordinate: place))
        change(&point)
        return PointRules.problem(with: point, at: now, lead: 600_000)
    }
}
