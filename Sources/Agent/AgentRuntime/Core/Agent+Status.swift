internal import AgentControl
internal import AgentLogic
internal import DiskRing
internal import GNSSFeed
internal import Glibc
internal import Logging
package import MetricsText
internal import Systemd
internal import TrackModel

// The status and the metrics, put together from the parts that the shells make.
extension Agent {
    func report() -> AgentStatus {
        let verdict = verdict
        return AgentStatus(
            version: SakerVersion.text, time: context.systemTime.milliseconds, startedTime: started.milliseconds,
            entity: service.entity, tracked: verdict.isTracked, reason: verdict.reason,
            obstacle: verdict.obstacles.first?.kind.rawValue, service: service.status, gather: gatherStatus,
            feed: gathering.feedStatus, link: link.status, cache: cacheStatus,
            counters: counters, settings: settingsShell.status, attributes: attributeShell.status,
            clock: ClockStatus(
                synchronised: context.systemClock.isSynchronised, serverDifference: link.serverClockDifference),
            alarms: alarmShell.status, hooks: hooks.status, remembered: durableState.status,
            fences: fences, health: healthStatus(verdict), isOnAnotherComputer: isOnAnotherComputer)
    }

    private var fences: FencesStatus {
        var status = fenceShell.status(of: service.entity)
        status.server = serverFencesStatus
        return status
    }

    var gatherStatus: GatherStatus { gathering.status(isWanted: service.isGatheringWanted) }
    var cacheStatus: CacheStatus { cache.status(unacknowledged: link.unacknowledgedPoints) }

    private var counters: AgentCounters {
        var counters = AgentCounters()
        gathering.count(in: &counters)
        cache.count(in: &counters)
        link.count(in: &counters)
        return counters
    }

    /// Every metric, except those that the text file and the listener count themselves: see ``MetricsOutput``. Does not wait.
    package func metrics() -> MetricsPage {
        let status = report()
        var page = MetricsPage()
        addMetrics(of: status, to: &page)
        gathering.addMetrics(of: status, to: &page)
        cache.addMetrics(of: status.cache, to: &page)
        link.addMetrics(of: status.link, to: &page)
        fenceShell.addMetrics(of: status.fences, to: &page)
        serverFences.addMetrics(to: &page)
        earlyAlarms.addMetrics(to: &page)
        page.add(AgentMetrics.alarmNotesLost, alarmShell.notes.lost + earlyAlarms.notes.lost)
        return page
    }

    private func addMetrics(of status: AgentStatus, to page: inout MetricsPage) {
        let usage = ProcessUsage.read()
        page.add(AgentMetrics.info, 1, status.version)
        page.add(AgentMetrics.start, Double(status.startedTime) / 1000)
        page.add(AgentMetrics.tracked, status.tracked)
        page.add(AgentMetrics.service, status.service.state == .starting || status.service.state == .running)
        page.add(AgentMetrics.clockSynchronised, status.clock?.synchronised == true)
        page.add(AgentMetrics.clockDifference, ifKnown: status.clock?.serverDifference.seconds)
        page.add(AgentMetrics.remembered, durableState.isDurable)
        page.add(AgentMetrics.cpu, usage.cpuSeconds)
        page.add(AgentMetrics.resident, ifKnown: usage.residentBytes)
        page.add(AgentMetrics.lostMessages, SystemLog.lostMessages)
    }
}

extension Int64? {
    /// The value as seconds; `self` is in milliseconds.
    var seconds: Double? { map { Double($0) / 1000 } }
}

// The vehicle's health for its operator, put together from the parts that the shells make.
extension Agent {
    func health() -> HealthReport { health(verdict) }

    private func health(_ verdict: TrackedVerdict) -> HealthReport {
        var report = cache.health
        report.verdict = HealthReport.Verdict(verdict, now: context.now)
        report.receiver = HealthReport.Receiver(gathering.feedState)
        report.fixAge = gathering.fixAge.map { $0 / 1000 }
        report.dates = gathering.dateTrouble
        report.isGathering = gathering.isSampling
        report.certificateEnd = link.certificateEnd
        if let last = link.refused.last {
            // The cache's own refusals are losses too.
            report.lose(link.refused.count - link.refused.forDate, for: .refused)
            report.lose(link.refused.forDate, for: .wrongDate)
            let age = max(0, context.now - last.at) / 1000
            report.lossAge = min(report.lossAge ?? age, age)
        }
        return report
    }

    /// The same for people on the vehicle, with what the operator would call trouble.
    func healthStatus(_ verdict: TrackedVerdict) -> HealthStatus {
        let report = health(verdict)
        let troubles = TroubleRules().troubles(of: report, silence: link.silence, at: link.believedTime)
        var status = HealthStatus(report, troubles: troubles, toldTime: link.healthToldTime?.milliseconds)
        // A report names one obstacle, and the vehicle knows them all.
        if let refusal = verdict.obstacles.first(where: { $0.kind == .loginRefused }) {
            let kind = VehicleTrouble.Kind.refused.rawValue
            status.troubles.removeAll { $0.kind == kind }
            status.troubles.insert(.init(kind: kind, text: refusal.text), at: 0)
        }
        return status
    }

    /// Whether the vehicle is tracked.
    var verdict: TrackedVerdict {
        let now = context.now
        return TrackedVerdict(
            TrackedFacts(
                now: now, service: service.machineState, isGathering: gathering.isSampling,
                notGatheringSince: gathering.notGatheringSince, feed: gathering.feedState, unheard: gathering.unheard,
                hasPoint: gathering.points.hasPoint, silence: gathering.silence,
                rejected: gathering.points.rejected, unmoved: gathering.points.unmoved,
                dates: gathering.dateTrouble, datesSince: gathering.dates.since,
                isCacheInMemory: cache.isInMemory, loss: loss(now), link: link.state, refusal: link.refusal,
                certificateLeft: link.certificateEnd.flatMap { end in
                    link.believedTime.map { end.subtractingClamped($0.milliseconds / 1000) }
                }))
    }

    func perform(_ actions: [MissingPointsNotice.Action]) {
        for action in actions {
            switch action {
            case .tellMissing:
                context.log.warning(
                    "No points are made although the vehicle gathers",
                    metadata: .event(.pointsMissing, ["entity": "\(service.entity)", "reason": "\(verdict.reason)"]))
            case .tellReturned:
                context.log.notice(
                    "Points are made again", metadata: .event(.pointsReturned, ["entity": "\(service.entity)"]))
            case .setTimer(let milliseconds):
                timers.set(.missingPoints, milliseconds: milliseconds) { [weak self] in
                    guard let self else { return }
                    perform(missingPoints.timerFired(now: context.now))
                }
            case .cancelTimer: timers.cancel(.missingPoints)
            }
        }
    }

    /// Points that are lost now. The bound of the cache loses some at a time: without a connection it will do so again.
    private func loss(_ now: MonotonicTime) -> TrackedFacts.Loss? {
        if let refusing = link.linkLog.refusing {
            return .init(reason: "the server refuses them (\(refusing.reason))", since: refusing.since)
        }
        let recent = now + -gathering.points.timeout
        if let reason = cache.loss(since: recent) { return .init(reason: reason.lossText, since: recent) }
        guard let silence = link.silence, silence > 0 else { return nil }
        let offline = now + -(silence * 1000)
        guard cache.loss(since: offline) == "bound" else { return nil }
        return .init(reason: "bound".lossText, since: offline)
    }
}

extension String {
    /// Why the cache loses points, by the name that the status has; one clause.
    fileprivate var lossText: String {
        switch self {
        case "bound":
            "the cache is full, and the oldest are dropped: bring the vehicle online, or saker settings cache-limit"
        case "memory_full": "the disk does not take them, and memory is full: df -h, and see the disk"
        case "disk_hangs": "the disk does not answer"
        case "refused": "they break a rule of the cache"
        default: self
        }
    }
}

extension HealthReport.Verdict {
    /// The obstacle to mend first.
    init(_ verdict: TrackedVerdict, now: MonotonicTime) {
        guard let obstacle = verdict.obstacles.first else {
            self.init()
            return
        }
        self.init(obstacle: obstacle.kind, age: max(0, now - obstacle.since) / 1000, rejected: obstacle.rejected)
    }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, isTooMuch) = subtractingReportingOverflow(other)
        return isTooMuch ? (self < other ? .min : .max) : difference
    }
}

extension HealthReport {
    fileprivate mutating func lose(_ points: UInt64, for reason: LossReason) {
        guard points > 0 else { return }
        let (sum, isTooMany) = losses[reason, default: 0].addingReportingOverflow(points)
        losses[reason] = isTooMany ? .max : sum
    }
}

extension HealthStatus {
    init(_ report: HealthReport, troubles: [VehicleTrouble], toldTime: Int64?) {
        let end = report.certificateEnd.map { $0.multipliedReportingOverflow(by: 1000) }
        self.init(
            troubles: troubles.map { Trouble(kind: $0.kind.rawValue, text: "\($0)") },
            backlog: Int64(clamping: report.backlog),
            losses: Dictionary(
                uniqueKeysWithValues: report.losses.map { ($0.key.rawValue, Int64(clamping: $0.value)) }),
            receiver: report.receiver.rawValue, gathering: report.isGathering, disk: report.disk.rawValue,
            certificateEndTime: end.flatMap { $0.overflow ? nil : $0.partialValue }, toldTime: toldTime)
    }
}

extension HealthReport.Receiver {
    init(_ state: FeedState) {
        self =
            switch state {
            case .stopped: .off
            case .connecting: .unknown
            case .unreachable: .unreachable
            case .permissionDenied: .forbidden
            case .noDevice: .away
            case .noFix: .noFix
            case .fix: .fix
            }
    }
}

extension HealthReport.Disk {
    init(_ state: DiskRingState) {
        self =
            switch state {
            case .disk: .ok
            case .closed: .unknown
            case .memory(let error):
                switch error.number {
                case ENOSPC, EDQUOT: .full
                case EROFS: .readOnly
                default: .refusing
                }
            }
    }
}

extension HealthReport.LossReason {
    /// By the names that the status has.
    init(counted name: String) {
        self =
            switch name {
            case "bound": .bound
            case "memory_full": .memoryFull
            case "disk_hangs": .diskHangs
            case "checksum", "unreadable", "undecodable": .damaged
            case "stream_conflict": .copiedDisk
            case "refused": .refused
            case "wrong_date": .wrongDate
            default: .other
            }
    }
}
