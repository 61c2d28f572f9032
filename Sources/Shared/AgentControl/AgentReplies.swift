/// How a service was started.
package struct StartServiceReply: Codable, Hashable, Sendable {
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case success
        /// Started; the server cannot be reached now and is tried again until it can.
        case successButOffline = "success_but_offline"
    }

    package var outcome: Outcome
    /// The mobile SDK's number for the outcome.
    package var code: Int64
    /// Why it is offline, a sentence.
    package var reason: String?

    package init(_ outcome: Outcome, reason: String? = nil) {
        self.outcome = outcome
        self.reason = reason
        code = outcome == .success ? 0 : 1
    }
}

/// How a service was stopped.
package struct StopServiceReply: Codable, Hashable, Sendable {
    package var code: Int64
    /// Points that the server acknowledged while the service was stopping.
    package var uploaded: Int64
    /// Points of this entity that stay in the cache for the next start.
    package var remaining: Int64

    package init(uploaded: Int64, remaining: Int64) {
        self.uploaded = uploaded
        self.remaining = remaining
        code = 8
    }
}

/// How gathering was started.
package struct StartGatherReply: Codable, Hashable, Sendable {
    package var code: Int64

    package init() { code = 0 }
}

/// How gathering was stopped.
package struct StopGatherReply: Codable, Hashable, Sendable {
    package var code: Int64

    package init() { code = 6 }
}

/// The settings in force, after a change too.
package struct SettingsReply: Codable, Hashable, Sendable {
    package var settings: AgentSettings

    package init(_ settings: AgentSettings) { self.settings = settings }
}

/// What the cache holds.
package struct CacheInfoReply: Codable, Hashable, Sendable {
    package var cache: CacheStatus
    /// Sorted by name; those asked for, or all that have points.
    package var entities: [EntityCache]

    package init(cache: CacheStatus, entities: [EntityCache]) {
        self.cache = cache
        self.entities = entities
    }
}

/// What was cleared.
package struct ClearCacheReply: Codable, Hashable, Sendable {
    /// Points.
    package var removed: Int64

    package init(removed: Int64) { self.removed = removed }
}

/// The connection is being made anew.
package struct ReconnectReply: Codable, Hashable, Sendable {
    package init() {}
}

struct StatusReply: Codable, Hashable, Sendable {
    var status: AgentStatus
}

struct MonitorReply: Codable, Hashable, Sendable {
    var event: AgentEvent
}
