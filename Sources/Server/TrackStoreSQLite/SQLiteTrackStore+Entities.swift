import GRDB
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func addEntity(
        _ entity: NewEntity, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            var (entities, numbers) = (EntityRows(database, self), Numbers(database))
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
            let former = try Row.fetchOne(
                database, sql: "SELECT id, description FROM entity WHERE service = ? AND name = ?",
                arguments: [service.rawValue, change.name])
            guard let former else {
                throw TrackStoreError(.unknownEntity, "the service has no entity of this name")
            }
            let (id, description): (Int64, String) = (former[0], former[1])
            try database.execute(
                sql: "UPDATE entity SET description = ?, modified = ? WHERE id = ?",
                arguments: [change.description ?? description, now.milliseconds, id])
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
            try Row.fetchOne(
                database, sql: Self.selectEntities + " WHERE e.service = ? AND e.name = ?",
                arguments: [service.rawValue, name]
            ).map { try Self.records([EntityContent($0)], database) }?.first
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
        meeting condition: EntityCondition, sortedBy order: EntityOrder, _ page: Page, _ database: Database
    ) throws -> (total: Int, entities: [EntityRecord]) {
        // SQLite looks up the rows of a join also when nobody asks for them.
        let latest = condition.readsLatest ? joinLatest : ""
        let count = "SELECT COUNT(*) FROM entity e" + latest + " WHERE " + condition.sql
        let (sorting, key) = EntityCondition.sorting(order)
        let list = selectEntities + " WHERE " + condition.sql + " ORDER BY " + sorting + " LIMIT ? OFFSET ?"
        let bounds: [any DatabaseValueConvertible & Sendable] = [max(0, page.limit), max(0, page.offset)]
        let arguments: [any DatabaseValueConvertible & Sendable] = condition.arguments + key + bounds
        return (
            try Int.fetchOne(database, sql: count, arguments: StatementArguments(condition.arguments)) ?? 0,
            try records(
                Array(
                    Row.fetchCursor(database, sql: list, arguments: StatementArguments(arguments))
                        .map { try EntityContent($0) }), database)
        )
    }

    /// There is a hint only while it is later than the latest stored point.
    static let joinLatest = """
         LEFT JOIN state l ON l.entity = e.id LEFT JOIN hint h ON h.entity = e.id
        """

    /// What ``EntityContent`` reads.
    static let selectEntities =
        "SELECT " + EntityContent.columns(latest: EntityContent.latest) + " FROM entity e" + joinLatest
}
