package import SQLDatabase
import Synchronization
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    package func addEntity(
        _ entity: NewEntity, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            var (entities, numbers) = (EntityRows(database, self.records), Numbers(database))
            let key = EntityKey(service: service, name: entity.name)
            guard try entities.find(key) == nil else {
                throw TrackStoreError(.entityExists, "the service has an entity of this name already")
            }
            let id = try entities.make(key, description: entity.description, at: now, &numbers)
            try Self.setValues(entity.values, of: id, in: service, database)
            try numbers.save()
            entities.save()
        }
    }

    package func updateEntity(
        _ change: EntityChange, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            let former: (Int64, String)? = try database.row(
                "SELECT id, description FROM entity WHERE service = ? AND name = ?", [service.rawValue, change.name]
            ) { row in try (row[0], row[1]) }
            guard let (id, description) = former else {
                throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
            }
            try database.execute(
                "UPDATE entity SET description = ?, modified = ? WHERE id = ?",
                [change.description ?? description, now.milliseconds, id])
            if let new = change.description {
                let key = EntityKey(service: service, name: change.name)
                try EntityTexts.remove(id, key, description: description, database)
                try EntityTexts.add(id, key, description: new, database)
            }
            try Self.setValues(change.values, of: id, in: service, database)
        }
    }

    package func entity(
        named name: String, in service: ServiceID
    ) async throws(TrackStoreError) -> EntityRecord? {
        try await reading { database in
            try database.row(
                EntityContent.selection + " WHERE e.service = ? AND e.name = ?",
                [service.rawValue, name]
            ) { try Self.records([EntityContent($0)], database) }?.first
        }
    }

    package func entities(
        in service: ServiceID, matching filter: EntityFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, entities: [EntityRecord]) {
        let condition = try EntityCondition(filter, in: service)
        return try await reading { database in
            try Self.entities(meeting: condition, sortedBy: EntityOrder(), page, database)
        }
    }

    /// A page of the entities that meet a condition. No entity has a distance here.
    static func entities(
        meeting condition: EntityCondition, sortedBy order: EntityOrder, _ page: Page, _ database: any SQLConnection
    ) throws -> (total: Int, entities: [EntityRecord]) {
        // SQLite looks up the rows of a join also when nobody asks for them.
        let latest = condition.readsLatest ? EntityContent.joinLatest : ""
        let count = "SELECT COUNT(*) FROM entity e" + latest + " WHERE " + condition.sql
        let (sorting, key) = EntityCondition.sorting(order)
        let list = EntityContent.selection + " WHERE " + condition.sql + " ORDER BY " + sorting + " LIMIT ? OFFSET ?"
        let bounds: SQLParameters = [max(0, page.limit), max(0, page.offset)]
        let arguments: SQLParameters = condition.arguments + key + bounds
        return (
            try database.value(Int.self, count, condition.arguments) ?? 0,
            try records(try database.rows(list, arguments, EntityContent.init), database)
        )
    }

    package func deleteEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            let key = EntityKey(service: service, name: name)
            var entities = EntityRows(database, self.records)
            guard let id = try entities.find(key) else {
                throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
            }
            let texts = try database.statement("SELECT description FROM entity WHERE id = ?")
            try EntityTexts.remove(
                id, key, description: try texts.value(String.self, [id]) ?? "", database)
            // What still waits ends with the entity; what had ended before stays as it ended.
            try database.execute(
                """
                UPDATE push SET withdrawn = ?1 WHERE entity = ?2 AND acknowledged IS NULL
                    AND EXISTS (SELECT 1 FROM push_message m WHERE m.id = push.message AND m.expires > ?1)
                """, [now.milliseconds, id])
            try database.execute(
                "UPDATE push SET entity = NULL, former_entity = ? WHERE entity = ?", [name, id])
            for table in ["chunk", "hint", "claim", "entity_value", "state", "health", "route_job"] {
                try database.execute("DELETE FROM \(table) WHERE entity = ?", [id])
            }
            try database.execute("DELETE FROM entity WHERE id = ?", [id])
            // Here, on the writing connection: the next transaction must not meet the row. Its number is never used again.
            self.records.known.withLock { $0.forget(key) }
        }
    }

}

/// The entities that one transaction meets. The store remembers them when the transaction is committed.
package struct EntityRows {
    private let database: any SQLConnection
    private let state: RecordState
    private var found: [EntityKey: Int64] = [:]

    package init(_ database: any SQLConnection, _ state: RecordState) {
        self.database = database
        self.state = state
    }

    /// Nil when there is none.
    package mutating func find(_ key: EntityKey) throws -> Int64? {
        if let id = found[key] { return id }
        if let id = state.known.withLock({ $0.entities[key] }) { return id }
        let selection = try database.statement("SELECT id FROM entity WHERE service = ? AND name = ?")
        let id = try selection.value(Int64.self, [key.service.rawValue, key.name])
        if let id { found[key] = id }
        return id
    }

    /// Makes one that ``find(_:)`` does not find.
    package mutating func make(
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
    package func save() {
        guard !found.isEmpty else { return }
        database.afterCommit { [state, found] in state.known.withLock { $0.remember(found) } }
    }
}

/// Committed rows that the writer need not look up again. Used on the writing connection alone, inside a transaction or in
/// what follows its commit, so that no other change of this process comes between.
package struct RowCache: Sendable {
    /// With more rows a table begins anew: about 30 MB for the names, and 10 MB for the cells.
    static let maximumEntities = 200_000

    package private(set) var services: Set<ServiceID> = []
    package private(set) var entities: [EntityKey: Int64] = [:]
    /// Of the latest points, by the numbers of entities.
    package private(set) var cells: [Int64: Int64] = [:]
    /// How many fences of a service watch everyone: to count them takes long when they are many.
    package var publicFences: [ServiceID: Int] = [:]
    /// The engine's number for the changes of other connections.
    private var version: Int64?

    /// Call it at the start of each transaction: another process may have deleted rows that are known here.
    package mutating func begin(_ database: any SQLConnection) throws {
        let current = try database.foreignChanges()
        if current != version {
            services = []
            entities = [:]
            cells = [:]
            publicFences = [:]
        }
        version = current
    }

    package mutating func remember(_ service: ServiceID) {
        services.insert(service)
    }

    package mutating func forget(_ service: ServiceID) {
        services.remove(service)
        publicFences[service] = nil
    }

    package mutating func remember(_ rows: [EntityKey: Int64]) {
        if entities.count + rows.count > Self.maximumEntities { entities.removeAll(keepingCapacity: true) }
        guard rows.count <= Self.maximumEntities else { return }
        entities.merge(rows) { _, new in new }
    }

    package mutating func remember(cells new: [Int64: Int64]) {
        if cells.count + new.count > Self.maximumEntities { cells.removeAll(keepingCapacity: true) }
        guard new.count <= Self.maximumEntities else { return }
        cells.merge(new) { _, new in new }
    }

    package mutating func forgetCell(of entity: Int64) {
        cells[entity] = nil
    }

    package mutating func forget(_ entity: EntityKey) {
        entities[entity] = nil
    }
}

/// Numbers of one transaction, each greater than every number that the file ever gave out: of entities, of claims, and of
/// chunks, which are their entities' versions. So nothing that is deleted lends its number to something new.
package struct Numbers {
    private let database: any SQLConnection
    private var last: Int64?
    /// When the server received the points that this transaction stores last; nil: it stores none.
    private var received: Timestamp?

    package init(_ database: any SQLConnection) {
        self.database = database
    }

    package mutating func next() throws -> Int64 {
        let former: Int64
        if let last {
            former = last
        } else {
            let selection = try database.statement("SELECT value FROM counter")
            guard let value = try selection.value(Int64.self) else {
                throw TrackStoreError(.corrupt, "the store has lost its counter")
            }
            former = value
        }
        last = former + 1
        return former + 1
    }

    /// Points are stored that the server received at this time, by its clock.
    package mutating func stored(at time: Timestamp) { received = time }

    /// Keeps what was given out; call it before the transaction ends.
    package func save() throws {
        guard last != nil || received != nil else { return }
        let update = try database.statement(
            "UPDATE counter SET value = COALESCE(?, value), received = COALESCE(?, received)")
        try update.execute([last, received?.milliseconds])
    }
}
