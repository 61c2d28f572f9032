internal import AgentControl
internal import AgentLogic
internal import Exposition
internal import GNSSFeed
internal import TrackModel

// Gathering's part of the status and of the metrics.
extension GatheringShell {
    /// Whether fixes become points.
    var isSampling: Bool { entity != nil }
    var feedState: FeedState { watch.state }
    /// What is wrong with the receiver's dates; nil: nothing, or no fixes come.
    var dateTrouble: DateTrouble? { dates.trouble }
    /// Milliseconds since the newest fix; nil: there was none.
    var fixAge: Int64? { watch.fix.map { max(0, context.now - $0.arrival) } }
    /// No points although they are wanted; nil while they are made.
    var silence: PointWatch.Silence? { points.silence(now: context.now) }
    /// Milliseconds since the receiver sent anything.
    var unheard: Int64 { max(0, context.now - receiverHeard) }
    var feedStatus: FeedStatus { watch.report(now: context.now) }

    /// `isWanted`: somebody has told the agent to gather; the service knows.
    func status(isWanted: Bool) -> GatherStatus {
        let state: GatherStatus.State = isWanted ? (watch.state == .fix ? .gathering : .waiting) : .stopped
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
