package import Geofencing
import SQLDatabase
import TrackModel
import TrackStore

/// The numbers of changes of fences, and the fences as they were before their changes.
struct FenceHistory {
    private let database: any SQLConnection

    init(_ database: any SQLConnection) {
        self.database = database
    }

    /// The number of the last change, and of the last one that is not known any more.
    func bounds() throws -> (last: Int64, forgotten: Int64) {
        try database.row("SELECT last, forgotten FROM fence_clock") { row in try (row[0], row[1]) } ?? (0, 0)
    }

    /// The number of the next change: the time, so that a store that was restored from a backup uses no number again.
    func next(at now: Timestamp) throws -> Int64 {
        let update = try database.statement(
            "UPDATE fence_clock SET last = \(database.dialect.greater("last + 1", "?")) RETURNING last")
        guard let number = try update.value(Int64.self, [now.milliseconds]) else {
            throw TrackStoreError(.corrupt, "the store has lost its counter of changes of fences")
        }
        return number
    }

    // MARK: Writing

    /// Keeps the present state of a fence that the change `version` replaces or deletes.
    ///
    /// `former`: the state. Its names are not kept with it: they have rows of their own, so a state costs the same whomever it
    /// watches. Nil: the content is not read, so a damaged fence can be deleted.
    func keep(
        _ fence: Int32, _ former: Fence? = nil, of service: ServiceID, until version: Int64, at now: Timestamp
    ) throws {
        try database.statement(
            """
            INSERT INTO former_fence (service, fence, version, until, replaced, everyone_since, content)
            SELECT service, id, version, ?, ?, everyone_since, COALESCE(?, content) FROM fence
            WHERE service = ? AND id = ?
            """
        ).execute([version, now.milliseconds, former?.withoutNames?.encoded, service.rawValue, fence])
    }

    /// Keeps that a fence watched an entity by name until the change `version`; nil: all that it watched.
    func keepWatch(of name: String?, by fence: Int32, of service: ServiceID, until version: Int64) throws {
        try database.statement(
            """
            INSERT INTO former_watch (service, entity, fence, until, since, version)
            SELECT service, entity, fence, ?1, since, version FROM fence_watch
            WHERE service = ?2 AND fence = ?3 AND (?4 IS NULL OR entity = ?4)
            """
        ).execute([version, service.rawValue, fence, name])
    }

    /// Forgets what was replaced by the change `version` or before.
    func forget(through version: Int64) throws {
        try database.execute(
            "UPDATE fence_clock SET forgotten = \(database.dialect.greater("forgotten", "?"))", [version])
        try database.execute(
            """
            DELETE FROM former_fence WHERE (service, fence, version) IN (
                SELECT f.service, f.fence, f.version FROM service s
                JOIN former_fence f ON f.service = s.id AND f.until <= ?)
            """, [version])
        try database.execute("DELETE FROM former_watch WHERE until <= ?", [version])
    }

    // MARK: Reading

    /// Nil when the store cannot say what has changed since. What cannot be read is left out, and told in `unreadable`.
    func changes(
        of entity: EntityKey, since version: Int64, _ unreadable: inout [UnreadableFence]
    ) throws -> [FenceDifference.Change]? {
        let (last, forgotten) = try bounds()
        if version == last { return [] }
        guard version >= forgotten, version < last else { return nil }
        // Every change after the last forgotten one is known.
        let isKnown =
            try version == forgotten
            || database.value(Bool.self, "SELECT 1 FROM fence_news WHERE version = ?", [version])
                ?? false
        guard isKnown else { return nil }
        var changes: [Int32: FenceDifference.Change] = [:]
        for former in try formerFences(of: entity, at: version, &unreadable) {
            var former = former
            former.replaced = try end(of: former.fence, for: entity, at: version) ?? former.replaced
            changes[former.fence.id] = .init(fence: former.fence.id, former: former, present: nil)
        }
        try eachPresentFence(of: entity, changedSince: version) { row in
            let fence: Int32 = try row[0]
            changes[fence, default: .init(fence: fence, former: nil, present: nil)].present = try row.readable(
                &unreadable, SubjectFence.init)
        }
        return changes.values.sorted { $0.fence < $1.fence }
    }

    private func formerFences(
        of entity: EntityKey, at version: Int64, _ unreadable: inout [UnreadableFence]
    ) throws -> [FormerFence] {
        let everyone = try database.statement(
            """
            SELECT fence, everyone_since, replaced, content FROM former_fence
            WHERE service = ?1 AND until > ?2 AND version <= ?2 AND everyone_since IS NOT NULL
            """)
        var found = try everyone.rows([entity.service.rawValue, version]) { row in
            try row.readable(&unreadable, FormerFence.init)
        }.compactMap(\.self)
        let named = try database.statement(
            """
            SELECT f.fence, w.since, f.replaced, f.content FROM (
                SELECT fence, since FROM fence_watch WHERE service = ?1 AND entity = ?2 AND version <= ?3
                UNION ALL
                SELECT fence, since FROM former_watch
                WHERE service = ?1 AND entity = ?2 AND until > ?3 AND version <= ?3) w
            JOIN former_fence f ON f.service = ?1 AND f.fence = w.fence AND f.version <= ?3 AND f.until > ?3
            WHERE f.everyone_since IS NULL
            """)
        let formerly = try named.rows([entity.service.rawValue, entity.name, version]) { row in
            try row.readable(&unreadable, FormerFence.init)
        }
        for case var former? in formerly {
            former.fence = former.fence.watching(try watch(of: former.fence.id, of: entity.service, at: version))
            found.append(former)
        }
        return found
    }

    /// Whom a fence watched by name at a version.
    private func watch(of fence: Int32, of service: ServiceID, at version: Int64) throws -> FenceSubjects {
        let names = try database.statement(
            """
            SELECT entity FROM fence_watch WHERE service = ?1 AND fence = ?2 AND version <= ?3
            UNION ALL
            SELECT entity FROM former_watch WHERE service = ?1 AND fence = ?2 AND until > ?3 AND version <= ?3
            """)
        let found = try names.values(String.self, [service.rawValue, fence, version])
        do throws(FenceError) {
            return try FenceSubjects(found)
        } catch {
            throw TrackStoreError(.corrupt, "whom the fence \(fence) watched cannot be read: \(error.description)")
        }
    }

    /// When the fence of a version first got another revision, was deleted, or watched the entity no longer; of a fence to which
    /// nothing of that happened, when it was last changed.
    private func end(of fence: Fence, for entity: EntityKey, at version: Int64) throws -> Timestamp? {
        let states = try database.statement(
            """
            SELECT f.replaced, f.content, f.everyone_since IS NOT NULL
                OR EXISTS (SELECT 1 FROM fence_watch w WHERE w.service = ?1 AND w.entity = ?4 AND w.fence = ?2
                    AND w.version <= f.version)
                OR COALESCE((SELECT w.version FROM former_watch w WHERE w.service = ?1 AND w.entity = ?4 AND w.fence = ?2
                    AND w.until > f.version ORDER BY w.until LIMIT 1) <= f.version, 0)
            FROM former_fence f WHERE f.service = ?1 AND f.fence = ?2 AND f.until > ?3 ORDER BY f.version
            """)
        var end: Timestamp?
        try states.run([entity.service.rawValue, fence.id, version, entity.name]) { row in
            // The first state is the fence itself. A later one that cannot be read is another one.
            let isWatching: Bool = try row[2]
            let isSame = isWatching && (try? Fence(id: fence.id, stored: row[1]))?.revision == fence.revision
            guard end == nil || isSame else { return false }
            end = try Timestamp(milliseconds: row[0])
            return true
        }
        return end
    }

    /// Columns: those of a ``SubjectFence``.
    private func eachPresentFence(
        of entity: EntityKey, changedSince version: Int64, _ body: (SQLRow) throws -> Void
    ) throws {
        let everyone = try database.statement(
            """
            SELECT \(FenceRecord.columns), everyone_since FROM fence
            WHERE service = ? AND version > ? AND watch = 3
            """)
        let named = try database.statement(
            """
            SELECT f.id, f.version, f.everyone_since, f.content, w.since FROM fence_watch w
            JOIN fence f ON f.service = w.service AND f.id = w.fence
            WHERE w.service = ? AND w.entity = ? AND f.version > ?
            """)
        let service = entity.service.rawValue
        try everyone.forEach([service, version], body)
        try named.forEach([service, entity.name, version], body)
    }

    /// All fences that watch an entity, by name or as everyone, in the order of their numbers.
    func fences(watching entity: EntityKey, _ page: Page) throws -> [SubjectFence] {
        let selection = try database.statement(
            """
            SELECT \(FenceRecord.columns), everyone_since AS since FROM fence WHERE service = ?1 AND watch = 3
            UNION ALL
            SELECT f.id, f.version, f.everyone_since, f.content, w.since FROM fence_watch w
            JOIN fence f ON f.service = w.service AND f.id = w.fence WHERE w.service = ?1 AND w.entity = ?2
            ORDER BY id LIMIT ?3 OFFSET ?4
            """)
        return try selection.rows(
            [entity.service.rawValue, entity.name, max(0, page.limit), max(0, page.offset)], SubjectFence.init)
    }
}

extension SubjectFence {
    /// Columns: ``FenceRecord/columns``, since when the fence watches the entity.
    init(_ row: SQLRow) throws {
        try self.init(record: try FenceRecord(row), since: Timestamp(milliseconds: row[4]))
    }
}

extension FormerFence {
    /// Columns: fence, since when it watched the entity, replaced, content.
    fileprivate init(_ row: SQLRow) throws {
        try self.init(
            fence: try Fence(id: row[0], stored: row[3]), since: Timestamp(milliseconds: row[1]),
            replaced: Timestamp(milliseconds: row[2]))
    }
}

extension Fence {
    /// Nil: it has no names.
    package var withoutNames: Fence? { definition.watch.entities.isEmpty ? nil : watching(.nobody) }

    init(id: Int32, stored content: [UInt8]) throws {
        do throws(FenceStateCodingError) {
            self = try Fence(id: id, encoded: content)
        } catch {
            throw TrackStoreError(.corrupt, "the fence \(id) cannot be read: \(error.description)")
        }
    }
}
