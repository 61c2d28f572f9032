package import Geodesy
internal import Glibc

/// What a receiver observes at the vehicle's place.
package struct Observation: Hashable, Sendable {
    /// Nil without a fix.
    package var solution: Solution?
    /// Satellites in view, and which of them the solution uses.
    package var satellites: [Satellite]

    package struct Solution: Hashable, Sendable {
        package var position: Degrees
        /// Metres above mean sea level.
        package var altitude: Double
        /// m/s.
        package var speed: Double
        /// Degrees from true north; nil when the vehicle is too slow.
        package var course: Double?
        package var horizontalDilution: Double
        package var verticalDilution: Double
    }

    package struct Satellite: Hashable, Sendable {
        /// GPS, 1...32.
        package var number: Int
        package var elevation: Int
        package var azimuth: Int
        /// dB-Hz; 0 when the receiver does not hear the satellite.
        package var strength: Int
        package var isUsed: Bool
    }
}

/// A receiver with realistic errors. The errors wander slowly and grow after a tunnel. In a tunnel there is no fix.
package struct ReceiverModel: Sendable {
    /// Standard deviation of the slow error on each horizontal axis, metres; twice that for the altitude.
    package static let slowDeviation = 1.8
    /// The slow error changes over so many seconds, and turns over so many seconds.
    static let slowSeconds = 40.0
    static let smoothSeconds = 6.0
    /// Standard deviation of the error that each fix adds, metres.
    package static let fastDeviation = 0.1
    /// The largest additional error of the first fix after a tunnel. It fades in about 8 seconds.
    package static let recoveryError = 12.0
    /// No error is larger, except within 30 s after a tunnel: five deviations of slow and fast error together.
    package static let largestError = 5 * 1.9 * 1.42

    private var generator: SeededGenerator
    private var east: WanderingError
    private var north: WanderingError
    private var up: WanderingError
    private var last: Double?
    /// When the sky is visible again, plus the time to find satellites.
    private var fixAfter: Double
    private var recovery = 0.0
    private var recoveryBearing = 0.0
    /// Which satellites are hidden by a house.
    private var hidden = [Bool](repeating: false, count: ReceiverModel.numbers.count)
    private static let numbers = [2, 5, 7, 9, 13, 14, 16, 18, 20, 23, 27, 30]

    /// The first fix comes two seconds after the start.
    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed ^ 0x5EED_0FA5)
        fixAfter = 2
        east = WanderingError(deviation: Self.slowDeviation, &generator)
        north = WanderingError(deviation: Self.slowDeviation, &generator)
        up = WanderingError(deviation: 2 * Self.slowDeviation, &generator)
    }

    /// Call it in the order of the vehicle's time.
    package mutating func observe(_ vehicle: VehicleState) -> Observation {
        let passed = max(0, vehicle.elapsed - (last ?? vehicle.elapsed))
        last = vehicle.elapsed
        east.wander(passed, &generator)
        north.wander(passed, &generator)
        up.wander(passed, &generator)
        if vehicle.isInTunnel {
            fixAfter = vehicle.elapsed + generator.uniform(in: 1...4)
            recovery = Self.recoveryError
            recoveryBearing = generator.uniform(in: 0...360)
        }
        let hasFix = vehicle.elapsed >= fixAfter
        let satellites = satellites(vehicle, hasFix: hasFix, after: passed)
        guard hasFix else { return Observation(solution: nil, satellites: satellites) }
        recovery *= exp(-passed / 4)

        let offsetEast =
            east.value + Self.fastDeviation * generator.normal() + recovery * sin(recoveryBearing * .pi / 180)
        let offsetNorth =
            north.value + Self.fastDeviation * generator.normal() + recovery * cos(recoveryBearing * .pi / 180)
        let distance = (offsetEast * offsetEast + offsetNorth * offsetNorth).squareRoot()
        let bearing = atan2(offsetEast, offsetNorth) * 180 / Double.pi
        let speed = abs(vehicle.speed + 0.05 * generator.normal())
        let course = vehicle.course + 3 / max(1, vehicle.speed) * generator.normal()
        let used = satellites.count { $0.isUsed }
        let dilution = 0.7 + 3.0 / Double(max(used, 4)) + recovery / 10
        return Observation(
            solution: Observation.Solution(
                position: GreatCircle.destination(from: vehicle.position, bearing: bearing, distance: distance),
                altitude: vehicle.altitude + up.value + 2 * Self.fastDeviation * generator.normal(), speed: speed,
                course: speed < 0.5 ? nil : (course < 0 ? course + 360 : course).truncatingRemainder(dividingBy: 360),
                horizontalDilution: dilution, verticalDilution: 1.6 * dilution),
            satellites: satellites)
    }

    /// A dozen satellites all over the sky, which move a quarter of a degree a minute. Low satellites are sometimes
    /// hidden.
    private mutating func satellites(
        _ vehicle: VehicleState, hasFix: Bool, after passed: Double
    ) -> [Observation.Satellite] {
        Self.numbers.enumerated().map { index, number in
            let elevation = 10 + (index * 37 + 11) % 75
            let azimuth = (index * 83 + Int(vehicle.elapsed / 240)) % 360
            if generator.uniform() < passed / 10 { hidden[index] = elevation < 30 && generator.uniform() < 0.3 }
            let isHeard = !vehicle.isInTunnel && !hidden[index]
            let strength = isHeard ? 28 + elevation / 5 + Int(generator.uniform(in: 0...3)) : 0
            return Observation.Satellite(
                number: number, elevation: elevation, azimuth: azimuth, strength: strength,
                isUsed: hasFix && isHeard && (recovery < 3 || elevation > 40))
        }
    }
}

/// A first-order Gauss-Markov process and a low-pass: the error wanders, but does not jump between two fixes.
private struct WanderingError {
    let deviation: Double
    private var target: Double
    private(set) var value: Double

    init(deviation: Double, _ generator: inout SeededGenerator) {
        self.deviation = deviation
        target = deviation * generator.normal()
        value = target
    }

    mutating func wander(_ seconds: Double, _ generator: inout SeededGenerator) {
        let keep = exp(-seconds / ReceiverModel.slowSeconds)
        target = target * keep + deviation * (1 - keep * keep).squareRoot() * generator.normal()
        value += (target - value) * (1 - exp(-seconds / ReceiverModel.smoothSeconds))
    }
}
