import Geofencing
package import SQLDatabase
import Synchronization
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    package func queuePush(
        _ push: NewPush, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> QueuedPush {
        if let problem = push.problem { throw TrackStoreError(.failed, problem) }
        return try await writing { database in
            try self.check(service, database)
            return try PushQueue.add(push, in: service, at: now, missing: .refused, database)
        }
    }

    package func pushesLeftOut() async -> Int { records.leftOut.withLock { $0 } }

    package func pendingPushes(
        of entity: String, in service: ServiceID, after cursor: StoreCursor?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> (through: StoreCursor, pushes: [PendingPush]) {
        let former = try cursor?.content(as: PendingCursor.self) ?? PendingCursor()
        return try await reading { database in
            let selection = try database.statement("SELECT id FROM entity WHERE service = ? AND name = ?")
            guard let id = try selection.value(Int64.self, [service.rawValue, entity]) else {
                return (StoreCursor(former), [])
            }
            let select = try database.statement(
                """
                SELECT p.id, m.id, m.type, m.body, m.created FROM push p
                JOIN push_message m ON m.id = p.message
                WHERE p.entity = ? AND p.message > ? AND p.acknowledged IS NULL AND p.is_first = 0 AND m.expires > ?
                ORDER BY p.message LIMIT ?
                """)
            let selectFirst = try database.statement(
                """
                SELECT p.id, m.id, m.type, m.body, m.created FROM push p\(database.dialect.index("push_first"))
                JOIN push_message m ON m.id = p.message
                WHERE p.entity = ? AND p.message > ? AND p.acknowledged IS NULL AND p.is_first = 1 AND m.expires > ?
                ORDER BY p.message LIMIT ?
                """)
            func pushes(_ statement: any SQLStatement, after message: Int64, _ limit: Int) throws -> [PendingPush] {
                try statement.rows([id, message, now.milliseconds, max(0, limit)], PendingPush.init)
            }
            let firsts = try pushes(selectFirst, after: former.first, limit)
            let others = try pushes(select, after: former.other, limit - firsts.count)
            let cursor = PendingCursor(
                first: firsts.last?.message ?? former.first, other: others.last?.message ?? former.other)
            return (StoreCursor(cursor), firsts + others)
        }
    }

    package func settlePushes(_ settlements: [PushSettlement]) async throws(TrackStoreError) {
        guard !settlements.isEmpty else { return }
        try await writing { database in
            let acknowledge = try database.statement(
                "UPDATE push SET acknowledged = ? WHERE id = ? AND acknowledged IS NULL")
            let giveUp = try database.statement(
                "UPDATE push SET given_up = ? WHERE id = ? AND acknowledged IS NULL")
            for settlement in settlements {
                guard let id = Int64(exactly: settlement.id) else { continue }
                let statement =
                    switch settlement.outcome {
                    case .acknowledged: acknowledge
                    case .givenUp: giveUp
                    }
                try statement.execute([settlement.time.milliseconds, id])
            }
        }
    }

    package func pushes(
        in service: ServiceID, matching filter: PushFilter, at now: Timestamp, page: Page
    ) async throws(TrackStoreError) -> (total: Int, pushes: [PushRecord]) {
        var condition = " WHERE m.service = ?"
        var arguments: [any SQLConvertible] = [service.rawValue]
        if let entity = filter.entity {
            condition += " AND COALESCE(e.name, p.former_entity) = ?"
            arguments.append(entity)
        }
        switch filter.state {
        case nil: break
        case .delivered: condition += " AND p.acknowledged IS NOT NULL"
        case .withdrawn: condition += " AND p.acknowledged IS NULL AND p.withdrawn IS NOT NULL"
        case .expired:
            condition += " AND p.acknowledged IS NULL AND p.withdrawn IS NULL AND m.expires <= ?"
            arguments.append(now.milliseconds)
        case .waiting, .givenUp:
            condition += " AND p.acknowledged IS NULL AND p.withdrawn IS NULL AND m.expires > ? AND p.given_up IS "
            condition += filter.state == .waiting ? "NULL" : "NOT NULL"
            arguments.append(now.milliseconds)
        }
        let tables = """
             FROM push p JOIN push_message m ON m.id = p.message LEFT JOIN entity e ON e.id = p.entity
            """
        return try await reading { [condition, arguments] database in
            let count = "SELECT COUNT(*)" + tables + condition
            let list =
                "SELECT p.id, m.id, m.type, m.body, m.created, COALESCE(e.name, p.former_entity) AS name, m.expires, p.acknowledged, p.given_up,"
                + " p.withdrawn" + tables + condition + " ORDER BY m.id DESC, name LIMIT ? OFFSET ?"
            let bounds: [any SQLConvertible] = [max(0, page.limit), max(0, page.offset)]
            return (
                try database.value(Int.self, count, SQLParameters(arguments)) ?? 0,
                try database.rows(list, SQLParameters(arguments + bounds), PushRecord.init)
            )
        }
    }

    package func removePushes(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int {
        try await writing { database in
            try database.execute(
                """
                DELETE FROM push WHERE id IN (
                    SELECT p.id FROM push_message m JOIN push p ON p.message = m.id WHERE m.created < ? LIMIT ?)
                """, [time.milliseconds, max(0, limit)])
            let removed = database.changes
            try database.execute(
                """
                DELETE FROM push_message
                WHERE created < ? AND NOT EXISTS (SELECT 1 FROM push p WHERE p.message = push_message.id)
                """, [time.milliseconds])
            return removed
        }
    }
}

/// Adds messages to the tables.
package enum PushQueue {
    /// What becomes of a message to an entity that the service does not have.
    package enum Missing {
        case refused
        case passedOver
    }

    /// A random number for each row, greater than 0: no store ever uses it again for another push.
    private static let newID = "max(1, random() & 0x7FFFFFFFFFFFFFFF)"

    package static func add(
        _ push: NewPush, in service: ServiceID, at now: Timestamp, missing: Missing, _ database: any SQLConnection
    ) throws -> QueuedPush {
        let insertion = try database.statement(
            "INSERT INTO push_message (service, type, body, created, expires) VALUES (?, ?, ?, ?, ?) RETURNING id")
        let number = try insertion.value(
            Int64.self,
            [
                service.rawValue, Int64(push.type), push.body, now.milliseconds,
                now.adding(milliseconds: push.lifetime).milliseconds,
            ])
        guard let message = number else { throw TrackStoreError(.corrupt, "the store did not number a message") }
        if let alarm = push.alarm { return try add(push, of: message, telling: alarm, in: service, database) }
        let isFirst = PushRules.isFirst(push.type)
        switch push.targets {
        case .service:
            let rows = try database.statement(
                """
                INSERT INTO push (id, message, is_first, entity)
                SELECT \(newID), ?, ?, id FROM entity WHERE service = ?
                """)
            try rows.execute([message, isFirst, service.rawValue])
            return QueuedPush(message: message, count: database.changes)
        case .entities(let names):
            let row = try database.statement(
                """
                INSERT INTO push (id, message, is_first, entity)
                SELECT \(newID), ?, ?, id FROM entity WHERE service = ? AND name = ?
                """)
            var count = 0
            for name in Set(names.map { EntityKey(service: service, name: $0) }).map(\.name) {
                try row.execute([message, isFirst, service.rawValue, name])
                guard database.changes == 0 else {
                    count += 1
                    continue
                }
                if case .refused = missing {
                    throw TrackStoreError(
                        .unknownEntity, "service \(service.rawValue) has no entity named '\(name)'")
                }
            }
            return QueuedPush(message: message, count: count)
        }
    }

    /// Each push has the number that follows from its alarm and its target.
    private static func add(
        _ push: NewPush, of message: Int64, telling alarm: AlarmKey, in service: ServiceID,
        _ database: any SQLConnection
    ) throws -> QueuedPush {
        let targets: [(entity: Int64, name: String)]
        switch push.targets {
        case .service:
            targets = try database.rows("SELECT id, name FROM entity WHERE service = ?", [service.rawValue]) { row in
                try (row[0], row[1])
            }
        case .entities(let names):
            let select = try database.statement("SELECT id, name FROM entity WHERE service = ? AND name = ?")
            targets = try Set(names.map { EntityKey(service: service, name: $0) }).compactMap { key in
                try select.row([service.rawValue, key.name]) { row in try (row[0], row[1]) }
            }
        }
        let insertion = try database.statement(
            "INSERT INTO push (id, message, is_first, entity) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING")
        let waiting = try database.statement(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM push WHERE entity = ? AND acknowledged IS NULL AND is_first = 0
                LIMIT \(PushRules.mostWaiting))
            """)
        let isFirst = PushRules.isFirst(push.type)
        var queued = QueuedPush(message: message, count: 0)
        for (entity, name) in targets {
            if push.isAboutAnother(than: name),
                try waiting.value(Int.self, [entity]) ?? 0 >= PushRules.mostWaiting
            {
                queued.leftOut += 1
                continue
            }
            try insertion.execute([alarm.pushID(to: name), message, isFirst, entity])
            queued.count += database.changes
        }
        return queued
    }
}

extension PendingPush {
    /// Columns: push, message, type, body, created.
    fileprivate init(_ row: SQLRow) throws {
        try self.init(
            id: UInt64(bitPattern: row[0]), message: row[1], type: UInt32(truncatingIfNeeded: row[2] as Int64),
            body: row[3], created: Timestamp(milliseconds: row[4]))
    }
}

extension PushRecord {
    /// Columns: those of ``PendingPush``, entity, expires, acknowledged, given up, withdrawn.
    fileprivate init(_ row: SQLRow) throws {
        try self.init(
            push: PendingPush(row), entity: row[5], expires: Timestamp(milliseconds: row[6]),
            acknowledged: (row[7] as Int64?).map(Timestamp.init(milliseconds:)),
            givenUp: (row[8] as Int64?).map(Timestamp.init(milliseconds:)),
            withdrawn: (row[9] as Int64?).map(Timestamp.init(milliseconds:)))
    }
}

private struct PendingCursor: Hashable {
    /// The last message that was told of those that go first, and of the others.
    var first: Int64 = 0
    var other: Int64 = 0
}
