internal import Geodesy
internal import Glibc
package import TrackModel

/// A drive as a receiver tells it, one epoch after the other. The same route, settings and start give the same epochs.
package struct SimulatedDrive: Sendable {
    package struct Epoch: Hashable, Sendable {
        /// GNSS time.
        package let time: Timestamp
        package let truth: VehicleState
        package let observation: Observation

        /// The sentences of this epoch.
        package var sentences: String { NMEASentences.epoch(observation, at: time) }

        /// The columns of ``truthRow``.
        package static let truthHeader = "time_ms,latitude,longitude,altitude_m,speed_mps,course_deg,in_tunnel,has_fix"

        /// The vehicle's true place, as one line of CSV without a line end.
        package var truthRow: String {
            [
                String(time.milliseconds), FixedPoint.text(truth.position.latitude, digits: 8),
                FixedPoint.text(truth.position.longitude, digits: 8), FixedPoint.text(truth.altitude, digits: 2),
                FixedPoint.text(truth.speed, digits: 3), FixedPoint.text(truth.course, digits: 2),
                truth.isInTunnel ? "1" : "0", observation.solution == nil ? "0" : "1",
            ].joined(separator: ",")
        }
    }

    /// The possible epochs a second; each divides the vehicle's steps evenly.
    package static let rates = [1, 2, 5, 10]

    private let start: Timestamp
    private let stepsPerEpoch: Int
    private var vehicle: Vehicle
    private var receiver: ReceiverModel
    private var epochs: Int64 = 0

    /// Nil for a rate that is not in ``rates``.
    package init?(route: Route, settings: DriveSettings, start: Timestamp, rate: Int = 1) {
        guard Self.rates.contains(rate) else { return nil }
        self.start = start
        stepsPerEpoch = 10 / rate
        vehicle = Vehicle(route: route, settings: settings)
        receiver = ReceiverModel(seed: settings.seed)
    }

    /// The vehicle stands at the end of an open route.
    package var isAtEnd: Bool { vehicle.isAtEnd }

    package mutating func next() -> Epoch {
        if epochs > 0 { for _ in 0..<stepsPerEpoch { vehicle.advance() } }
        let state = vehicle.state
        let time = start.adding(milliseconds: epochs * Int64(stepsPerEpoch) * 100)
        epochs += 1
        return Epoch(time: time, truth: state, observation: receiver.observe(state))
    }
}

/// Random numbers; the same seed gives the same numbers on every machine. SplitMix64 (Steele, Lea and Flood, 2014).
package struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Uniform in 0 ..< 1.
    mutating func uniform() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    mutating func uniform(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * uniform()
    }

    /// Normal with mean 0 and deviation 1 (Box and Muller, 1958).
    mutating func normal() -> Double {
        let radius = (-2 * log(1 - uniform())).squareRoot()
        return radius * cos(2 * Double.pi * uniform())
    }
}
