import SQLDatabase
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
                Self.selectEntities + " WHERE e.service = ? AND e.name = ?",
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
        let latest = condition.readsLatest ? joinLatest : ""
        let count = "SELECT COUNT(*) FROM entity e" + latest + " WHERE " + condition.sql
        let (sorting, key) = EntityCondition.sorting(order)
        let list = selectEntities + " WHERE " + condition.sql + " ORDER BY " + sorting + " LIMIT ? OFFSET ?"
        let bounds: SQLParameters = [max(0, page.limit), max(0, page.offset)]
        let arguments: SQLParameters = condition.arguments + key + bounds
        return (
            try database.value(Int.self, count, condition.arguments) ?? 0,
            try records(try database.rows(list, arguments, EntityContent.init), database)
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
