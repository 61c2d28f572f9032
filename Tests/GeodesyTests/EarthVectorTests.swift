import ProgramTestKit
import Testing

@testable import Geodesy

@Suite struct EarthVectorTests {
    private func place(_ random: inout Dice) -> Degrees {
        Degrees(
            latitude: Double.random(in: -90...90, using: &random),
            longitude: Double.random(in: -180...180, using: &random))
    }

    @Test func distancesAreThoseOfTheGreatCircle() {
        for seed in Dice.seeds(3000) {
            var random = Dice(seed: seed)
            let start = place(&random)
            let reach = [0.001, 1, 100, 59_999, 60_001, 500_000, 20_000_000].randomElement(using: &random)!
            let end = GreatCircle.destination(
                from: start, bearing: Double.random(in: 0..<360, using: &random),
                distance: Double.random(in: 0...reach, using: &random))
            let length = EarthVector(start).distance(to: EarthVector(end))
            let tolerance = reach > 10_000_000 ? 1 : max(1e-6, reach * 1e-9)
            #expect(near(length, metres(start, end), tolerance), "seed \(seed)")
        }
    }

    @Test func degreesComeBack() {
        for seed in Dice.seeds(1000) {
            var random = Dice(seed: seed)
            let start = place(&random)
            #expect(metres(EarthVector(start).degrees, start) < 1e-6, "seed \(seed)")
        }
        #expect(EarthVector.zero.degrees == Degrees(latitude: 0, longitude: 0))
    }

    @Test func headingsPointAlongTheGround() {
        for seed in Dice.seeds(1000) {
            var random = Dice(seed: seed)
            let start = place(&random)
            let course = Double.random(in: 0..<360, using: &random)
            let heading = EarthVector(start).heading(course)
            #expect(near(heading.length, 1, 1e-9), "seed \(seed)")
            #expect(near(heading.dot(EarthVector(start)), 0, 1e-6), "seed \(seed)")
            let end = EarthVector(GreatCircle.destination(from: start, bearing: course, distance: 10))
            #expect((end - EarthVector(start) - heading * 10).length < 1e-4, "seed \(seed)")
        }
        let pole = EarthVector(x: 0, y: 0, z: GreatCircle.earthRadius)
        #expect(near(pole.heading(90).length, 1, 1e-9))
    }
}
