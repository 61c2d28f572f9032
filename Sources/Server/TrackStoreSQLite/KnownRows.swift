import TrackModel
import TrackStore

/// Committed rows that need not be looked up again. Nothing deletes services and entities, so what is here is true.
struct KnownRows: Sendable {
    /// Beyond it the table begins anew: about 30 MB.
    static let maximumEntities = 200_000

    private(set) var services: Set<ServiceID> = []
    private(set) var entities: [EntityKey: Int64] = [:]

    mutating func remember(_ service: ServiceID) {
        services.insert(service)
    }

    mutating func remember(_ rows: [EntityKey: Int64]) {
        if entities.count + rows.count > Self.maximumEntities { entities.removeAll(keepingCapacity: true) }
        guard rows.count <= Self.maximumEntities else { return }
        entities.merge(rows) { _, new in new }
    }
}
