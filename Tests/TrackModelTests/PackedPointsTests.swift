import Testing
import TrackModel
import TrackTestKit

@Suite struct PackedPointsTests {
    /// Each field is there or not, by the dice.
    private func point(_ dice: inout SplitMix) throws -> TrackPoint {
        func one<Value>(of values: [Value]) -> Value { values.randomElement(using: &dice) ?? values[0] }
        func some<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) -> Number? {
            Bool.random(using: &dice) ? Number.random(in: range, using: &dice) : nil
        }
        let place = try #require(
            Coordinate(
                latitudeE7: .random(in: -900_000_000...900_000_000, using: &dice),
                longitudeE7: .random(in: -1_800_000_000...1_800_000_000, using: &dice)))
        var point = TrackPoint(
            Fix(
                time: Timestamp(milliseconds: .random(in: 0...2_000_000_000_000, using: &dice)),
                coordinate: place,
                speed: some(0...10_000), course: some(0...3599), altitude: some(-5000...90_000),
                accuracy: some(0...1000), mode: one(of: FixMode.allCases + [nil]),
                status: one(of: FixStatus.allCases + [nil]), satellites: some(0...255)),
            coordinateType: one(of: [.wgs84, .gcj02, .bd09ll]), isParked: .random(using: &dice))
        if Int.random(in: 0..<4, using: &dice) == 0 { point.objectName = one(of: ["", "trailer", "ü"]) }
        for _ in 0..<one(of: [0, 0, 0, 1, 3]) {
            point.attributes["a\(Int.random(in: 0..<9, using: &dice))"] = one(of: [.integer(-1), .string("x")])
        }
        let spans = [GapSpan(.noFix, from: nil, until: point.fix.time, lostPoints: some(0...9))]
        point.continuity = one(of: [
            nil, Continuity(interval: 5), Continuity(interval: 86_400), Continuity(interval: 7, spans: spans),
        ])
        return point
    }

    private func points(_ count: Int, _ dice: inout SplitMix) throws -> [TrackPoint] {
        try (0..<count).map { _ in try point(&dice) }
    }

    @Test(arguments: 0..<40) func everyFieldComesBack(round: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var dice = SplitMix(state: seed)
        let points = try points(.random(in: 0...60, using: &dice), &dice)
        var packed = PackedPoints()
        packed.reserve(points.count)
        for point in points { packed.append(point) }
        #expect(packed.count == points.count, "seed \(seed)")
        #expect((0..<packed.count).map { packed[$0] } == points, "seed \(seed)")
        for (position, point) in points.enumerated() {
            #expect(packed.fix(at: position) == point.fix, "seed \(seed)")
            #expect(packed.time(at: position) == point.fix.time, "seed \(seed)")
            #expect(packed.type(at: position) == point.coordinateType, "seed \(seed)")
            #expect(packed.isParked(at: position) == point.isParked, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<40) func rangesAndChoicesKeepWhatLiesApart(round: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var dice = SplitMix(state: seed)
        var (first, second) = (PackedPoints(), PackedPoints())
        let (some, others) = (try points(20, &dice), try points(30, &dice))
        for point in some { first.append(point) }
        for point in others { second.append(point) }
        let low = Int.random(in: 0...30, using: &dice)
        let range = low..<Int.random(in: low...30, using: &dice)
        first.append(second, range)
        let joined = some + others[range]
        #expect((0..<first.count).map { first[$0] } == joined, "seed \(seed), \(range)")
        let positions = joined.indices.filter { _ in Bool.random(using: &dice) }
        let picked = first.picked(positions)
        #expect((0..<picked.count).map { picked[$0] } == positions.map { joined[$0] }, "seed \(seed)")
        // Equal by their points: what lies apart has other places.
        var anew = PackedPoints()
        for position in positions { anew.append(joined[position]) }
        #expect(picked == anew && picked.hashValue == anew.hashValue, "seed \(seed)")
        if let last = positions.last {
            anew.setParked(at: anew.count - 1)
            #expect((picked == anew) == joined[last].isParked, "seed \(seed)")
        }
    }

    /// What lies apart has another order in it, and other names at other places are another track.
    @Test func tracksAreEqualByTheirPoints() throws {
        var dice = SplitMix(state: 1)
        let fixes = try points(2, &dice).map(\.fix)
        func named(_ names: [(Int, String)]) -> PackedPoints {
            var packed = PackedPoints()
            for fix in fixes { packed.append(fix) }
            for (position, name) in names { packed.setObjectName(name, at: position) }
            return packed
        }
        #expect(named([(0, "a"), (1, "b")]) == named([(1, "b"), (0, "a")]))
        #expect(named([(0, "a"), (1, "b")]) != named([(0, "b"), (1, "a")]))
    }
}
