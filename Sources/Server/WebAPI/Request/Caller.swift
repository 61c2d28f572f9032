import Ingest
import TrackModel

/// Whose data a request may be about. The key of the request decides it, or the session that the request came through.
struct Caller: Sendable {
    let service: ServiceID
    /// The entity of the session; it stands in for a missing `entity_name`.
    var entity: String?
    /// What a session may do; nil: a key made the request.
    var policy: DevicePolicy?

    /// The vehicle that may change only what it made; nil for whoever acts for the operator.
    var limitedVehicle: String? { policy == .entity ? entity : nil }

    /// For the log.
    var logName: String { entity.map { "vehicle \($0)" } ?? "an access key" }
}
