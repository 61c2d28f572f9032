import Testing
import TrackModel
import TrackStore
import TrackTestKit

/// Packed points are the same points.
@Suite struct StoredPointsTests {
    private static func number(_ random: inout SplitMix) -> Int32? {
        let edge: [Int32?] = [nil, nil, .min, .max, 0, -1, .random(in: .min ... .max, using: &random)]
        return edge.randomElement(using: &random) ?? nil
    }

    private static func continuity(_ random: inout SplitMix) -> Continuity? {
        guard Bool.random(using: &random) else { return nil }
        var continuity = Continuity(interval: .random(in: Continuity.intervals, using: &random))
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            continuity.spans.append(
                GapSpan(.noFix, from: nil, until: Timestamp(milliseconds: .random(in: 0...99, using: &random))))
        }
        // No agent says so. But it must come back.
        if Int.random(in: 0..<8, using: &random) == 0 { continuity.interval = Bool.random(using: &random) ? -5 : .max }
        return continuity
    }

    private static func stored(_ random: inout SplitMix) throws -> StoredPoint {
        let place = Coordinate(
            latitudeE7: .random(in: -900_000_000...900_000_000, using: &random),
            longitudeE7: .random(in: -1_800_000_000...1_800_000_000, using: &random))
        var fix = Fix(
            time: Timestamp(milliseconds: .random(in: .min ... .max, using: &random)), coordinate: try #require(place),
            speed: number(&random), course: number(&random), altitude: number(&random), accuracy: number(&random))
        fix.mode = (FixMode.allCases + [nil]).randomElement(using: &random) ?? nil
        fix.status = (FixStatus.allCases + [nil]).randomElement(using: &random) ?? nil
        fix.satellites = ([nil, 0, 255] as [UInt8?]).randomElement(using: &random) ?? nil
        var point = TrackPoint(fix, isParked: Bool.random(using: &random), continuity: continuity(&random))
        point.coordinateType = try #require(CoordinateType.allCases.randomElement(using: &random))
        if Int.random(in: 0..<4, using: &random) == 0 { point.objectName = "trailer" }
        if Int.random(in: 0..<4, using: &random) == 0 {
            point.attributes = ["fuel": .double(0.5), "door": .string("")]
        }
        return StoredPoint(point, received: Timestamp(milliseconds: .random(in: .min ... .max, using: &random)))
    }

    @Test func everyFieldComesBack() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("stored points seed \(seed)")
        var random = SplitMix(state: seed)
        let points = try (0..<2000).map { _ in try Self.stored(&random) }
        let packed = StoredPoints(points)
        #expect(Array(packed) == points, "seed \(seed)")
        #expect(packed == StoredPoints(Array(packed)))
        var other = points
        other[1999].point.isParked.toggle()
        #expect(packed != StoredPoints(other))
        for (index, stored) in points.enumerated() {
            let (point, all) = (stored.point, packed.points)
            #expect(all.time(at: index) == point.fix.time && all.fix(at: index) == point.fix, "seed \(seed)")
            #expect(
                all.type(at: index) == point.coordinateType && all.isParked(at: index) == point.isParked,
                "seed \(seed)")
        }
    }

    @Test func aPlainPointIsSmall() throws {
        let place = try #require(Coordinate(latitude: 52, longitude: 4))
        let points = (0..<Int64(1000)).map { second in
            let fix = Fix(time: .at(second), coordinate: place, speed: 1000, mode: .threeDimensional)
            return StoredPoint(TrackPoint(fix, continuity: Continuity(interval: 5)), received: .at(0))
        }
        #expect(StoredPoints(points).bytes == 56 * 1000)
    }
}
