import Geofencing
import SQLDatabase
import StoreRecords
import TrackModel

extension Schema {
    /// The step from version 23 to 24; ``fillWatchVersions(_:)`` fills the columns. From which change on a fence watched an entity by
    /// name, so that former states of the fence need no names of their own.
    static let watchVersions = """
        ALTER TABLE fence_watch ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
        UPDATE fence_watch SET version = (
            SELECT f.version FROM fence f WHERE f.service = fence_watch.service AND f.id = fence_watch.fence);
        ALTER TABLE former_watch ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX former_watch_by_fence ON former_watch (service, fence, until);
        """

    /// Takes the names out of the former states, and gives their rows the version from which they count.
    static func fillWatchVersions(_ database: any SQLConnection) throws {
        // One state at a time: each may hold megabytes of names.
        let next = try database.statement(
            """
            SELECT service, fence, version, until, everyone_since IS NOT NULL, content FROM former_fence
            WHERE (service, fence, version) > (?, ?, ?) ORDER BY service, fence, version LIMIT 1
            """)
        var walk: WatchWalk?
        var last: (service: Int64, fence: Int32, version: Int64) = (0, 0, 0)
        while let state = try next.row([last.service, last.fence, last.version], FormerState.init) {
            if walk?.service != state.service || walk?.fence != state.fence {
                try walk?.end(database)
                walk = WatchWalk(service: state.service, fence: state.fence)
            }
            try walk?.pass(state, database)
            last = (state.service, state.fence, state.version)
        }
        try walk?.end(database)
    }
}

/// A row of `former_fence` of schema 23.
private struct FormerState {
    let service: Int64
    let fence: Int32
    let version: Int64
    let until: Int64
    let isEveryone: Bool
    /// Nil: its content cannot be read.
    let content: Fence?

    init(_ row: SQLRow) throws {
        service = try row[0]
        fence = try row[1]
        version = try row[2]
        until = try row[3]
        isEveryone = try row[4]
        content = try? Fence(id: row[1], encoded: row[5], isKnown: true)
    }
}

/// The former states of one fence, in their order.
private struct WatchWalk {
    let service: Int64
    let fence: Int32
    /// From which version on the fence has watched those whom the last state watches.
    private var from: [ExactName: Int64] = [:]
    /// The version of the last state, or of the first of the last ones, that cannot be read. It may have watched whomever the next
    /// readable state watches.
    private var unread: Int64?

    init(service: Int64, fence: Int32) {
        (self.service, self.fence) = (service, fence)
    }

    mutating func pass(_ state: FormerState, _ database: any SQLConnection) throws {
        if state.isEveryone {
            (from, unread) = ([:], nil)
        } else if let content = state.content {
            var now: [ExactName: Int64] = [:]
            for name in content.definition.watch.entities { now[name] = from[name] ?? unread ?? state.version }
            (from, unread) = (now, nil)
            if let bare = content.withoutNames {
                try database.execute(
                    "UPDATE former_fence SET content = ? WHERE service = ? AND fence = ? AND version = ?",
                    [bare.encoded, service, fence, state.version])
            }
        } else {
            unread = unread ?? state.version
        }
        let ended = try database.values(
            String.self, "SELECT entity FROM former_watch WHERE service = ? AND fence = ? AND until = ?",
            [service, fence, state.until])
        let update = try database.statement(
            "UPDATE former_watch SET version = ? WHERE service = ? AND entity = ? AND fence = ? AND until = ?")
        for name in ended {
            let version = from.removeValue(forKey: ExactName(name)) ?? unread ?? state.version
            try update.execute([version, service, name, fence, state.until])
        }
    }

    /// The present state follows the last one: it watches the same since then, and others since its own version.
    func end(_ database: any SQLConnection) throws {
        if let unread {
            try database.execute(
                "UPDATE fence_watch SET version = ? WHERE service = ? AND fence = ?", [unread, service, fence])
        }
        let update = try database.statement(
            "UPDATE fence_watch SET version = ? WHERE service = ? AND entity = ? AND fence = ?")
        for (name, version) in from { try update.execute([version, service, name.text, fence]) }
    }
}
