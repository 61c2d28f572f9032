package import Geodesy
internal import Glibc

/// A vehicle that follows a route. It accelerates gently, slows down for corners and waits at some traffic lights.
package struct Vehicle: Sendable {
    /// Seconds from one step to the next.
    package static let step = 0.1
    /// m/s²: a brisk car, and the hardest braking that the vehicle plans. The last moment before a stop may use a
    /// little more.
    package static let acceleration = 1.8
    package static let braking = 2.2
    package static let hardestBraking = 3.0
    /// m/s² sideways in a corner.
    package static let sideways = 2.5
    /// The vehicle takes no corner more slowly, m/s.
    package static let slowest = 3.0

    private enum Motion {
        case driving
        case waiting(until: Double)
    }

    /// Something ahead that limits the speed.
    private struct Obstacle {
        /// Metres driven.
        let place: Double
        let speed: Double
        /// Seconds to wait at this place.
        let wait: Double
    }

    private let route: Route
    private let settings: DriveSettings
    private var generator: SeededGenerator
    private var motion = Motion.driving
    private var steps = 0
    private var driven = 0.0
    private var speed = 0.0
    private var ahead: [Obstacle] = []
    /// `ahead` is complete up to this corner: a leg's index, and the earlier laps in metres.
    private var nextLeg = 1
    private var lap = 0.0

    package init(route: Route, settings: DriveSettings) {
        self.route = route
        self.settings = settings
        generator = SeededGenerator(seed: settings.seed)
    }

    /// The vehicle stands at the end of an open route.
    package var isAtEnd: Bool { !route.isClosed && speed == 0 && driven >= route.length - 3 }

    package var state: VehicleState {
        let place = route.place(of: driven)
        return VehicleState(
            elapsed: Double(steps) * Self.step, position: route.position(at: driven),
            altitude: route.altitude(at: driven), speed: speed, course: route.course(at: driven),
            isInTunnel: settings.tunnels.contains { $0.contains(place) })
    }

    /// Drives for one ``step``.
    package mutating func advance() {
        steps += 1
        let now = Double(steps) * Self.step
        if case .waiting(let until) = motion {
            guard now >= until else { return }
            motion = .driving
        }
        lookAhead()
        let wanted = wantedSpeed()
        let change = min(max(wanted - speed, -Self.hardestBraking * Self.step), Self.acceleration * Self.step)
        let next = max(0, speed + change)
        driven += (speed + next) / 2 * Self.step
        speed = next
        passObstacles(now)
    }

    private func wantedSpeed() -> Double {
        var wanted = settings.speedLimit
        for obstacle in ahead {
            // Even braking from now on just reaches the obstacle's speed. The vehicle drives the rest of this step
            // first.
            let room = max(0, obstacle.place - driven - speed * Self.step)
            wanted = min(wanted, (obstacle.speed * obstacle.speed + 2 * Self.braking * room).squareRoot())
        }
        return wanted
    }

    private mutating func passObstacles(_ now: Double) {
        while let first = ahead.first {
            if first.wait > 0 {
                // A stop counts when the vehicle stands within two metres of the line.
                guard speed < 0.05, first.place - driven < 2 else { return }
                speed = 0
                motion = .waiting(until: now + first.wait)
            } else {
                guard driven >= first.place else { return }
            }
            ahead.removeFirst()
        }
    }

    /// Finds the corners within a little more than the stopping distance.
    private mutating func lookAhead() {
        let horizon = driven + 60 + settings.speedLimit * settings.speedLimit / (2 * Self.braking)
        while true {
            if nextLeg == route.legs.count {
                guard route.isClosed else {
                    if ahead.last?.place != route.length {
                        ahead.append(Obstacle(place: route.length, speed: 0, wait: .infinity))
                    }
                    return
                }
                nextLeg = 0
                lap += route.length
            }
            let place = lap + route.legs[nextLeg].start
            guard place <= horizon else { return }
            meetCorner(nextLeg, at: place)
            nextLeg += 1
        }
    }

    private mutating func meetCorner(_ index: Int, at place: Double) {
        let leg = route.legs[index]
        guard leg.turn > 5 else { return }
        let before = route.legs[index > 0 ? index - 1 : route.legs.count - 1]
        // A stop line before the corner, unless the corner before is nearer: the vehicle passes obstacles in order.
        if leg.turn > 45, generator.uniform() < 0.35, place - 8 > (ahead.last?.place ?? driven) {
            ahead.append(Obstacle(place: place - 8, speed: 0, wait: generator.uniform(in: 5...40)))
        }
        // The circle that touches both legs halfway, at most as wide as a large junction.
        let reach = min(leg.length, before.length, 60) / 2
        let radius = reach / tan(min(leg.turn, 175) / 2 * Double.pi / 180)
        let speed = min(settings.speedLimit, max(Self.slowest, (Self.sideways * radius).squareRoot()))
        ahead.append(Obstacle(place: place, speed: speed, wait: 0))
    }
}

/// The true place and movement of the simulated vehicle.
package struct VehicleState: Hashable, Sendable {
    /// Seconds since the drive began.
    package var elapsed: Double
    package var position: Degrees
    /// Metres above mean sea level.
    package var altitude: Double
    /// m/s.
    package var speed: Double
    /// Degrees from true north.
    package var course: Double
    package var isInTunnel: Bool
}

/// The settings of a drive.
package struct DriveSettings: Hashable, Sendable {
    package var seed: UInt64
    /// The speed on a straight road, m/s.
    package var speedLimit: Double
    /// Parts of the route without a view of the sky, metres from its start.
    package var tunnels: [ClosedRange<Double>]

    package init(seed: UInt64 = 1, speedLimit: Double = 50 / 3.6, tunnels: [ClosedRange<Double>] = []) {
        self.seed = seed
        self.speedLimit = speedLimit
        self.tunnels = tunnels
    }
}
