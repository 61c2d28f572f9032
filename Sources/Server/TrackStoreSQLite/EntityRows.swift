import GRDB
import Synchronization
import TrackModel
import TrackStore

/// The entities that one transaction meets. The store remembers them when the transaction is committed.
struct EntityRows {
    private let database: Database
    private let store: SQLiteTrackStore
    private var found: [EntityKey: Int64] = [:]

    init(_ database: Database, _ store: SQLiteTrackStore) {
        self.database = database
        self.store = store
    }

    /// Nil when there is none.
    mutating func find(_ key: EntityKey) throws -> Int64? {
        if let id = found[key] { return id }
        if let id = store.known.withLock({ $0.entities[key] }) { return id }
        let selection = try database.cachedStatement(sql: "SELECT id FROM entity WHERE service = ? AND name = ?")
        let id = try Int64.fetchOne(selection, arguments: [key.service.rawValue, key.name])
        if let id { found[key] = id }
        return id
    }

    /// Makes one that ``find(_:)`` does not find.
    mutating func make(
        _ key: EntityKey, description: String = "", at now: Timestamp, _ numbers: inout Numbers
    ) throws -> Int64 {
        let insertion = try database.cachedStatement(
            sql: """
                INSERT INTO entity (id, service, name, description, created, modified) VALUES (?, ?, ?, ?, ?, ?)
                """)
        let id = try numbers.next()
        try insertion.execute(arguments: [
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
        database.afterNextTransaction { [store, found] _ in store.known.withLock { $0.remember(found) } }
    }
}
