import Geodesy
import Testing

@testable import DriveSimulation

struct VehicleTests {
    @Test(arguments: [UInt64(1), 2, 3, 4, 5]) func speedAndAccelerationStayWithinTheirLimits(seed: UInt64) throws {
        let settings = DriveSettings(seed: seed, speedLimit: 50 / 3.6)
        var vehicle = Vehicle(route: try Route.cityLoop(), settings: settings)
        var before = vehicle.state
        var (fastest, standing, driven) = (0.0, 0, 0.0)
        for _ in 0..<36_000 {
            vehicle.advance()
            let state = vehicle.state
            #expect((0...settings.speedLimit + 0.001).contains(state.speed))
            let change = (state.speed - before.speed) / Vehicle.step
            #expect(change <= Vehicle.acceleration + 0.001)
            #expect(change >= -Vehicle.hardestBraking - 0.6, "at \(state.elapsed) s")
            let moved = GreatCircle.distance(from: before.position, to: state.position)
            #expect(moved <= settings.speedLimit * Vehicle.step + 0.01)
            driven += moved
            fastest = max(fastest, state.speed)
            if state.speed == 0 { standing += 1 }
            before = state
        }
        // An hour of city: it gets up to speed, it stops at lights, and it gets around.
        #expect(fastest > 13)
        #expect((300...15_000).contains(standing))
        #expect(driven > 15_000)
    }

    @Test func cornersAreTakenSlowly() throws {
        let route = try Route.cityLoop()
        var vehicle = Vehicle(route: route, settings: DriveSettings(seed: 9))
        let corners = route.legs.filter { $0.turn > 80 }.map(\.from.position)
        #expect(corners.count > 4)
        var slowest = [Double](repeating: .infinity, count: corners.count)
        for _ in 0..<12_000 {
            vehicle.advance()
            let state = vehicle.state
            for (index, corner) in corners.enumerated()
            where GreatCircle.distance(from: corner, to: state.position) < 2 {
                slowest[index] = min(slowest[index], state.speed)
            }
        }
        for speed in slowest { #expect(speed < 10) }
    }

    @Test func anOpenRouteIsDrivenToItsEnd() throws {
        let end = Degrees(latitude: 52.01, longitude: 4)
        let points = [Degrees(latitude: 52, longitude: 4), end].map { RoutePoint(position: $0) }
        var vehicle = Vehicle(route: try Route(points: points, isClosed: false), settings: DriveSettings())
        var steps = 0
        while !vehicle.isAtEnd, steps < 3000 {
            vehicle.advance()
            steps += 1
        }
        #expect(vehicle.isAtEnd)
        #expect(GreatCircle.distance(from: end, to: vehicle.state.position) < 3)
        let parked = vehicle.state.position
        for _ in 0..<100 { vehicle.advance() }
        #expect(vehicle.state.position == parked)
    }

    /// Random routes, corners of every kind included: the vehicle always gets on.
    @Test(arguments: UInt64(1)...30) func noRouteStopsTheVehicleForGood(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var position = Degrees(latitude: 48, longitude: 11)
        var points = [RoutePoint(position: position)]
        for _ in 0..<60 {
            position = GreatCircle.destination(
                from: position, bearing: generator.uniform(in: 0...360), distance: generator.uniform(in: 4.5...200))
            points.append(RoutePoint(position: position))
        }
        var vehicle = Vehicle(route: try Route(points: points, isClosed: false), settings: DriveSettings(seed: seed))
        var steps = 0
        while !vehicle.isAtEnd, steps < 60_000 {
            vehicle.advance()
            steps += 1
        }
        #expect(vehicle.isAtEnd, "seed \(seed)")
    }
}

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
