import ProgramTestKit
import Testing
import TrackModel

@testable import Geodesy

/// The quick tests of a way: what they rule out has no crossing, and they rule out most that has none.
@Suite struct WayTouchTests {
    private func ring(_ random: inout Dice, west: Int64) -> [Degrees] {
        let count = Int.random(in: 3...20, using: &random)
        return (0..<count).map { index in
            let end = GreatCircle.destination(
                from: Degrees(latitude: 40, longitude: 0), bearing: Double(index) / Double(count) * 360,
                distance: 2000 * Double.random(in: 0.3...1, using: &random))
            return Degrees(Self.onGrid(end.latitude, west + Int64((end.longitude * 1e7).rounded())))
        }
    }

    private static func onGrid(_ latitude: Double, _ longitudeE7: Int64) -> Coordinate {
        place(latitude, Double(ShapeFrame.wrapped(longitudeE7)) / 1e7)
    }

    @Test(arguments: [1_160_000_000, 1_799_900_000, -1_799_950_000] as [Int64])
    func aWayThatCrossesNothingIsOnOneSide(middle: Int64) throws {
        var (ruledOut, idle, crossing) = (0, 0, 0)
        for seed in Dice.seeds(60) {
            var random = Dice(seed: seed)
            let shape = try ShapeDraft(.polygon([[ring(&random, west: middle)]])).shape()
            guard case .polygon(let polygon, _) = shape.body else { continue }
            for _ in 0..<30 {
                func near() -> Coordinate {
                    Self.onGrid(
                        Double.random(in: 39.98...40.02, using: &random),
                        middle + Int64.random(in: -250_000...250_000, using: &random))
                }
                let way = Way(from: near(), to: near())
                let mayCross = way.mayCross(
                    polygon.vertices.span, southE7: polygon.frame.southE7, westE7: polygon.frame.westE7)
                let parts = shape.passage(of: way).parts
                let isOnOneSide = parts.isEmpty || parts == [0...1]
                if !mayCross { #expect(isOnOneSide, "seed \(seed): \(way)") }
                if !mayCross { ruledOut += 1 } else if isOnOneSide { idle += 1 } else { crossing += 1 }
            }
        }
        #expect(ruledOut > 300 && crossing > 300, "\(ruledOut) \(crossing)")
        #expect(idle * 100 < ruledOut, "taken for a crossing \(idle) times, ruled out \(ruledOut) times")
    }

    @Test func aWideShapeIsCrossedOnBothSidesOfItsCorner() throws {
        // From -170 eastwards to 175: a way beyond the corner also lies, a turn away, at the other end.
        let south = [-170.0, -60, 60, 175].map { (-10.0, $0) }
        let shape = try polygon(south + south.reversed().map { (10.0, $0.1) })
        guard case .polygon(let polygon, _) = shape.body else { return }
        func mayCross(_ from: Double, _ to: Double) -> Bool {
            Way(from: place(0, from), to: place(0, to)).mayCross(
                polygon.vertices.span, southE7: polygon.frame.southE7, westE7: polygon.frame.westE7)
        }
        #expect(mayCross(-171, -169))
        #expect(mayCross(174, 176))
        #expect(mayCross(176, 174))
        // Over the gap between its ends.
        #expect(mayCross(174, -169))
        #expect(!mayCross(176, -171))
        #expect(!mayCross(100, 120))
    }

    @Test func aPlaceSouthOfTheBoxIsOutside() {
        let ring = [GridOffset(x: 0, y: 0), GridOffset(x: 10, y: 0), GridOffset(x: 10, y: 10), GridOffset(x: 0, y: 10)]
        let places: [(Int64, Int64, RingTest.Position)] = [
            (5, -1, .outside), (5, 0, .onBoundary), (5, 1, .inside), (5, 11, .outside), (-1, 5, .outside),
            (3_600_000_000, 5, .outside), (5, -1_800_000_000, .outside), (10, 10, .onBoundary), (11, 10, .outside),
        ]
        for (x, y, position) in places {
            #expect(RingTest.position(x: x, y: y, in: ring.span) == position, "\(x), \(y)")
        }
    }
}
