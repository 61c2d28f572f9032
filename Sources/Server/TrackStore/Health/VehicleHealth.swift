package import TrackModel

/// What the gateway has heard of a vehicle.
package struct HealthNote: Hashable, Sendable {
    /// Milliseconds by which a note may come after newer ones.
    package static let lateness: Int64 = 60_000

    package var entity: EntityKey
    /// By the server's clock.
    package var heard: Timestamp
    package var agentVersion: String
    /// Nil for a vehicle that logged in with an access key.
    package var device: DeviceID?
    /// Nil: what was reported before stays.
    package var report: HealthReport?
    /// The vehicle has said goodbye: nobody expects to hear from it.
    package var hasLeft: Bool

    package init(
        entity: EntityKey, heard: Timestamp, agentVersion: String, device: DeviceID?, report: HealthReport? = nil,
        hasLeft: Bool = false
    ) {
        self.entity = entity
        self.heard = heard
        self.agentVersion = agentVersion
        self.device = device
        self.report = report
        self.hasLeft = hasLeft
    }
}

/// What is known of a vehicle. The newest of it, and nothing before.
package struct VehicleHealth: Hashable, Sendable {
    package var entity: EntityKey
    /// When the server heard from the vehicle last, by its own clock: a login, a heartbeat or points.
    package var heard: Timestamp
    package var agentVersion: String
    /// Nil for a vehicle that logged in with an access key.
    package var device: DeviceID?
    package var report: HealthReport?
    /// When the report came; nil without one.
    package var reported: Timestamp?
    /// The vehicle has said goodbye.
    package var hasLeft: Bool

    package init(
        entity: EntityKey, heard: Timestamp, agentVersion: String, device: DeviceID? = nil,
        report: HealthReport? = nil, reported: Timestamp? = nil, hasLeft: Bool = false
    ) {
        self.entity = entity
        self.heard = heard
        self.agentVersion = agentVersion
        self.device = device
        self.report = report
        self.reported = reported
        self.hasLeft = hasLeft
    }
}
