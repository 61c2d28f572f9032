import Geofencing
import SQLDatabase
import TrackModel
import TrackStore

/// The rows of fences, of whom they watch, and of their changes: what one transaction writes.
struct FenceTable {
    private let database: any SQLConnection
    private let service: ServiceID
    private let history: FenceHistory

    init(_ service: ServiceID, _ database: any SQLConnection) {
        self.service = service
        self.database = database
        history = FenceHistory(database)
    }

    func record(of fence: Int32) throws -> FenceRecord? {
        let selection = try database.statement(
            "SELECT \(FenceRecord.columns) FROM fence WHERE service = ? AND id = ?")
        return try selection.row([service.rawValue, fence]) { try FenceRecord($0) }
    }

    /// A number that no fence of the service ever had.
    func nextNumber() throws -> Int32 {
        let update = try database.statement(
            """
            INSERT INTO fence_counter (service, last) VALUES (?, 1)
            ON CONFLICT (service) DO UPDATE SET last = last + 1 RETURNING last
            """)
        guard let number = try update.value(Int64.self, [service.rawValue]) else {
            throw TrackStoreError(.corrupt, "the store has lost its counter of fences")
        }
        guard let fence = Int32(exactly: number) else {
            throw TrackStoreError(.tooManyFences, "the service has made as many fences as there are numbers")
        }
        return fence
    }

    /// How many fences watch everyone.
    func countPublic() throws -> Int {
        try database.value(
            Int.self, "SELECT COUNT(*) FROM fence WHERE service = ? AND watch = 3", [service.rawValue]
        ) ?? 0
    }

    /// Throws `.unknownEntity` and `.tooManyFences` for those who are watched from now on. `publicFences`: how many fences
    /// watch everyone; asked only when there would be one more.
    func check(_ watch: FenceSubjects, beside former: FenceSubjects, publicFences: () throws -> Int) throws {
        if watch.isEveryone, !former.isEveryone {
            guard try publicFences() < FenceRules.mostPublic else {
                throw TrackStoreError(
                    .tooManyFences,
                    "service \(service.rawValue) has \(FenceRules.mostPublic) fences that watch everyone")
            }
        }
        let entity = try database.statement("SELECT 1 FROM entity WHERE service = ? AND name = ?")
        let naming = try database.statement(
            "SELECT COUNT(*) FROM fence_watch WHERE service = ? AND entity = ?")
        for name in watch.entities where former.isEveryone || !former.contains(name.text) {
            guard try entity.value(Int.self, [service.rawValue, name.text]) != nil else {
                throw TrackStoreError(
                    .unknownEntity, "service \(service.rawValue) has no entity named '\(name.text)'")
            }
            let count = try naming.value(Int.self, [service.rawValue, name.text]) ?? 0
            guard count < FenceRules.mostNaming else {
                throw TrackStoreError(
                    .tooManyFences, "\(FenceRules.mostNaming) fences watch the entity '\(name.text)' by name")
            }
        }
    }

    /// Writes a fence that is new, or that was changed.
    func keep(_ fence: Fence, former: FenceRecord?, at now: Timestamp) throws -> FenceRecord {
        let (watch, was) = (fence.definition.watch, former?.fence.definition.watch ?? .nobody)
        let version = try tell(fence.id, was, watch, at: now)
        if let former { try history.keep(fence.id, former.fence, of: service, until: version, at: now) }
        let record = FenceRecord(
            fence: fence, version: version,
            everyoneSince: watch.isEveryone
                ? former.map { $0.everyoneSince ?? now } ?? FenceRules.watchStart(at: now) : nil)
        let insertion = try database.statement(
            """
            INSERT INTO fence (service, id, version, watch, everyone_since, content) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (service, id) DO UPDATE SET version = excluded.version, watch = excluded.watch,
                everyone_since = excluded.everyone_since, content = excluded.content
            """)
        try insertion.execute([
            service.rawValue, fence.id, record.version, watch.number, record.everyoneSince?.milliseconds,
            fence.encoded,
        ])
        let removal = try database.statement(
            "DELETE FROM fence_watch WHERE service = ? AND entity = ? AND fence = ?")
        for name in was.entities where watch.isEveryone || !watch.contains(name.text) {
            try history.keepWatch(of: name.text, by: fence.id, of: service, until: version)
            try removal.execute([service.rawValue, name.text, fence.id])
        }
        let addition = try database.statement(
            "INSERT INTO fence_watch (service, entity, fence, since, version) VALUES (?, ?, ?, ?, ?)")
        for name in watch.entities where was.isEveryone || !was.contains(name.text) {
            // Who was watched as one of all goes on to be watched.
            let since = try former?.everyoneSince ?? watchStart(of: name.text, at: now)
            try addition.execute([service.rawValue, name.text, fence.id, since.milliseconds, version])
        }
        return record
    }

    /// Which vehicle made a fence.
    func note(_ maker: String, of fence: Int32) throws {
        try database.statement("UPDATE fence SET maker = ? WHERE service = ? AND id = ?")
            .execute([maker, service.rawValue, fence])
    }

    /// From when on a fence watches an entity: ``FenceRules/watchStart(at:latest:)``.
    private func watchStart(of name: String, at now: Timestamp) throws -> Timestamp {
        let selection = try database.statement(
            "SELECT l.time FROM entity e JOIN state l ON l.entity = e.id WHERE e.service = ? AND e.name = ?")
        let latest = try selection.value(Int64.self, [service.rawValue, name])
        return FenceRules.watchStart(at: now, latest: latest.map(Timestamp.init(milliseconds:)))
    }

    func delete(_ fence: Int32, at now: Timestamp) throws {
        let version = try tell(fence, watch(of: fence), .nobody, at: now)
        try history.keep(fence, of: service, until: version, at: now)
        try history.keepWatch(of: nil, by: fence, of: service, until: version)
        try database.statement("DELETE FROM fence_watch WHERE service = ? AND fence = ?")
            .execute([service.rawValue, fence])
        try database.statement("DELETE FROM fence WHERE service = ? AND id = ?")
            .execute([service.rawValue, fence])
    }

    /// As the rows beside the fence say.
    private func watch(of fence: Int32) throws -> FenceSubjects {
        let everyone = try database.statement(
            "SELECT 1 FROM fence WHERE service = ? AND id = ? AND everyone_since IS NOT NULL")
        if try everyone.value(Int.self, [service.rawValue, fence]) != nil { return .everyone }
        let names = try database.statement("SELECT entity FROM fence_watch WHERE service = ? AND fence = ?")
        return try FenceSubjects(try names.values(String.self, [service.rawValue, fence]))
    }

    /// Returns the number of the change.
    private func tell(_ fence: Int32, _ former: FenceSubjects, _ watch: FenceSubjects, at now: Timestamp) throws
        -> Int64
    {
        let names = Set(former.entities + watch.entities).sorted()
        // No name of an entity holds a comma.
        let entities = names.count > FenceChangeNotice.mostEntities ? nil : names.map(\.text).joined(separator: ",")
        let version = try history.next(at: now)
        let insertion = try database.statement(
            "INSERT INTO fence_news (version, service, fence, time, everyone, entities) VALUES (?, ?, ?, ?, ?, ?)")
        try insertion.execute([
            version, service.rawValue, fence, now.milliseconds, former.isEveryone || watch.isEveryone, entities,
        ])
        return version
    }
}

extension FenceSubjects {
    /// In the column `watch`.
    fileprivate var number: Int { isEveryone ? 3 : min(entities.count, 2) }
}

extension FenceRecord {
    static let columns = "id, version, everyone_since, content"

    /// Columns: ``columns``.
    init(_ row: SQLRow) throws {
        try self.init(
            fence: try Fence(id: row[0], stored: row[3]), version: row[1],
            everyoneSince: (row[2] as Int64?).map(Timestamp.init(milliseconds:)))
    }
}
