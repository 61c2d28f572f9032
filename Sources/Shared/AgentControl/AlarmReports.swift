package import JSON

/// An alarm or a message, as it stands in the agent's journal.
package struct AlarmReport: Codable, Hashable, Sendable {
    /// The journal's: greater than that of every alarm before.
    package var number: Int64
    /// The server's, the same each time it sends this one; nil for an alarm of the box's own.
    package var id: Int64?
    /// 3: a server fence's alarm. 4: a local fence's. 65 to 255: messages of the fleet's operator.
    package var type: Int64
    /// The entity that it came to.
    package var entity: String
    /// When it came to be, by the server's clock; nil when that was not told.
    package var time: Int64?
    /// When it was received, by the agent's system clock.
    package var received: Int64
    /// What it says: an object, or a text when the server sent no JSON.
    package var body: JSONValue

    package init(
        number: Int64, id: Int64?, type: Int64, entity: String, time: Int64?, received: Int64, body: JSONValue
    ) {
        self.number = number
        self.id = id
        self.type = type
        self.entity = entity
        self.time = time
        self.received = received
        self.body = body
    }
}

/// The reply of `ListAlarms`.
package struct AlarmsReply: Codable, Hashable, Sendable {
    /// In the order of their numbers.
    package var alarms: [AlarmReport]
    /// Others match, and there were too many for one reply.
    package var more: Bool

    package init(alarms: [AlarmReport], more: Bool) {
        self.alarms = alarms
        self.more = more
    }
}

/// Which alarms to list; all conditions must hold.
package struct AlarmSelection: Hashable, Sendable {
    /// Only those after this number; then the oldest of them, otherwise the newest.
    package var after: Int64?
    /// Milliseconds, both bounds included.
    package var from: Int64?
    package var through: Int64?
    package var type: Int64?
    /// 1 to ``maximumCount``.
    package var limit: Int64

    package init(
        after: Int64? = nil, from: Int64? = nil, through: Int64? = nil, type: Int64? = nil, limit: Int64 = 100
    ) {
        self.after = after
        self.from = from
        self.through = through
        self.type = type
        self.limit = limit
    }

    package static let maximumCount: Int64 = 1000
}

/// The alarm journal in the status.
package struct AlarmsStatus: Codable, Hashable, Sendable {
    /// Alarms in the journal.
    package var kept: Int64
    /// Of the newest one ever; 0 when there was none.
    package var lastNumber: Int64
    /// Why alarms cannot be kept now: none is acknowledged, and the server sends them again.
    package var lastError: String?
    /// Since the agent started: kept for the first time, not taken at all, dropped before their time, damaged on disk.
    package var received: Int64
    package var refused: Int64
    package var dropped: Int64
    package var damaged: Int64

    package init(
        kept: Int64, lastNumber: Int64, lastError: String?, received: Int64, refused: Int64, dropped: Int64,
        damaged: Int64
    ) {
        self.kept = kept
        self.lastNumber = lastNumber
        self.lastError = lastError
        self.received = received
        self.refused = refused
        self.dropped = dropped
        self.damaged = damaged
    }

    enum CodingKeys: String, CodingKey {
        case kept, received, refused, dropped, damaged
        case lastNumber = "last_number"
        case lastError = "last_error"
    }
}

/// The hooks in the status.
package struct HooksStatus: Codable, Hashable, Sendable {
    package var directory: String
    /// Hooks that run now, and events whose hooks have not all ended.
    package var running: Int64
    package var waiting: Int64
    /// Since the agent started: hooks started, those of them that failed, and events dropped because too many waited.
    package var started: Int64
    package var failed: Int64
    package var dropped: Int64
    /// What went wrong last, a sentence.
    package var lastError: String?

    package init(
        directory: String, running: Int64, waiting: Int64, started: Int64, failed: Int64, dropped: Int64,
        lastError: String?
    ) {
        self.directory = directory
        self.running = running
        self.waiting = waiting
        self.started = started
        self.failed = failed
        self.dropped = dropped
        self.lastError = lastError
    }

    enum CodingKeys: String, CodingKey {
        case directory, running, waiting, started, failed, dropped
        case lastError = "last_error"
    }
}

/// Points that are gone without the server having them: what the event `loss` tells.
package struct LossReport: Codable, Hashable, Sendable {
    /// Points since the agent started, by reason.
    package var lost: [String: Int64]

    package init(lost: [String: Int64]) { self.lost = lost }
}
