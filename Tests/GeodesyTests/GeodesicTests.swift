import ProgramTestKit
import Testing
import TrackModel

@testable import Geodesy

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
