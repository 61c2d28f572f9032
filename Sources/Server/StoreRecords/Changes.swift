import SQLDatabase
package import TrackModel
package import TrackStore

/// The change feed. Messages and changes of fences have rows of their own, with more content and a longer life; the table `change`
/// has the rest.
extension SQLRecordStore {
    package func changes(
        of kinds: Set<StoreChange.Kind>, after cursor: StoreCursor?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> StoreChanges {
        let former = try cursor?.content(as: FeedPosition.self) ?? FeedPosition()
        return try await reading { database in
            var reader = FeedReader(database, former, at: now, limit: max(1, limit))
            for kind in StoreChange.Kind.allCases where kinds.contains(kind) { try reader.read(kind) }
            return StoreChanges(
                changes: reader.changes, unknown: reader.unknown, hasMore: reader.hasMore,
                through: StoreCursor(reader.position))
        }
    }
}

/// How far a reader has read each kind; nil: not at all. One file has one writer, so each kind has ascending numbers in the order
/// of the commits.
private struct FeedPosition: Hashable {
    /// The number of a row of `change`.
    var access: Int64?
    /// Keys whose end had come by then were in an earlier answer. Milliseconds since 1970.
    var ends: Int64?
    var message: Int64?
    /// The version of a fence.
    var fence: Int64?
}

/// One reading of the feed, in one snapshot.
private struct FeedReader {
    private let database: any SQLConnection
    private let now: Int64
    private let limit: Int
    private(set) var position: FeedPosition
    private(set) var changes: [StoreChange] = []
    private(set) var unknown: Set<StoreChange.Kind> = []
    private(set) var hasMore = false

    init(_ database: any SQLConnection, _ position: FeedPosition, at now: Timestamp, limit: Int) {
        (self.database, self.position, self.limit) = (database, position, limit)
        self.now = now.milliseconds
    }

    mutating func read(_ kind: StoreChange.Kind) throws {
        switch kind {
        case .access:
            try readAccess()
            try readEnds()
        case .pushes: try readMessages()
        case .fences: try readFences()
        }
    }

    private mutating func readAccess() throws {
        let last = try ChangeTable.last(database)
        guard let former = position.access else {
            unknown.insert(.access)
            return position.access = last
        }
        guard former != last else { return }
        // Without this row, rows behind it may be gone too, or another file is in the place of the former one.
        guard try former == 0 && last <= ChangeTable.most || ChangeTable.has(former, database) else {
            unknown.insert(.access)
            return position.access = last
        }
        let select = try database.statement(
            "SELECT number, kind, service, device FROM change WHERE number > ? ORDER BY number LIMIT ?")
        var count = 0
        try select.forEach([former, limit]) { row in
            (position.access, count) = (try row[0], count + 1)
            if let change = try ChangeTable.change(row) { changes.append(change) }
        }
        hasMore = hasMore || count == limit
    }

    /// An end that comes is a change that nobody writes.
    private mutating func readEnds() throws {
        if let former = position.ends, former < now {
            let select = try database.statement(
                "SELECT DISTINCT service FROM access_key WHERE ends > ? AND ends <= ?")
            changes += try select.values(Int64.self, [former, now]).compactMap(ServiceID.init).map(StoreChange.keys)
        }
        position.ends = max(position.ends ?? now, now)
    }

    private mutating func readMessages() throws {
        guard let former = position.message else {
            unknown.insert(.pushes)
            let select = try database.statement("SELECT COALESCE(MAX(id), 0) FROM push_message")
            return position.message = try select.value(Int64.self) ?? 0
        }
        let select = try database.statement("SELECT id, service FROM push_message WHERE id > ? ORDER BY id LIMIT ?")
        let messages: [(id: Int64, service: Int64)] = try select.rows([former, limit]) { row in try (row[0], row[1]) }
        for (id, number) in messages {
            guard let service = ServiceID(rawValue: number) else { continue }
            changes.append(.push(PushQueuedNotice(message: id, service: service, entities: try targets(of: id))))
        }
        position.message = messages.last?.id ?? former
        hasMore = hasMore || messages.count == limit
    }

    /// Nil when they are many.
    private func targets(of message: Int64) throws -> [String]? {
        let select = try database.statement(
            "SELECT e.name FROM push p JOIN entity e ON e.id = p.entity WHERE p.message = ? LIMIT ?")
        let names = try select.values(String.self, [message, PushQueuedNotice.maximumEntities + 1])
        return names.count > PushQueuedNotice.maximumEntities ? nil : names
    }

    private mutating func readFences() throws {
        let (last, forgotten) = try FenceHistory(database).bounds()
        // Also when a backup was put in the place of the file: then the cursor is from the future.
        guard let former = position.fence, former <= last, former == last || former >= forgotten else {
            unknown.insert(.fences)
            return position.fence = last
        }
        guard former != last else { return }
        let select = try database.statement(
            """
            SELECT version, service, fence, everyone, entities FROM fence_news WHERE version > ? ORDER BY version LIMIT ?
            """)
        var count = 0
        try select.forEach([former, limit]) { row in
            (position.fence, count) = (try row[0], count + 1)
            if let notice = try FenceChangeNotice(row) { changes.append(.fence(notice)) }
        }
        hasMore = hasMore || count == limit
    }
}

extension FenceChangeNotice {
    /// Columns: version, service, fence, everyone, entities. Nil for a service that cannot be.
    fileprivate init?(_ row: SQLRow) throws {
        guard let service = try ServiceID(rawValue: row[1]) else { return nil }
        let names: String? = try row[4]
        try self.init(
            service: service, fence: row[2], version: row[0], concernsEveryone: row[3],
            entities: names.map { $0.split(separator: ",").map(String.init) })
    }
}

/// The rows of the table `change`, the newest ``most`` of them. Whoever changes who may log in adds one in the same transaction.
enum ChangeTable {
    /// A reader that is further behind reads everything anew.
    static let most: Int64 = 10_000

    static func noteKeys(of service: ServiceID, _ database: any SQLConnection) throws {
        try note(1, service.rawValue, nil, database)
    }

    static func note(_ service: ServiceID, _ database: any SQLConnection) throws {
        try note(2, service.rawValue, nil, database)
    }

    static func noteDevice(_ id: [UInt8], _ database: any SQLConnection) throws {
        try note(3, nil, id, database)
    }

    private static func note(
        _ kind: Int, _ service: Int64?, _ device: [UInt8]?, _ database: any SQLConnection
    ) throws {
        let number = try last(database) + 1
        try database.statement("INSERT INTO change (number, kind, service, device) VALUES (?, ?, ?, ?)")
            .execute([number, kind, service, device])
        try database.statement("DELETE FROM change WHERE number <= ?").execute([number - most])
    }

    static func last(_ database: any SQLConnection) throws -> Int64 {
        try database.statement("SELECT COALESCE(MAX(number), 0) FROM change").value(Int64.self) ?? 0
    }

    static func has(_ number: Int64, _ database: any SQLConnection) throws -> Bool {
        try database.has("SELECT 1 FROM change WHERE number = ?", [number])
    }

    /// Columns: number, kind, service, device. Nil for what no version of this program writes.
    static func change(_ row: SQLRow) throws -> StoreChange? {
        switch try row[1] as Int64 {
        case 1: try (row[2] as Int64?).flatMap(ServiceID.init).map(StoreChange.keys)
        case 2: try (row[2] as Int64?).flatMap(ServiceID.init).map(StoreChange.service)
        case 3: try (row[3] as [UInt8]?).flatMap(DeviceID.init(bytes:)).map(StoreChange.device)
        default: nil
        }
    }
}
