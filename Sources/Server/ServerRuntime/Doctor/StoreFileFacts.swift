import TrackModel
import TrackStore

/// What the doctor sees of a store, whatever kind of store it is.
struct StoreFileFacts: Sendable {
    var schema: Int
    var knownSchema: Int
    var problems: [String]?
    var isHeld: Bool
    var newestReceived: Timestamp?
    /// The newest positions of entities, WGS 84.
    var places: [Coordinate]
    var callbacks: [WaitingAlarms]
    var access: [VehicleAccessFacts]
    var fleet: FleetFacts
}

/// The alarms of a service that wait to be sent to its URL.
struct WaitingAlarms: Sendable {
    var service: ServiceID
    var target: CallbackTarget
    var count: Int
    var firstTried: Timestamp?
}

/// Why a store cannot be looked at.
struct StoreObstacle: Error {
    var detail: String
    /// This user may not.
    var isForbidden: Bool
}
