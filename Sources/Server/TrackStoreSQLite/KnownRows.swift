import SQLDatabase
import TrackModel
import TrackStore

/// Committed rows that the writer need not look up again. Used on the writing connection alone, inside a transaction or in
/// what follows its commit, so that no other change of this process comes between.
struct KnownRows: Sendable {
    /// With more rows a table begins anew: about 30 MB for the names, and 10 MB for the cells.
    static let maximumEntities = 200_000

    private(set) var services: Set<ServiceID> = []
    private(set) var entities: [EntityKey: Int64] = [:]
    /// Of the latest points, by the numbers of entities.
    private(set) var cells: [Int64: Int64] = [:]
    /// How many fences of a service watch everyone: to count them takes long when they are many.
    var publicFences: [ServiceID: Int] = [:]
    /// SQLite's number for the changes of other connections.
    private var version: Int64?

    /// Call it at the start of each transaction: another process may have deleted rows that are known here.
    mutating func begin(_ database: any SQLConnection) throws {
        // Changes with every commit of another connection, never with one of this connection.
        let current = try database.value(Int64.self, "PRAGMA data_version")
        if current != version {
            services = []
            entities = [:]
            cells = [:]
            publicFences = [:]
        }
        version = current
    }

    mutating func remember(_ service: ServiceID) {
        services.insert(service)
    }

    mutating func forget(_ service: ServiceID) {
        services.remove(service)
        publicFences[service] = nil
    }

    mutating func remember(_ rows: [EntityKey: Int64]) {
        if entities.count + rows.count > Self.maximumEntities { entities.removeAll(keepingCapacity: true) }
        guard rows.count <= Self.maximumEntities else { return }
        entities.merge(rows) { _, new in new }
    }

    mutating func remember(cells new: [Int64: Int64]) {
        if cells.count + new.count > Self.maximumEntities { cells.removeAll(keepingCapacity: true) }
        guard new.count <= Self.maximumEntities else { return }
        cells.merge(new) { _, new in new }
    }

    mutating func forgetCell(of entity: Int64) {
        cells[entity] = nil
    }

    mutating func forget(_ entity: EntityKey) {
        entities[entity] = nil
    }
}
