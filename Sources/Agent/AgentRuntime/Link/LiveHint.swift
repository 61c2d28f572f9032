internal import AgentLogic
internal import TrackModel
internal import TrackWire

/// The newest point of the ring, which goes ahead of a backlog: docs/decisions/0009-live-hint.md.
struct LiveHint {
    let point: TrackPoint
    let entity: String

    /// The heartbeat that carries the hint in a session of an entity, in a batch payload format. Nil: the point belongs to
    /// another entity. A hint that attributes make longer than ``WireLimits/liveHintBytes`` goes without them.
    func heartbeat(as entity: String, format: Int) -> Heartbeat? {
        guard ExactName(self.entity) == ExactName(entity) else { return nil }
        var point = point
        var bytes = PointRecord.encode(point, format: format)
        if bytes.count > WireLimits.liveHintBytes {
            point.attributes = [:]
            bytes = PointRecord.encode(point, format: format)
        }
        var heartbeat = Heartbeat()
        heartbeat.liveHintBytes = bytes
        return heartbeat
    }
}
