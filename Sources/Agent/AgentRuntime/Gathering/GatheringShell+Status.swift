internal import AgentControl
internal import AgentLogic
internal import GNSSFeed
internal import Logging
internal import MetricsText
internal import Systemd
internal import TrackModel

// Gathering's part of the status and of the metrics.
extension GatheringShell {
    /// Whether fixes become points.
    var isSampling: Bool { entity != nil }
    var feedState: FeedState { feedLog.state }
    /// What is wrong with the receiver's dates; nil: nothing, or no fixes come.
    var dateTrouble: DateTrouble? { dates.trouble }
    /// Milliseconds since the newest fix; nil: there was none.
    var fixAge: Int64? { feedLog.fix.map { max(0, context.now - $0.arrival) } }
    /// No points although they are wanted; nil while they are made.
    var silence: PointProgressMonitor.Silence? { points.silence(now: context.now) }
    /// Milliseconds since the receiver sent anything.
    var unheard: Int64 { max(0, context.now - receiverHeard) }
    var feedStatus: FeedStatus { feedLog.report(now: context.now) }

    /// `isWanted`: somebody has told the agent to gather; the service knows.
    func status(isWanted: Bool) -> GatherStatus {
        let state: GatherStatus.State = isWanted ? (feedLog.state == .fix ? .gathering : .waiting) : .stopped
        return GatherStatus(
            state: state, since: since.milliseconds, lastPointTime: lastPointTime?.milliseconds,
            parkedSince: entity == nil ? nil : sampler.parkedSince?.milliseconds,
            dates: dates.trouble.map(DatesStatus.init))
    }

    var skippedNow: [String: UInt64] {
        var skipped = ["not_due": sampler.counters.notDue]
        for reason in Sampler.SkipReason.allCases { skipped[reason.rawValue] = sampler.counters[reason] }
        return skipped
    }

    func count(in counters: inout AgentCounters) {
        counters.fixes = Int64(clamping: fixes)
        var skipped = skippedBefore
        for (reason, count) in skippedNow { skipped[reason, default: 0] += count }
        counters.skipped = skipped.mapValues { Int64(clamping: $0) }
    }

    /// `status` as the router assembled it.
    func addMetrics(of status: AgentStatus, to page: inout MetricsPage) {
        for state in FeedStatus.State.allCases {
            page.add(AgentMetrics.feedState, status.feed.state == state, state.rawValue)
        }
        let fix = status.feed.lastFix
        page.add(AgentMetrics.fixAge, ifKnown: (fix?.age).seconds)
        page.add(AgentMetrics.fixAccuracy, ifKnown: fix?.accuracy)
        page.add(AgentMetrics.fixMode, ifKnown: fix?.mode)
        page.add(AgentMetrics.fixSatellites, ifKnown: fix?.satellites)
        page.add(AgentMetrics.gathering, status.gather.state != .stopped)
        page.add(AgentMetrics.gatherInterval, status.settings.gatherInterval)
        page.add(AgentMetrics.lastPoint, ifKnown: status.gather.lastPointTime.seconds)
        page.add(AgentMetrics.fixes, fixes)
        for (reason, count) in status.counters.skipped.sorted(by: { $0.key < $1.key }) {
            page.add(AgentMetrics.skipped, count, reason)
        }
    }
}

/// What people are told of the receiver's feed.
struct FeedLog {
    private let source: String
    private(set) var state = FeedState.stopped
    private var since: SystemTime
    var device: String?
    /// The newest fix and when it arrived.
    var fix: (fix: Fix, arrival: MonotonicTime)?

    init(_ gnss: AgentConfiguration.GNSS, since: SystemTime) {
        source = "\(gnss.host):\(gnss.port)"
        self.since = since
    }

    /// False when nothing changed.
    @discardableResult
    mutating func change(_ new: FeedState, at time: SystemTime) -> Bool {
        guard new != state else { return false }
        state = new
        since = time
        return true
    }

    func report(now: MonotonicTime) -> FeedStatus {
        let told: FeedStatus.State
        var error: String?
        switch state {
        case .stopped: told = .closed
        case .connecting: told = .connecting
        case .unreachable(let reason): (told, error) = (.unreachable, reason)
        case .permissionDenied(let reason): (told, error) = (.permissionDenied, reason)
        case .noDevice(let reason): (told, error) = (.noDevice, reason)
        case .noFix: told = .noFix
        case .fix: told = .fix
        }
        return FeedStatus(
            state: told, since: since.milliseconds, source: source, device: device, lastError: error,
            lastFix: fix.map { FixReport($0.fix, age: max(0, now - $0.arrival)) })
    }
}

extension FixReport {
    fileprivate init(_ fix: Fix, age: Int64) {
        self.init(
            time: fix.time.milliseconds, age: age, latitude: fix.coordinate.latitude,
            longitude: fix.coordinate.longitude, speed: fix.speed.map { Double($0) / 100 },
            course: fix.course.map { Double($0) / 10 }, altitude: fix.altitude.map { Double($0) / 10 },
            accuracy: fix.accuracy.map { Double($0) / 10 }, mode: fix.mode.map { Int64($0.rawValue) },
            status: fix.status.map { Int64($0.rawValue) }, satellites: fix.satellites.map(Int64.init))
    }
}

extension LocationState {
    init(_ state: FeedState) {
        self =
            switch state {
            case .stopped, .connecting: .unknown
            case .unreachable(let reason): .off(reason: reason)
            case .permissionDenied(let reason): .forbidden(reason: reason)
            case .noDevice(let reason): .off(reason: reason)
            case .noFix, .fix: .available
            }
    }
}

extension Logger {
    /// What there is of gpsd, its receiver and the fix now.
    func tell(_ state: FeedState) {
        let (sentence, name, reason): (Logger.Message, String, String?)
        switch state {
        case .stopped, .connecting: return
        case .unreachable(let why): (sentence, name, reason) = ("gpsd does not answer", "unreachable", why)
        case .permissionDenied(let why): (sentence, name, reason) = ("gpsd may not be used", "permission denied", why)
        case .noDevice(let why): (sentence, name, reason) = ("There is no receiver", "no device", why)
        case .noFix: (sentence, name, reason) = ("The receiver has no fix", "no fix", nil)
        case .fix: (sentence, name, reason) = ("The receiver has a fix", "fix", nil)
        }
        var fields = Logger.Metadata.event(.feedState, ["feed": "\(name)"])
        if let reason { fields["reason"] = "\(reason)" }
        info(sentence, metadata: fields)
    }
}

extension DatesStatus {
    init(_ trouble: DateTrouble) {
        let (text, remedy) = ("\(trouble)", trouble.remedy)
        switch trouble {
        case .disagreement(let receiver, let clock, let isClockUsed):
            self.init(
                kind: .disagreement, receiverTime: receiver.milliseconds, clockTime: clock.milliseconds,
                isClockUsed: isClockUsed, text: text, remedy: remedy)
        case .standing(let receiver, let isClockUsed):
            self.init(
                kind: .standing, receiverTime: receiver.milliseconds, isClockUsed: isClockUsed, text: text,
                remedy: remedy)
        case .receivers(let used, _, _):
            self.init(kind: .receivers, receiverTime: used.milliseconds, isClockUsed: false, text: text, remedy: remedy)
        case .missing(let isClockUsed): self.init(kind: .missing, isClockUsed: isClockUsed, text: text, remedy: remedy)
        }
    }
}

extension Logger {
    /// What is wrong with the dates of the receiver now. `unknown`: why nothing is known of them any more.
    func tell(_ trouble: DateTrouble?, unknown: String?) {
        if let trouble {
            warning(
                "The dates of the receiver are doubted",
                metadata: .event(.receiverDates, ["reason": "\(trouble)", "remedy": "\(trouble.remedy)"]))
        } else if let unknown {
            notice(
                "Nothing is known of the receiver's dates any more",
                metadata: .event(.receiverDates, ["reason": "\(unknown)"]))
        } else {
            notice("The dates of the receiver can be right again", metadata: .event(.receiverDates))
        }
    }
}
