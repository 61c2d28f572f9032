import ProgramTestKit
import Testing
import TrackModel

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

/// Lengths that GeographicLib 2.0 gave for pairs of places on WGS 84.
@Suite struct GeodesicTests {
    private static let oracle: [(Double, Double, Double, Double, metres: Double)] = [
        (47.0, 9.0, 47.0001, 9.0, 11.117084),
        (47.0, 9.0, 47.0, 9.0001, 7.605600),
        (0, 0, 0, 0.01, 1113.194908),
        (0, 0, 0.01, 0, 1105.742758),
        (89.99, 10, 89.995, -120, 1536.670333),
        (-89.9999, 0, -89.9999, 180, 22.338796),
        (52.08, 4.31, 52.09, 4.35, 2959.083218),
        (39.9, 116.4, 40.1, 116.2, 28014.834890),
        (47.17, 9.51, 47.05, 9.6, 14987.929228),
        (60, 10, 60, 10.9, 50219.614186),
        (-33.9, 151.2, -34.7, 150.9, 92940.256696),
        (0, 179.95, 0, -179.95, 11131.949079),
        (10, 20, 10.5, 20.5, 77840.474369),
        (75, 0, 75.8, 1.5, 98769.764871),
        (48.8566, 2.3522, 51.5074, -0.1278, 343923.120091),
        (40.6413, -73.7781, 35.5494, 139.7798, 10899319.893767),
        // Nearly opposite.
        (0, 0, 0.5, 179.5, 19936288.578965),
        (0, 0, 0, 180, 20003931.458625),
        (30, 0, -30, 179.8, 20000239.437725),
        (30, 0, -29.9, 179.9, 19992090.302327),
        (90, 0, -90, 0, 20003931.458625),
    ]

    @Test func everyDistanceIsThatOnTheEllipsoid() {
        for (latitude, longitude, otherLatitude, otherLongitude, metres) in Self.oracle {
            let start = Degrees(latitude: latitude, longitude: longitude)
            let end = Degrees(latitude: otherLatitude, longitude: otherLongitude)
            // A millionth.
            let tolerance = metres * 1e-6
            #expect(near(SurfaceDistance.between(start, end), metres, tolerance), "\(start) \(end)")
            #expect(near(SurfaceDistance.between(end, start), metres, tolerance), "\(start) \(end)")
            #expect(near(EarthVector(start).distance(to: EarthVector(end)), metres, tolerance), "\(start) \(end)")
        }
    }
}

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
