import GRDB
import Synchronization
import TrackModel

/// The cells of the entities that one transaction moves. The store remembers them when the transaction is committed, so most
/// batches neither read nor write a cell.
struct PlaceCells {
    private let database: Database
    private let store: SQLiteTrackStore
    private let update: Statement
    private let selection: Statement
    private var moved: [Int64: Int64] = [:]

    init(_ database: Database, _ store: SQLiteTrackStore) throws {
        self.database = database
        self.store = store
        // A statement of its own: SQLite writes the index of cells whenever a statement names its column. A point that is not
        // the latest changes nothing.
        update = try database.cachedStatement(
            sql: "UPDATE state SET cell = ?1 WHERE entity = ?2 AND time = ?3 AND cell IS NOT ?1")
        selection = try database.cachedStatement(sql: "SELECT cell FROM state WHERE entity = ?")
    }

    /// Call it when the latest point of a batch is stored.
    mutating func put(_ entity: Int64, at point: TrackPoint) throws {
        let cell = PlaceCell.number(of: point)
        let known = moved[entity] ?? store.known.withLock { $0.cells[entity] }
        guard known != cell else { return }
        try update.execute(arguments: [cell, entity, point.fix.time.milliseconds])
        if database.changesCount > 0 {
            moved[entity] = cell
        } else if known == nil {
            // It has this cell already, or another point is the latest one.
            moved[entity] = try Int64.fetchOne(selection, arguments: [entity])
        }
    }

    /// Call it before the transaction ends.
    func save() {
        guard !moved.isEmpty else { return }
        database.afterNextTransaction { [store, moved] _ in store.known.withLock { $0.remember(cells: moved) } }
    }
}
