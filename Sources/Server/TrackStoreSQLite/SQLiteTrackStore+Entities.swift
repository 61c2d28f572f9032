import Foundation
import GRDB
package import TrackModel
package import TrackStore
import TrackWire

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
            ).map { try Self.records([$0], database) }?.first
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
            try records(try Row.fetchAll(database, sql: list, arguments: StatementArguments(arguments)), database)
        )
    }

    /// There is a hint only while it is later than the latest stored point.
    static let joinLatest = """
         LEFT JOIN state l ON l.entity = e.id LEFT JOIN hint h ON h.entity = e.id
        """

    static let selectEntities = """
        SELECT e.name, e.description, e.created, e.modified, COALESCE(h.received, l.received),
            COALESCE(h.payload, l.payload), e.id
        FROM entity e
        """ + joinLatest

    /// Rows of ``selectEntities`` with the values of their columns.
    static func records(_ rows: [Row], _ database: Database) throws -> [EntityRecord] {
        let values = try values(of: rows.map { $0[6] }, database)
        return try rows.map { try record($0, values: values[$0[6]] ?? [:]) }
    }

    private static func record(_ row: Row, values: [String: String]) throws -> EntityRecord {
        var latest: StoredPoint?
        if let payload: Data = row[5] {
            do {
                let point = try PointRecord.decode([UInt8](payload))
                latest = StoredPoint(point, received: Timestamp(milliseconds: row[4]))
            } catch {
                throw TrackStoreError(.corrupt, "an entity's latest point cannot be read: \(error)")
            }
        }
        return EntityRecord(
            name: row[0], description: row[1], created: Timestamp(milliseconds: row[2]),
            modified: Timestamp(milliseconds: row[3]), latest: latest,
            values: values)
    }
}
