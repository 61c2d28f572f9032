/// The disk ring as a whole.
package struct CacheStatus: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// The agent writes points to the disk.
        case disk
        /// The disk refuses writes. Points are in memory only, and a power cut loses them.
        case memory
    }

    package var state: State
    /// Why the points are in memory, as a sentence.
    package var lastError: String?
    package var directory: String?
    /// Points that the server has not acknowledged. The cache holds no others.
    package var points: Int64
    /// Bytes on disk.
    package var bytes: Int64
    /// Bytes; nil for unlimited.
    package var limit: Int64?
    /// Times of the oldest and newest point.
    package var firstTime: Int64?
    package var lastTime: Int64?
    /// Those of `points` that were sent.
    package var unacknowledged: Int64
    /// Milliseconds until the limit drops the oldest points when the server takes none, at the rate of the last ten
    /// minutes; nil without a limit, and while there is no rate.
    package var timeToFull: Int64?

    package init(
        state: State, lastError: String? = nil, directory: String? = nil, points: Int64, bytes: Int64,
        limit: Int64? = nil, firstTime: Int64? = nil, lastTime: Int64? = nil, unacknowledged: Int64,
        timeToFull: Int64? = nil
    ) {
        self.state = state
        self.lastError = lastError
        self.directory = directory
        self.points = points
        self.bytes = bytes
        self.limit = limit
        self.firstTime = firstTime
        self.lastTime = lastTime
        self.unacknowledged = unacknowledged
        self.timeToFull = timeToFull
    }

    enum CodingKeys: String, CodingKey {
        case state, directory, points, bytes, limit, unacknowledged
        case lastError = "last_error"
        case firstTime = "first_time"
        case lastTime = "last_time"
        case timeToFull = "time_to_full"
    }
}

/// Counters since the start of the agent. They only grow.
package struct AgentCounters: Codable, Hashable, Sendable {
    /// Fixes that came from gpsd.
    package var fixes: Int64
    /// Points made and given to the cache.
    package var gathered: Int64
    /// Points that were sent. A point that is sent again counts again.
    package var uploaded: Int64
    /// Points the server has committed.
    package var acknowledged: Int64
    /// Points that the server refused because of their content.
    package var refused: Int64
    /// Fixes that made no point, by reason (`not_due`, `inaccurate`, …).
    package var skipped: [String: Int64]
    /// Points lost, by reason (`cache_full`, `checksum`, …).
    package var lost: [String: Int64]
    /// Connections that reached a session.
    package var sessions: Int64
    /// Live hints that the agent sent: newest points ahead of a backlog. Nil from an agent that sends none.
    package var hints: Int64?
    /// When points were lost last.
    package var lastLossTime: Int64?

    package init(
        fixes: Int64 = 0, gathered: Int64 = 0, uploaded: Int64 = 0, acknowledged: Int64 = 0, refused: Int64 = 0,
        skipped: [String: Int64] = [:], lost: [String: Int64] = [:], sessions: Int64 = 0,
        hints: Int64? = nil, lastLossTime: Int64? = nil
    ) {
        self.fixes = fixes
        self.gathered = gathered
        self.uploaded = uploaded
        self.acknowledged = acknowledged
        self.refused = refused
        self.skipped = skipped
        self.lost = lost
        self.sessions = sessions
        self.hints = hints
        self.lastLossTime = lastLossTime
    }

    enum CodingKeys: String, CodingKey {
        case fixes, gathered, uploaded, acknowledged, refused, skipped, lost, sessions, hints
        case lastLossTime = "last_loss_time"
    }
}

/// What the cache holds of one entity.
package struct EntityCache: Codable, Hashable, Sendable {
    package var entity: String
    package var points: Int64
    /// Times of its oldest and newest point; nil when it has none.
    package var firstTime: Int64?
    package var lastTime: Int64?

    package init(entity: String, points: Int64, firstTime: Int64? = nil, lastTime: Int64? = nil) {
        self.entity = entity
        self.points = points
        self.firstTime = firstTime
        self.lastTime = lastTime
    }

    enum CodingKeys: String, CodingKey {
        case entity, points
        case firstTime = "first_time"
        case lastTime = "last_time"
    }
}

/// Whether what the agent was told, and the settings, are on the disk.
package struct DurableStateStatus: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Everything is on the disk.
        case durable
        /// A write is under way.
        case writing
        /// The last write failed, or takes too long: a restart may forget the last changes.
        case failing
    }

    package var state: State
    package var since: Int64?
    /// Why it is failing, a sentence.
    package var lastError: String?

    package init(state: State, since: Int64? = nil, lastError: String? = nil) {
        self.state = state
        self.since = since
        self.lastError = lastError
    }

    enum CodingKeys: String, CodingKey {
        case state, since
        case lastError = "last_error"
    }
}
