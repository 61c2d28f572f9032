/// The reply to a change that outlives a restart.
package protocol DurableReply: Sendable {
    /// True: the change is on the disk. False: it is in force, and the disk has not answered yet. Nil: a reply to something
    /// that changes nothing, or from an agent that does not say.
    var durable: Bool? { get set }
}

/// The reply of `StartService`.
package struct StartServiceReply: DurableReply, Codable, Hashable {
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case success
        /// The service runs, but the agent cannot reach the server now. The agent tries until it can.
        case successButOffline = "success_but_offline"
    }

    package var outcome: Outcome
    /// The mobile SDK's number for the outcome.
    package var code: Int64
    /// Why the agent is offline, as a sentence.
    package var reason: String?
    /// Whether the agent has been told to gather; nil from an agent that does not say.
    package var gathering: Bool?
    package var durable: Bool?

    package init(_ outcome: Outcome, reason: String? = nil, gathering: Bool? = nil) {
        self.outcome = outcome
        self.reason = reason
        self.gathering = gathering
        code = outcome == .success ? 0 : 1
    }
}

/// The reply of `StopService`.
package struct StopServiceReply: DurableReply, Codable, Hashable {
    package var code: Int64
    /// Points that the server acknowledged while the service was stopping.
    package var uploaded: Int64
    /// Points of this entity that stay in the cache for the next start.
    package var remaining: Int64
    package var durable: Bool?

    package init(uploaded: Int64, remaining: Int64) {
        self.uploaded = uploaded
        self.remaining = remaining
        code = 8
    }
}

/// The reply of `StartGather`.
package struct StartGatherReply: DurableReply, Codable, Hashable {
    package var code: Int64
    /// What is missing for points, as a sentence; only for a caller who wants the agent to keep trying.
    package var reason: String?
    package var durable: Bool?

    package init(reason: String? = nil) {
        code = 0
        self.reason = reason
    }
}

/// The reply of `StopGather`.
package struct StopGatherReply: DurableReply, Codable, Hashable {
    package var code: Int64
    package var durable: Bool?

    package init() { code = 6 }
}

/// The settings in force, after the change if there was one.
package struct SettingsReply: DurableReply, Codable, Hashable {
    package var settings: AgentSettings
    package var durable: Bool?

    package init(_ settings: AgentSettings) { self.settings = settings }
}

/// The reply of `GetCacheInfo`.
package struct CacheInfoReply: Codable, Hashable, Sendable {
    package var cache: CacheStatus
    /// Sorted by name. The entities that were asked for, or all that have points.
    package var entities: [EntityCache]

    package init(cache: CacheStatus, entities: [EntityCache]) {
        self.cache = cache
        self.entities = entities
    }
}

/// The reply of `ClearCache`.
package struct ClearCacheReply: DurableReply, Codable, Hashable {
    /// Points.
    package var removed: Int64
    /// False: the disk refuses the clear for now. A power cut before the cache is on the disk again brings the points
    /// back.
    package var durable: Bool?

    package init(removed: Int64, durable: Bool) {
        self.removed = removed
        self.durable = durable
    }
}

/// The reply of `Reconnect`: the agent makes the connection anew.
package struct ReconnectReply: Codable, Hashable, Sendable {
    package init() {}
}

struct StatusReply: Codable, Hashable, Sendable {
    var status: AgentStatus
}

struct MonitorReply: Codable, Hashable, Sendable {
    var event: AgentEvent
}
