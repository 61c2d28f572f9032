import TrackModel

/// Whose data a request may be about. The key of the request decides it, or the session that the request came through.
struct Caller: Sendable {
    let service: ServiceID
    /// The entity of the session; it stands in for a missing `entity_name`.
    var entity: String?
}
