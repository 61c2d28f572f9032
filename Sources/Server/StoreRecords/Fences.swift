package import Geofencing
import SQLDatabase
import Synchronization
package import TrackModel
package import TrackStore

extension SQLRecordStore {
    package func createFence(
        _ definition: FenceDefinition, by maker: String?, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> FenceRecord {
        // A shape is costly to check: before the one writer is asked for.
        let draft = try Self.checked { () throws(FenceError) in try Fence(id: 1, definition, at: now) }
        return try await writing { database in
            try self.check(service, database)
            let table = FenceTable(service, database)
            let former = FenceSubjects.nobody
            try table.check(definition.watch, beside: former) { try self.publicFences(of: service, table) }
            let record = try table.keep(draft.numbered(try table.nextNumber()), former: nil, at: now)
            if let maker { try table.note(maker, of: record.fence.id) }
            self.publicFencesChange(from: former, to: definition.watch, of: service, database)
            return record
        }
    }

    private func publicFences(of service: ServiceID, _ table: FenceTable) throws -> Int {
        if let known = records.known.withLock({ $0.publicFences[service] }) { return known }
        let count = try table.countPublic()
        records.known.withLock { $0.publicFences[service] = count }
        return count
    }

    /// Counts with the commit. After a failed commit the fences are counted again.
    private func publicFencesChange(
        from former: FenceSubjects, to watch: FenceSubjects, of service: ServiceID, _ database: any SQLConnection
    ) {
        guard former.isEveryone != watch.isEveryone else { return }
        let before = records.known.withLock { $0.publicFences.removeValue(forKey: service) }
        guard let before else { return }
        let count = before + (watch.isEveryone ? 1 : -1)
        database.afterCommit { [self] in records.known.withLock { $0.publicFences[service] = count } }
    }

    package func updateFence(
        _ fence: Int32, to definition: FenceDefinition, expecting version: Int64, in service: ServiceID,
        at now: Timestamp
    ) async throws(TrackStoreError) -> FenceRecord {
        let former = try await reading { database in
            try self.check(service, database)
            return try FenceTable(service, database).record(of: fence)
        }
        guard let former else { throw Self.unknown(fence, service) }
        guard former.version == version else { throw Self.changed(fence) }
        var changed = former.fence
        let edit = try Self.checked { () throws(FenceError) in try changed.update(definition, at: now) }
        guard edit != .nothing else { return former }
        return try await writing { [changed] database in
            try self.check(service, database)
            let table = FenceTable(service, database)
            guard let present = try table.record(of: fence) else { throw Self.unknown(fence, service) }
            guard present.version == version else { throw Self.changed(fence) }
            let was = present.fence.definition.watch
            try table.check(definition.watch, beside: was) { try self.publicFences(of: service, table) }
            let record = try table.keep(changed, former: present, at: now)
            self.publicFencesChange(from: was, to: definition.watch, of: service, database)
            return record
        }
    }

    private static func checked<Value>(
        _ make: () throws(FenceError) -> Value
    ) throws(TrackStoreError) -> Value {
        do throws(FenceError) {
            return try make()
        } catch {
            throw TrackStoreError(.refusedFence, error.description)
        }
    }

    private static func unknown(_ fence: Int32, _ service: ServiceID) -> TrackStoreError {
        TrackStoreError(.unknownFence, "service \(service.rawValue) has no fence \(fence)")
    }

    private static func changed(_ fence: Int32) -> TrackStoreError {
        TrackStoreError(.fenceChanged, "the fence \(fence) was changed meanwhile: read it again")
    }

    package func deleteFences(
        matching filter: FenceFilter, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> [Int32] {
        let condition = try FenceCondition(filter, service)
        return try await writing { database in
            try self.check(service, database)
            let table = FenceTable(service, database)
            // Not read: a fence that cannot be read can be deleted.
            let found = try condition.numbers(database)
            for fence in found { try table.delete(fence, at: now) }
            self.records.known.withLock { $0.publicFences[service] = nil }
            return found
        }
    }

    package func fences(
        in service: ServiceID, matching filter: FenceFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, fences: [FenceRecord]) {
        let condition = try FenceCondition(filter, service)
        return try await reading { database in
            (try condition.count(database), try condition.records(page, database))
        }
    }

    package func readableFences(
        in service: ServiceID, matching filter: FenceFilter, page: Page
    ) async throws(TrackStoreError) -> ReadableFences {
        let condition = try FenceCondition(filter, service)
        return try await reading { database in try condition.readable(page, database) }
    }

    package func fences(naming entities: [EntityKey]) async throws(TrackStoreError) -> NamingFences {
        try await reading { database in
            var unreadable: [UnreadableFence] = []
            let selection = try database.statement(
                """
                SELECT f.id, f.version, f.everyone_since, f.content, w.since FROM fence_watch w
                JOIN fence f ON f.service = w.service AND f.id = w.fence
                WHERE w.service = ? AND w.entity = ? ORDER BY w.fence
                """)
            let fences = try entities.map { entity in
                try selection.rows([entity.service.rawValue, entity.name]) { row in
                    try row.readable(&unreadable, SubjectFence.init)
                }.compactMap(\.self)
            }
            return NamingFences(
                version: try FenceHistory(database).bounds().last, fences: fences, unreadable: unreadable)
        }
    }

    package func watchTimes(of entity: EntityKey) async throws(TrackStoreError) -> [Int32: Timestamp] {
        try await reading { database in
            let selection = try database.statement(
                "SELECT fence, since FROM fence_watch WHERE service = ? AND entity = ?")
            let times: [(Int32, Timestamp)] = try selection.rows([entity.service.rawValue, entity.name]) { row in
                try (row[0], Timestamp(milliseconds: row[1]))
            }
            return Dictionary(times, uniquingKeysWith: { first, _ in first })
        }
    }

    package func fenceStates(of entities: [EntityKey]) async throws(TrackStoreError) -> [FenceState] {
        try await reading { database in
            let selection = try database.statement(
                """
                SELECT s.version, s.fences FROM entity e JOIN state s ON s.entity = e.id
                WHERE e.service = ? AND e.name = ?
                """)
            return try entities.map { entity in
                let state = try selection.row([entity.service.rawValue, entity.name]) { row in
                    try FenceState(version: row[0], fences: row[1])
                }
                return state ?? FenceState(version: 0, fences: nil)
            }
        }
    }

    package func removeFenceNotices(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int {
        try await writing { database in
            // From the oldest on, and without a gap, whatever the server's clock did meanwhile.
            let first = try database.value(
                Int64.self, "SELECT MIN(version) FROM fence_news WHERE time >= ?", [time.milliseconds])
            let old = try database.values(
                Int64.self, "SELECT version FROM fence_news WHERE version < ? ORDER BY version LIMIT ?",
                [first ?? .max, max(0, limit)])
            guard let last = old.last else { return 0 }
            try database.execute("DELETE FROM fence_news WHERE version <= ?", [last])
            try FenceHistory(database).forget(through: last)
            return old.count
        }
    }

    // MARK: Earlier versions

    package func fenceDifference(
        of entity: EntityKey, since version: Int64
    ) async throws(TrackStoreError) -> FenceDifference {
        try await reading { database in
            let history = FenceHistory(database)
            var unreadable: [UnreadableFence] = []
            let changes = try history.changes(of: entity, since: version, &unreadable)
            return FenceDifference(version: try history.bounds().last, changes: changes, unreadable: unreadable)
        }
    }

    package func fences(
        watching entity: EntityKey, page: Page
    ) async throws(TrackStoreError) -> (version: Int64, fences: [SubjectFence]) {
        try await reading { database in
            let history = FenceHistory(database)
            return (try history.bounds().last, try history.fences(watching: entity, page))
        }
    }
}

/// A filter of fences as SQL.
struct FenceCondition: Sendable {
    private let condition: String
    private let arguments: SQLParameters

    /// Throws `.tooManyNames`.
    init(_ filter: FenceFilter, _ service: ServiceID) throws(TrackStoreError) {
        var condition = " FROM fence f WHERE f.service = ?"
        var arguments: SQLParameters = [service.rawValue]
        if let numbers = try Self.numbers(filter.fences) {
            condition += " AND f.id IN (\(numbers.map { String($0) }.joined(separator: ", ")))"
        }
        if filter.after > 0 { condition += " AND f.id > \(filter.after)" }
        switch filter.maker {
        case .anyone: break
        case .vehicle(let name):
            condition += " AND f.maker IS ?"
            arguments.append(name)
        case .otherThan(let name):
            condition += " AND f.maker IS NOT ?"
            arguments.append(name)
        }
        let isNamed =
            "EXISTS (SELECT 1 FROM fence_watch w WHERE w.service = f.service AND w.entity = ? AND w.fence = f.id)"
        switch filter.watch {
        case .any: break
        case .nobody: condition += " AND f.watch = 0"
        case .named: condition += " AND f.watch IN (1, 2)"
        case .several: condition += " AND f.watch = 2"
        case .everyone: condition += " AND f.watch = 3"
        case .only(let name):
            condition += " AND f.watch = 1 AND f.id IN (SELECT fence FROM fence_watch WHERE service = ? AND entity = ?)"
            arguments += [service.rawValue, name]
        case .naming(let name):
            condition += " AND f.id IN (SELECT fence FROM fence_watch WHERE service = ? AND entity = ?)"
            arguments += [service.rawValue, name]
        case .watching(let name):
            condition += " AND (f.watch = 3 OR \(isNamed))"
            arguments.append(name)
        }
        self.condition = condition
        self.arguments = arguments
    }

    /// Different ones; nil for nil. Throws `.tooManyNames`.
    static func numbers(_ fences: [Int32]?) throws(TrackStoreError) -> Set<Int32>? {
        guard let fences else { return nil }
        let numbers = Set(fences)
        guard numbers.count <= FenceRules.mostNumbers else {
            throw TrackStoreError(
                .tooManyNames, "a filter takes at most \(FenceRules.mostNumbers) fences, this one has \(numbers.count)")
        }
        return numbers
    }

    func count(_ database: any SQLConnection) throws -> Int {
        try database.value(Int.self, "SELECT COUNT(*)" + condition, arguments) ?? 0
    }

    /// Of the fences, in their order.
    func numbers(_ database: any SQLConnection) throws -> [Int32] {
        try database.values(Int32.self, "SELECT f.id" + condition + " ORDER BY f.id", arguments)
    }

    func records(_ page: Page, _ database: any SQLConnection) throws -> [FenceRecord] {
        var found: [FenceRecord] = []
        try eachRow(page, database) { found.append(try FenceRecord($0)) }
        return found
    }

    func readable(_ page: Page, _ database: any SQLConnection) throws -> ReadableFences {
        var found = ReadableFences(total: try count(database))
        try eachRow(page, database) { row in
            if let record = try row.readable(&found.unreadable, FenceRecord.init) { found.fences.append(record) }
        }
        return found
    }

    /// A row is only there while it is read: to copy it costs more than to read it.
    private func eachRow(_ page: Page, _ database: any SQLConnection, _ read: (SQLRow) throws -> Void) throws {
        let bounds: SQLParameters = [max(0, page.limit), max(0, page.offset)]
        let columns = FenceRecord.columns
        try database.forEach(
            "SELECT \(columns)" + condition + " ORDER BY f.id LIMIT ? OFFSET ?", arguments + bounds, read)
    }
}

extension SQLRow {
    /// Reads a row whose first column is the number of a fence; nil when the fence cannot be read.
    func readable<Value>(_ unreadable: inout [UnreadableFence], _ read: (SQLRow) throws -> Value) throws -> Value? {
        do {
            return try read(self)
        } catch let error as TrackStoreError where error.code == .corrupt {
            try unreadable.append(UnreadableFence(fence: self[0], reason: error.detail))
            return nil
        }
    }
}
