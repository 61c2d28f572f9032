import ProgramTestKit
import Testing

@testable import Geodesy

@Suite struct EarthVectorTests {
    private func place(_ random: inout Dice) -> Degrees {
        Degrees(
            latitude: Double.random(in: -90...90, using: &random),
            longitude: Double.random(in: -180...180, using: &random))
    }

    @Test func distancesAreThoseOfTheGeodesic() {
        for seed in Dice.seeds(3000) {
            var random = Dice(seed: seed)
            let start = place(&random)
            let reach = [0.001, 1, 100, 9_999, 99_000, 101_000, 500_000, 19_000_000].randomElement(using: &random)!
            let end = GreatCircle.destination(
                from: start, bearing: Double.random(in: 0..<360, using: &random),
                distance: Double.random(in: 0...reach, using: &random))
            let length = EarthVector(start).distance(to: EarthVector(end))
            let geodesic = SurfaceDistance.between(start, end)
            // The search's formula is exact to 9 mm.
            #expect(near(length, geodesic, max(0.009, geodesic * 4e-7)), "seed \(seed)")
        }
    }

    @Test func degreesComeBack() {
        for seed in Dice.seeds(1000) {
            var random = Dice(seed: seed)
            let start = place(&random)
            #expect(metres(EarthVector(start).degrees, start) < 1e-6, "seed \(seed)")
            // Below and above the ground it is the same place.
            let height = Double.random(in: -10_000...10_000, using: &random)
            let vector = EarthVector(start)
            #expect(metres((vector + vector.upwards * height).degrees, start) < 1e-5, "seed \(seed)")
            #expect((vector.onGround - vector).length < 1e-6, "seed \(seed)")
        }
        #expect(EarthVector.zero.degrees == Degrees(latitude: 0, longitude: 0))
        for place in [EarthVector(x: 1, y: 0, z: 1), EarthVector(x: 0, y: -1000, z: -5)] {
            #expect((-90...90).contains(place.degrees.latitude))
        }
    }

    @Test func headingsPointAlongTheGround() {
        for seed in Dice.seeds(1000) {
            var random = Dice(seed: seed)
            let start = place(&random)
            let course = Double.random(in: 0..<360, using: &random)
            let heading = EarthVector(start).heading(course)
            #expect(near(heading.length, 1, 1e-9), "seed \(seed)")
            #expect(near(heading.dot(EarthVector(start).upwards), 0, 1e-9), "seed \(seed)")
            // The sphere's radius differs from those of the ellipsoid by at most 1.2 %.
            let end = EarthVector(GreatCircle.destination(from: start, bearing: course, distance: 10))
            #expect((end - EarthVector(start) - heading * 10).length < 0.12, "seed \(seed)")
        }
        let pole = EarthVector(Degrees(latitude: 90, longitude: 0))
        #expect(near(pole.heading(90).length, 1, 1e-9))
    }
}
