/// What the agent says with each point that it gathers about the time before the point.
///
/// Two gathered points in a row cover the time between them when they are no farther apart than ``tolerance``. The time
/// between others is a gap, and ``spans`` of the later point say why. Decision: docs/decisions/0021-gaps.md.
package struct Continuity: Hashable, Sendable {
    /// The longest gather interval in force since the point before, in seconds, ``intervals``.
    package var interval: Int32
    /// Why no points were gathered before this one, in the order of time; empty when the point follows the one before
    /// within the tolerance. At most ``maximumSpans``.
    package var spans: [GapSpan]

    package static let intervals: ClosedRange<Int32> = 1...86_400
    package static let maximumSpans = 8

    /// `interval` is clamped to ``intervals``; of the spans the first ``maximumSpans`` are kept.
    package init(interval: Int32, spans: [GapSpan] = []) {
        self.interval = min(max(interval, Self.intervals.lowerBound), Self.intervals.upperBound)
        self.spans = spans.count > Self.maximumSpans ? Array(spans.prefix(Self.maximumSpans)) : spans
    }

    /// Tells that points before this one, which is of `time`, are gone. When all places are taken, the shortest of the spans joins the one
    /// before it, and the longer one gives the reason: what became of points matters more than how long each reason lasted.
    package mutating func tellLoss(_ reason: GapReason, before time: Timestamp) {
        if spans.count >= Self.maximumSpans {
            func length(_ span: GapSpan) -> Int64 {
                span.from.map { span.until.milliseconds(since: $0) } ?? .max
            }
            guard let joined = spans.indices.dropFirst().min(by: { length(spans[$0]) < length(spans[$1]) }) else {
                return
            }
            if length(spans[joined - 1]) < length(spans[joined]) { spans[joined - 1].reason = spans[joined].reason }
            spans[joined - 1].until = spans[joined].until
            spans.remove(at: joined)
        }
        spans.append(GapSpan(reason, from: nil, until: time))
    }

    /// The most milliseconds between two points that follow each other: two intervals and ten seconds. One missed due
    /// time, and the few seconds that a receiver needs under a bridge, are no gap.
    package var tolerance: Int64 { Self.tolerance(of: interval) }

    /// Milliseconds, for an interval in seconds.
    package static func tolerance(of interval: Int32) -> Int64 { Int64(interval) * 2000 + 10_000 }
}

/// A stretch of time without points, and why.
package struct GapSpan: Hashable, Sendable {
    package var reason: GapReason
    /// Nil: from the entity's point before on, whichever that is.
    package var from: Timestamp?
    package var until: Timestamp
    /// Points that were gathered in this time and are gone; nil when none was, or nobody counted.
    package var lostPoints: Int64?

    package init(_ reason: GapReason, from: Timestamp?, until: Timestamp, lostPoints: Int64? = nil) {
        self.reason = reason
        self.from = from
        self.until = until
        self.lostPoints = lostPoints
    }
}

/// Why a track has no points for a while. A reader keeps numbers that it does not know: a newer agent may use them.
package struct GapReason: RawRepresentable, Hashable, Sendable {
    /// 1 ... 255; the number on the wire. A reason and its ``detail`` are one number.
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    private init(_ number: UInt8) { rawValue = number }

    /// The receiver had no fix: a tunnel, a garage, a broken antenna.
    package static let noFix = GapReason(1)
    /// gpsd could not be reached, or had no device.
    package static let noReceiver = GapReason(2)
    /// Somebody had stopped gathering or the service.
    package static let stopped = GapReason(3)
    /// The configuration starts nothing before the first command, and there was none.
    package static let notStarted = GapReason(4)
    /// The agent gathered for another entity.
    package static let otherEntity = GapReason(5)
    /// The vehicle was parked, and the settings thin its points out.
    package static let parked = GapReason(6)
    /// The agent was not running: stopped, killed, or without power.
    package static let off = GapReason(7)
    /// The error of the fixes was larger than the desired accuracy.
    package static let inaccurate = GapReason(8)
    /// The vehicle had not moved by the distance filter.
    package static let unmoved = GapReason(9)
    /// The vehicle cannot have been where the fixes were.
    package static let implausible = GapReason(10)
    /// The date of the fixes was not believed.
    package static let doubtfulTime = GapReason(11)
    /// Points were gathered, and the limit of the cache dropped them.
    package static let cacheFull = GapReason(12)
    /// Points were gathered, and somebody cleared them.
    package static let cleared = GapReason(13)
    /// Points were gathered, and the vehicle's disk lost them.
    package static let diskTrouble = GapReason(14)
    /// Points were gathered, and the server refused them.
    package static let refused = GapReason(15)

    // With what is known of them. A reader that does not know these numbers calls them `other`.

    /// ``off``: the agent was stopped in order, and the computer went on.
    package static let offByStop = GapReason(16)
    /// ``off``: the agent was stopped in order, and the computer was started anew.
    package static let offByShutdown = GapReason(17)
    /// ``off``: the agent was killed or crashed, and the computer went on.
    package static let offByCrash = GapReason(18)
    /// ``off``: the computer stopped before it could stop the agent.
    package static let offByPowerCut = GapReason(19)
    /// ``stopped``: somebody called the control interface.
    package static let stoppedByPerson = GapReason(20)
    /// ``stopped``: a hook did it, such as one that ran for an operator's push.
    package static let stoppedByHook = GapReason(21)
    /// ``stopped``: the server refused what the service was to start with.
    package static let stoppedByServer = GapReason(22)

    /// Points were gathered and are gone, and nobody knows why. Only readers of tracks tell it.
    package static let lost = GapReason(254)
    /// The vehicle has not told yet. Only readers of tracks tell it.
    package static let notUploaded = GapReason(255)

    private static let names: [GapReason: String] = [
        .noFix: "no_fix", .noReceiver: "no_receiver", .stopped: "stopped", .notStarted: "not_started",
        .otherEntity: "other_entity", .parked: "parked", .off: "off", .inaccurate: "inaccurate", .unmoved: "unmoved",
        .implausible: "implausible", .doubtfulTime: "doubtful_time", .cacheFull: "cache_full", .cleared: "cleared",
        .diskTrouble: "disk_trouble", .refused: "refused", .lost: "lost", .notUploaded: "not_uploaded",
    ]

    private static let details: [GapReason: (kind: GapReason, name: String)] = [
        .offByStop: (.off, "stop"), .offByShutdown: (.off, "shutdown"), .offByCrash: (.off, "crash"),
        .offByPowerCut: (.off, "power_cut"), .stoppedByPerson: (.stopped, "person"), .stoppedByHook: (.stopped, "hook"),
        .stoppedByServer: (.stopped, "server"),
    ]

    /// Every reason that this program knows, in the order of their numbers; those with a detail are not among them.
    package static let known = names.keys.sorted { $0.rawValue < $1.rawValue }

    /// The reason without its detail.
    package var kind: GapReason { Self.details[self]?.kind ?? self }

    /// For programs and people; `other` for a number that this program does not know.
    package var name: String { Self.names[kind] ?? "other" }

    /// What else is known of it, for programs; nil: nothing.
    package var detail: String? { Self.details[self]?.name }

    /// The points of the time were gathered and are gone.
    package var isLoss: Bool { [.cacheFull, .cleared, .diskTrouble, .refused, .lost].contains(self) }
}
