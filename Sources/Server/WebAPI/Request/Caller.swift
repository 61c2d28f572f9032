import TrackModel

/// Whose data a request is about: decided by its key, or by the session it came through.
struct Caller: Sendable {
    let service: ServiceID
    /// The entity of the session; it stands in for a missing `entity_name`.
    var entity: String?
}
