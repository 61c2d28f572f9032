package import Geodesy

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
