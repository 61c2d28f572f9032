import SQLDatabase
import Synchronization
import TrackModel

/// The cells of the entities that one transaction moves. The store remembers them when the transaction is committed, so most
/// batches neither read nor write a cell.
struct PlaceCells {
    private let database: any SQLConnection
    private let store: SQLiteTrackStore
    private let update: any SQLStatement
    private let selection: any SQLStatement
    private var moved: [Int64: Int64] = [:]

    init(_ database: any SQLConnection, _ store: SQLiteTrackStore) throws {
        self.database = database
        self.store = store
        // A statement of its own: SQLite writes the index of cells whenever a statement names its column. A point that is not
        // the latest changes nothing.
        update = try database.statement(
            "UPDATE state SET cell = ?1 WHERE entity = ?2 AND time = ?3 AND cell IS NOT ?1")
        selection = try database.statement("SELECT cell FROM state WHERE entity = ?")
    }

    /// Call it when the latest point of a batch is stored.
    mutating func put(_ entity: Int64, at point: TrackPoint) throws {
        let cell = PlaceCell.number(of: point)
        let known = moved[entity] ?? store.known.withLock { $0.cells[entity] }
        guard known != cell else { return }
        try update.execute([cell, entity, point.fix.time.milliseconds])
        if database.changes > 0 {
            moved[entity] = cell
        } else if known == nil {
            // It has this cell already, or another point is the latest one.
            moved[entity] = try selection.value(Int64.self, [entity])
        }
    }

    /// Call it before the transaction ends.
    func save() {
        guard !moved.isEmpty else { return }
        database.afterCommit { [store, moved] in store.known.withLock { $0.remember(cells: moved) } }
    }
}
