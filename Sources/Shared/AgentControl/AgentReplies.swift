package import JSON

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

/// The reply of `AddPoints`.
package struct AddPointsReply: Codable, Hashable, Sendable {
    /// Points that the server has stored.
    package var stored: Int64
    package var refused: [RefusedPointReply]
    /// Attributes that no point shows, each key and reason once; nil from an agent of an earlier version.
    package var ignored: [IgnoredValue]?

    package init(stored: Int64, refused: [RefusedPointReply], ignored: [IgnoredValue]? = []) {
        self.stored = stored
        self.refused = refused
        self.ignored = ignored
    }
}

/// A custom point that the server did not store.
package struct RefusedPointReply: Codable, Hashable, Sendable {
    /// The index among the points of the call, from 0.
    package var index: Int64
    /// A sentence that names the value and the rule.
    package var reason: String

    package init(index: Int64, reason: String) {
        self.index = index
        self.reason = reason
    }
}

/// The server's answer to a Web API request.
package struct WebAPIReply: Codable, Hashable, Sendable {
    /// The Web API's status; 0 is success.
    package var status: Int64
    /// The whole answer.
    package var response: JSONValue

    package init(status: Int64, response: JSONValue) {
        self.status = status
        self.response = response
    }

    /// The reply as it is sent.
    var json: JSONValue { ["status": .integer(status), "response": response] }
}

/// Which points `ClearCache` removes: those that match every condition. Without a condition it removes all points.
package struct CacheSelection: Hashable, Sendable {
    /// Nil for all entities.
    package var entities: [String]?
    /// Milliseconds since 1970, included; nil for open.
    package var from: Int64?
    package var through: Int64?

    package init(entities: [String]? = nil, from: Int64? = nil, through: Int64? = nil) {
        self.entities = entities
        self.from = from
        self.through = through
    }
}
