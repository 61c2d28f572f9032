internal import JSON
package import TrackModel

/// Something that a person or a program on the vehicle should know: a push of the server, or an alarm of a local fence.
package struct JournalAlarm: Hashable, Sendable {
    /// The alarm's number in the journal, greater than the number of every earlier alarm.
    package var number: UInt64
    package var content: NewAlarm
    /// Hooks must run for this alarm, and not all of them have ended.
    package var isOwed: Bool
    /// The server has told this early alarm too.
    package var isConfirmed: Bool
    package var report: ReportState

    package init(
        number: UInt64, content: NewAlarm, isOwed: Bool, isConfirmed: Bool = false, report: ReportState = .none
    ) {
        self.number = number
        self.content = content
        self.isOwed = isOwed
        self.isConfirmed = isConfirmed
        self.report = report
    }
}

/// Whether the agent tells the server of an alarm. The raw values are those of the file.
package enum ReportState: UInt8, Hashable, Sendable {
    /// It does not.
    case none = 0
    /// The server has not answered yet.
    case wanted = 1
    /// The server has the alarm.
    case done = 2
    /// The server will never take it.
    case refused = 3
}

/// An alarm on its way into the journal.
package struct NewAlarm: Hashable, Sendable {
    /// The server's number of the push, or the number made of a local alarm's key: by it the journal recognises what comes
    /// again. 0 for an alarm that cannot come twice.
    package var id: UInt64
    /// 3: an alarm of a server fence. 4: an alarm of a local fence, or of another vehicle's. 65 to 255: messages of the fleet's operator.
    package var type: UInt32
    /// The entity that the agent was logged in as.
    package var entity: String
    /// When it happened, by the server's clock (for a local fence: by GNSS time), milliseconds since 1970; 0 when
    /// unknown.
    package var time: Int64
    /// When the agent received it, by this machine's clock, which may be wrong.
    package var received: Int64
    /// JSON, as the server sent it.
    package var body: String
    /// Of an alarm that the agent has found; nil for a push, whose fence only its content names.
    package var fence: AlarmFence?
    /// Of an alarm of a server fence that the agent has found.
    package var early: EarlyAlarmPoint?
    /// The service of the agent when it found the alarm; nil for a push, and for an alarm that an earlier version has written.
    package var service: Int64?

    package init(
        id: UInt64, type: UInt32, entity: String, time: Int64, received: Int64, body: String, fence: AlarmFence? = nil,
        early: EarlyAlarmPoint? = nil, service: Int64? = nil
    ) {
        self.id = id
        self.type = type
        self.entity = entity
        self.time = time
        self.received = received
        self.body = body
        self.fence = fence
        self.early = early
        self.service = service
    }

    /// Longest body, bytes of UTF-8.
    package static let maximumBodyBytes = 16_384
    /// Longest entity, bytes of UTF-8.
    package static let maximumEntityBytes = 128
}

/// Selects alarms of the journal. An alarm must match all conditions.
package struct AlarmQuery: Hashable, Sendable {
    /// Only alarms after this number; if there are too many, the oldest of them. Nil: any number; if there are too
    /// many, the newest.
    package var after: UInt64?
    /// Bounds of the alarm's time, both included.
    package var from: Int64?
    package var through: Int64?
    package var type: UInt32?
    /// The entity that the agent was logged in as, compared byte by byte.
    package var entity: String?
    /// Only alarms of these local fences; with `type` 3 early alarms of these server fences.
    package var fences: Set<Int32>?
    /// Only alarms of local fences that tell one of these; with `type` 3 early alarms.
    package var actions: Set<AlarmFence.Action>?
    /// The most alarms in one answer; ``maximumBytes`` limits the answer too.
    package var limit: Int

    package init(
        after: UInt64? = nil, from: Int64? = nil, through: Int64? = nil, type: UInt32? = nil, entity: String? = nil,
        fences: Set<Int32>? = nil, actions: Set<AlarmFence.Action>? = nil, limit: Int = 100
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

    /// The most bytes of records in one answer.
    package static let maximumBytes = 512 * 1024
}

/// What a query found.
package struct AlarmPage: Hashable, Sendable {
    /// In the order of their numbers.
    package var alarms: [JournalAlarm]
    /// Other alarms match too.
    package var isCut: Bool

    package init(alarms: [JournalAlarm], isCut: Bool) {
        self.alarms = alarms
        self.isCut = isCut
    }
}

/// Alarms whose hooks must still run.
package struct AlarmsAwaitingHooks: Hashable, Sendable {
    /// In the order of their numbers.
    package var alarms: [JournalAlarm]
    /// There are no others.
    package var isAll: Bool

    package init(alarms: [JournalAlarm], isAll: Bool) {
        self.alarms = alarms
        self.isAll = isAll
    }
}

/// What has become of an alarm since it was written.
struct AlarmUpdate: Hashable, Sendable {
    var isConfirmed = false
    var report = ReportState.none

    init() {}

    init(_ alarm: JournalAlarm) {
        (isConfirmed, report) = (alarm.isConfirmed, alarm.report)
    }

    private static let confirmed: UInt8 = 2

    /// The byte of a record: bit 0 belongs to hooks, bit 4 to the service. Nil for bits that nobody knows.
    init?(flags: UInt8) {
        guard flags < 32, let report = ReportState(rawValue: flags >> 2 & 3) else { return nil }
        (isConfirmed, self.report) = (flags & Self.confirmed != 0, report)
    }

    var flags: UInt8 { (isConfirmed ? Self.confirmed : 0) | report.rawValue << 2 }

    mutating func add(_ later: AlarmUpdate) {
        if later.isConfirmed { isConfirmed = true }
        if later.report != .none { report = later.report }
    }
}

/// What the journal remembers of an alarm that the size limit has dropped, or whose content is lost, so that it recognises
/// the push if it comes again.
struct AlarmTrace: Hashable, Sendable {
    let number: UInt64
    /// The server's number of the push; not 0.
    let id: UInt64
    /// The alarm's time by the server's clock; 0 when unknown.
    let serverTime: Int64

    init(number: UInt64, id: UInt64, serverTime: Int64) {
        (self.number, self.id, self.serverTime) = (number, id, serverTime)
    }

    init(_ entry: AlarmJournal.Entry) {
        self.init(number: entry.number, id: entry.id, serverTime: entry.serverTime)
    }
}

/// The point that caused an early alarm, as the ring numbers it: an alarm of a server fence that the agent has found itself,
/// before the server tells it.
package struct EarlyAlarmPoint: Hashable, Sendable {
    package var stream: StreamID
    package var sequence: UInt64

    package init(stream: StreamID, sequence: UInt64) {
        self.stream = stream
        self.sequence = sequence
    }
}

/// Points that the server owned, and does not have any more: a backup was put back.
package struct ForgottenPoints: Hashable, Sendable {
    package var stream: StreamID
    package var sequences: ClosedRange<UInt64>
    /// The ring had been told that the server has them. Otherwise only an alarm that the server has confirmed can show that it had.
    package var isCertain: Bool

    package init(stream: StreamID, sequences: ClosedRange<UInt64>, isCertain: Bool = true) {
        self.stream = stream
        self.sequences = sequences
        self.isCertain = isCertain
    }
}

/// An early alarm that nobody has confirmed.
package struct UnconfirmedAlarm: Hashable, Sendable {
    package var number: UInt64
    /// Of the push that will confirm it.
    package var id: UInt64
    package var mark: EarlyAlarmPoint
    package var entity: String
    package var fence: Int32

    package init(number: UInt64, id: UInt64, mark: EarlyAlarmPoint, entity: String, fence: Int32) {
        self.number = number
        self.id = id
        self.mark = mark
        self.entity = entity
        self.fence = fence
    }
}

/// The fence that an alarm is about, and what it tells: what queries choose by, without reading the alarm's content.
package struct AlarmFence: Hashable, Sendable {
    /// The raw values are those of the file.
    package enum Action: UInt8, Hashable, Sendable, CaseIterable {
        case enter = 1
        case exit = 2
        case stay = 3
        case overspeed = 4
    }

    package var fence: Int32
    package var action: Action

    package init(fence: Int32, action: Action) {
        self.fence = fence
        self.action = action
    }
}

extension NewAlarm {
    /// When it happened, milliseconds since 1970; nil when nothing says so.
    ///
    /// The server's time of a push is the time at which the server queued it, which may be days after the crossing: a vehicle
    /// uploads its points when it is online again. So an alarm of a fence has the time that its content names, as an alarm has that
    /// the vehicle found itself. A message has the server's time.
    package var happened: Int64? {
        if fence == nil, early == nil, type == 3 || type == 4, let told = timeInBody { return told }
        return time > 0 ? time : nil
    }

    /// Of the crossing, or of the point that proved it.
    private var timeInBody: Int64? {
        guard let content = try? JSONReader.value(of: Array(body.utf8)) else { return nil }
        let crossing = content["crossing"]?["time"]?.integerValue
        let point = content["alarm_point"]?["loc_time"]?.integerValue.map { $0.multipliedReportingOverflow(by: 1000) }
        let told = crossing ?? point.flatMap { $0.overflow ? nil : $0.partialValue }
        return told.flatMap { $0 > 0 ? $0 : nil }
    }
}
