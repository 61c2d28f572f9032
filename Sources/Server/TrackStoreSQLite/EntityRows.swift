import SQLDatabase
import Synchronization
import TrackModel
import TrackStore

/// The entities that one transaction meets. The store remembers them when the transaction is committed.
struct EntityRows {
    private let database: any SQLConnection
    private let store: SQLiteTrackStore
    private var found: [EntityKey: Int64] = [:]

    init(_ database: any SQLConnection, _ store: SQLiteTrackStore) {
        self.database = database
        self.store = store
    }

    /// Nil when there is none.
    mutating func find(_ key: EntityKey) throws -> Int64? {
        if let id = found[key] { return id }
        if let id = store.known.withLock({ $0.entities[key] }) { return id }
        let selection = try database.statement("SELECT id FROM entity WHERE service = ? AND name = ?")
        let id = try selection.value(Int64.self, [key.service.rawValue, key.name])
        if let id { found[key] = id }
        return id
    }

    /// Makes one that ``find(_:)`` does not find.
    mutating func make(
        _ key: EntityKey, description: String = "", at now: Timestamp, _ numbers: inout Numbers
    ) throws -> Int64 {
        let insertion = try database.statement(
            """
            INSERT INTO entity (id, service, name, description, created, modified) VALUES (?, ?, ?, ?, ?, ?)
            """)
        let id = try numbers.next()
        try insertion.execute([
            id, key.service.rawValue, key.name, description, now.milliseconds, now.milliseconds,
        ])
        try EntityTexts.add(id, key, description: description, database)
        found[key] = id
        return id
    }

    /// Call it before the transaction ends. The store remembers the rows after the commit and before the next
    /// transaction, so this never undoes a deletion.
    func save() {
        guard !found.isEmpty else { return }
        database.afterCommit { [store, found] in store.known.withLock { $0.remember(found) } }
    }
}
