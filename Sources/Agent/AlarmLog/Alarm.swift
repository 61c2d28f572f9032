/// Something that a person or a program on the box is to know: a push of the server, or an alarm of a fence.
package struct Alarm: Hashable, Sendable {
    /// The journal's own: greater than that of every alarm before.
    package var number: UInt64
    package var content: NewAlarm
    /// Hooks are to run for it, and have not all ended.
    package var isOwed: Bool

    package init(number: UInt64, content: NewAlarm, isOwed: Bool) {
        self.number = number
        self.content = content
        self.isOwed = isOwed
    }
}

/// An alarm on its way into the journal.
package struct NewAlarm: Hashable, Sendable {
    /// By which it is recognised when it comes again; 0 for what cannot come twice.
    package var id: UInt64
    /// 3: a server fence's alarm. 4: a local fence's. 65 to 255: messages of the fleet's operator.
    package var type: UInt32
    /// The entity the agent was logged in as.
    package var entity: String
    /// When it came to be, by the server's clock (a local fence's: by GNSS), milliseconds since 1970; 0: unknown.
    package var time: Int64
    /// When it was received, by this machine's clock, right or wrong.
    package var received: Int64
    /// JSON, as it came.
    package var body: String

    package init(id: UInt64, type: UInt32, entity: String, time: Int64, received: Int64, body: String) {
        self.id = id
        self.type = type
        self.entity = entity
        self.time = time
        self.received = received
        self.body = body
    }

    /// Longest body, bytes of UTF-8.
    package static let maximumBodyBytes = 16_384
    /// Longest entity, bytes of UTF-8.
    package static let maximumEntityBytes = 128
}

/// What of the journal to list; all conditions must hold.
package struct AlarmQuery: Hashable, Sendable {
    /// Only those after this number, the oldest first to be kept when there are too many; nil: any, the newest kept.
    package var after: UInt64?
    /// Bounds of their time, both included.
    package var from: Int64?
    package var through: Int64?
    package var type: UInt32?
    /// At most so many, and no more than ``maximumBytes`` of bodies.
    package var limit: Int

    package init(
        after: UInt64? = nil, from: Int64? = nil, through: Int64? = nil, type: UInt32? = nil, limit: Int = 100
    ) {
        self.after = after
        self.from = from
        self.through = through
        self.type = type
        self.limit = limit
    }

    /// Bodies of one answer.
    package static let maximumBytes = 512 * 1024
}

/// What a query found.
package struct AlarmPage: Hashable, Sendable {
    /// In the order of their numbers.
    package var alarms: [Alarm]
    /// There are others that match.
    package var isCut: Bool

    package init(alarms: [Alarm], isCut: Bool) {
        self.alarms = alarms
        self.isCut = isCut
    }
}
