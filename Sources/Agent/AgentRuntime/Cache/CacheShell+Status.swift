internal import AgentControl
internal import Exposition
internal import TrackCache
internal import TrackModel

// The ring's part of the metrics and of the vehicle's health.
extension CacheShell {
    /// Points that the server has acknowledged since the start.
    var acknowledged: UInt64 { snapshot.counters.acknowledged }

    /// Points lost by reason, with the reasons for which none is lost.
    var losses: [String: UInt64] {
        var lost = snapshot.everyLoss
        lost["disk_hangs"] = tally.lostBusyDisk
        lost["undecodable"] = tally.undecodable
        return lost
    }

    func count(in counters: inout AgentCounters) {
        counters.gathered = Int64(clamping: tally.gathered)
        counters.acknowledged = Int64(clamping: acknowledged)
        counters.lost = losses.filter { $0.value > 0 }.mapValues { Int64(clamping: $0) }
        counters.lastLossTime = lastLoss?.milliseconds
    }

    /// The part of the ring in the vehicle's health.
    var health: HealthReport {
        var lost: [HealthReport.LossReason: UInt64] = [:]
        for (name, count) in losses { lost[HealthReport.LossReason(counted: name), default: 0] &+= count }
        return HealthReport(
            backlog: snapshot.points, losses: lost, lossAge: lossSeen.map { max(0, (context.now - $0) / 1000) },
            disk: HealthReport.Disk(snapshot.state))
    }

    /// `status` as ``status(unacknowledged:)`` gave it.
    func addMetrics(of cache: CacheStatus, to page: inout MetricsPage) {
        let counters = snapshot.counters
        page.add(AgentMetrics.gathered, tally.gathered)
        for (reason, count) in losses.sorted(by: { $0.key < $1.key }) { page.add(AgentMetrics.lost, count, reason) }
        page.add(AgentMetrics.acknowledged, acknowledged)
        page.add(AgentMetrics.cachePoints, cache.points)
        page.add(AgentMetrics.unacknowledged, cache.unacknowledged)
        page.add(AgentMetrics.cacheBytes, cache.bytes)
        page.add(AgentMetrics.cacheLimit, ifKnown: cache.limit)
        page.add(AgentMetrics.cacheTimeToFull, ifKnown: cache.timeToFull.seconds)
        page.add(AgentMetrics.cacheOldest, ifKnown: cache.firstTime.seconds)
        page.add(AgentMetrics.cacheInMemory, cache.state == .memory)
        page.add(AgentMetrics.memoryFallbacks, counters.memoryFallbacks)
        page.add(AgentMetrics.diskErrors, counters.diskErrors.values.reduce(0, &+))
        page.add(AgentMetrics.appendedBytes, counters.appendedBytes)
        page.add(AgentMetrics.writtenBytes, counters.bytesWritten)
        page.add(AgentMetrics.syncs, counters.syncs)
        page.add(AgentMetrics.cleared, counters.cleared)
    }
}
