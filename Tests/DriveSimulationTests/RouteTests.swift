import Geodesy
import Testing

@testable import DriveSimulation

struct RouteTests {
    private func point(_ latitude: Double, _ longitude: Double, _ altitude: Double? = nil) -> RoutePoint {
        RoutePoint(position: Degrees(latitude: latitude, longitude: longitude), altitude: altitude)
    }

    @Test func positionsLieAtTheirDistances() throws {
        let route = try Route(points: [point(52, 4), point(52.01, 4), point(52.01, 4.02)], isClosed: false)
        #expect(abs(route.length - (1111.95 + 1368.9)) < 2)
        let start = Degrees(latitude: 52, longitude: 4)
        for driven in [0, 1, 500, 1000.0] {
            #expect(abs(GreatCircle.distance(from: start, to: route.position(at: driven)) - driven) < 0.001)
        }
        // Beyond its ends an open route stays there.
        #expect(GreatCircle.distance(from: start, to: route.position(at: -5)) < 0.001)
        let end = Degrees(latitude: 52.01, longitude: 4.02)
        #expect(GreatCircle.distance(from: end, to: route.position(at: 1e9)) < 0.01)
    }

    @Test func aLoopComesBack() throws {
        let route = try Route.cityLoop()
        #expect(route.isClosed)
        #expect((5000...9000).contains(route.length))
        #expect(route.length > Route.cityLoopTunnel.upperBound)
        let (once, twice) = (route.position(at: 123), route.position(at: 123 + 2 * route.length))
        #expect(GreatCircle.distance(from: once, to: twice) < 0.01)
        #expect(abs(route.altitude(at: 0) - route.altitude(at: route.length - 0.001)) < 0.01)
    }

    @Test func altitudesAreInterpolated() throws {
        let route = try Route(points: [point(52, 4, 10), point(52.01, 4, 30)], isClosed: false)
        #expect(route.altitude(at: 0) == 10)
        #expect(abs(route.altitude(at: route.length / 2) - 20) < 0.01)
        #expect(abs(route.altitude(at: route.length) - 30) < 0.01)
    }

    @Test func pointsTooCloseToBeCornersAreLeftOut() throws {
        let route = try Route(points: [point(52, 4), point(52.000_01, 4), point(52.01, 4)], isClosed: false)
        #expect(route.legs.count == 1)
    }

    @Test func whatIsNoRouteIsRefusedWithItsReason() {
        func code(_ points: [RoutePoint], isClosed: Bool = false) -> RouteError.Code? {
            do throws(RouteError) {
                _ = try Route(points: points, isClosed: isClosed)
                return nil
            } catch { return error.code }
        }
        #expect(code([]) == .tooFewPoints)
        #expect(code([point(52, 4), point(52, 4)]) == .tooFewPoints)
        #expect(code([point(52, 4), point(52.1, 4)], isClosed: true) == nil)
        #expect(code([point(52, 4), point(52, 4)], isClosed: true) == .tooFewPoints)
        #expect(code([point(91, 4), point(52, 4)]) == .impossiblePoint)
        #expect(code([point(.nan, 4), point(52, 4)]) == .impossiblePoint)
        #expect(code([point(52, .infinity), point(52, 4)]) == .impossiblePoint)
        #expect(code([point(52, 4, .nan), point(52.1, 4)]) == .impossiblePoint)
        #expect(code([point(52, 4), point(53, 4)]) == .gap)
        #expect(code(Array(repeating: point(52, 4), count: Route.mostPoints + 1)) == .tooManyPoints)
    }
}
