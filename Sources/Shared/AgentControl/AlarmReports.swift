package import JSON

/// An alarm or a message in the agent's journal.
package struct AlarmReport: Codable, Hashable, Sendable {
    /// The journal's number of the alarm. It is greater than that of every earlier alarm. 0 for one that is not durable.
    package var number: Int64
    /// The same each time the alarm comes: the server's number, or a number made of a local alarm's key.
    package var id: Int64?
    /// 3: a server fence's alarm. 4: a local fence's. 65 to 255: messages of the fleet's operator.
    package var type: Int64
    /// The entity that the alarm is for.
    package var entity: String
    /// When it happened: of an alarm of a fence by GNSS time, of a message when the server took it. Nil when nothing says so.
    package var time: Int64?
    /// When the agent received it, by the agent's system clock.
    package var received: Int64
    /// The content: an object, or a text when the server sent no JSON.
    package var body: JSONValue
    /// False: told before the disk has it. A restart may forget it. Nil: the journal has it.
    package var durable: Bool?
    /// True: an alarm of a server fence that the agent has found itself. Otherwise nil.
    package var early: Bool?
    /// Of an early alarm that the journal has: whether the server has told it too, or was told of it.
    package var confirmed: Bool?

    package init(
        number: Int64, id: Int64?, type: Int64, entity: String, time: Int64?, received: Int64, body: JSONValue,
        durable: Bool? = nil, early: Bool? = nil, confirmed: Bool? = nil
    ) {
        self.number = number
        self.id = id
        self.type = type
        self.entity = entity
        self.time = time
        self.received = received
        self.body = body
        self.durable = durable
        self.early = early
        self.confirmed = confirmed
    }
}

/// The reply of `ListAlarms`.
package struct AlarmsReply: Codable, Hashable, Sendable {
    /// In the order of their numbers.
    package var alarms: [AlarmReport]
    /// More alarms match than fit into one reply.
    package var more: Bool

    package init(alarms: [AlarmReport], more: Bool) {
        self.alarms = alarms
        self.more = more
    }
}

/// Which alarms to list. Every condition must hold.
package struct AlarmSelection: Hashable, Sendable {
    /// Lists the oldest alarms after this number. When it is nil, lists the newest alarms.
    package var after: Int64?
    /// Milliseconds, both bounds included.
    package var from: Int64?
    package var through: Int64?
    package var type: Int64?
    package var entity: String?
    /// Only alarms of these local fences; with `type` 3 early alarms of these server fences.
    package var fences: [Int64]?
    /// Only alarms of local fences that tell one of these; with `type` 3 early alarms.
    package var actions: [Action]?
    /// 1 to ``maximumCount``.
    package var limit: Int64

    /// What an alarm of a local fence tells.
    package enum Action: String, Hashable, Sendable, CaseIterable {
        case enter, exit, stay, overspeed
    }

    package init(
        after: Int64? = nil, from: Int64? = nil, through: Int64? = nil, type: Int64? = nil, entity: String? = nil,
        fences: [Int64]? = nil, actions: [Action]? = nil, limit: Int64 = 100
    ) {
        self.after = after
        self.from = from
        self.through = through
        self.type = type
        self.entity = entity
        self.fences = fences
        self.actions = actions
        self.limit = limit
    }

    package static let maximumCount: Int64 = 1000
}

/// The alarm journal in the status.
package struct AlarmsStatus: Codable, Hashable, Sendable {
    /// Alarms in the journal.
    package var kept: Int64
    /// The number of the newest alarm ever. 0 when there was none.
    package var lastNumber: Int64
    /// Why the agent cannot keep alarms now. It acknowledges none of them, so the server sends them again.
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
    /// The last failure, as a sentence.
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

/// Points that were lost before the server had them: the content of the event `loss`.
package struct LossReport: Codable, Hashable, Sendable {
    /// Points since the agent started, by reason.
    package var lost: [String: Int64]

    package init(lost: [String: Int64]) { self.lost = lost }
}
