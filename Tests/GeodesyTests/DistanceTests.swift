import ProgramTestKit
import Testing

@testable import Geodesy

@Suite struct GreatCircleTests {
    private let radius = GreatCircle.earthRadius

    @Test func knownArcsHaveTheirLengths() {
        let origin = Degrees(latitude: 0, longitude: 0)
        let quarter = radius * .pi / 2
        #expect(near(GreatCircle.distance(from: origin, to: Degrees(latitude: 90, longitude: 17)), quarter, 1e-6))
        #expect(near(GreatCircle.distance(from: origin, to: Degrees(latitude: 0, longitude: 180)), 2 * quarter, 1e-6))
        // One degree of a meridian of the mean sphere.
        #expect(
            near(GreatCircle.distance(from: origin, to: Degrees(latitude: 1, longitude: 0)), 111_195.080, 0.001))
        // Paris to New York: 5,837 km on the mean sphere, published by many.
        let paris = Degrees(latitude: 48.8566, longitude: 2.3522)
        let newYork = Degrees(latitude: 40.7128, longitude: -74.0060)
        #expect(near(GreatCircle.distance(from: paris, to: newYork), 5_837_000, 1_000))
    }

    @Test func nearlyOppositePlacesKeepTheirDigits() {
        let start = Degrees(latitude: 30, longitude: 10)
        // A centimetre short of the antipode along the meridian.
        let step = 0.01 / radius * 180 / .pi
        let end = Degrees(latitude: -30 + step, longitude: -170)
        #expect(near(GreatCircle.distance(from: start, to: end), radius * .pi - 0.01, 1e-4))
    }

    @Test func closePlacesKeepTheirDigits() {
        let start = Degrees(latitude: 60, longitude: 25)
        let millimetre = 0.001 / radius * 180 / .pi
        let end = Degrees(latitude: 60, longitude: 25 + 2 * millimetre)
        #expect(near(GreatCircle.distance(from: start, to: end), 0.001, 1e-6))
        #expect(GreatCircle.distance(from: start, to: start) == 0)
    }

    @Test func theDateLineIsNoDetour() {
        let west = Degrees(latitude: 0, longitude: 179.5)
        let east = Degrees(latitude: 0, longitude: -179.5)
        #expect(near(GreatCircle.distance(from: west, to: east), 111_195.080, 0.001))
        #expect(near(GreatCircle.bearing(from: west, to: east), 90, 1e-9))
        #expect(near(GreatCircle.bearing(from: east, to: west), 270, 1e-9))
    }

    @Test func bearingsPointTheirWay() {
        let origin = Degrees(latitude: 10, longitude: 10)
        #expect(GreatCircle.bearing(from: origin, to: Degrees(latitude: 20, longitude: 10)) == 0)
        #expect(near(GreatCircle.bearing(from: origin, to: Degrees(latitude: 0, longitude: 10)), 180, 1e-9))
        #expect(GreatCircle.bearing(from: origin, to: origin) == 0)
    }

    @Test func theDestinationLiesAtItsDistanceAndBearing() {
        for seed in Dice.seeds(2000) {
            var random = Dice(seed: seed)
            let start = Degrees(
                latitude: Double.random(in: -89.9...89.9, using: &random),
                longitude: Double.random(in: -180...180, using: &random))
            let bearing = Double.random(in: 0..<360, using: &random)
            let distance = Double.random(in: 1...19_000_000, using: &random)
            let end = GreatCircle.destination(from: start, bearing: bearing, distance: distance)
            #expect((-180..<180).contains(end.longitude), "seed \(seed)")
            #expect(near(GreatCircle.distance(from: start, to: end), distance, 1e-3), "seed \(seed)")
            let turned = (GreatCircle.bearing(from: start, to: end) - bearing).magnitude
            #expect(min(turned, 360 - turned) < 1e-4, "seed \(seed)")
        }
    }

    @Test func aPoleHasADestinationToo() {
        let end = GreatCircle.destination(from: Degrees(latitude: 90, longitude: 0), bearing: 180, distance: 1000)
        #expect(near(end.latitude, 90 - 1000 / radius * 180 / .pi, 1e-9))
        #expect(near(end.longitude, 0, 1e-9))
    }
}
