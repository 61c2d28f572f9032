internal import AgentControl
internal import AgentLogic
package import Exposition
internal import TrackCache
internal import TrackModel

// The state as Prometheus reads it. On the loop; waits for nothing.
extension Agent {
    /// Everything but what the ways out count themselves: see ``MetricsOutput``.
    package func metrics() -> MetricsPage {
        let status = report()
        var page = MetricsPage()
        addGeneral(status, to: &page)
        addReceiver(status, to: &page)
        addLink(status, to: &page)
        addCache(status, to: &page)
        return page
    }

    private func addGeneral(_ status: AgentStatus, to page: inout MetricsPage) {
        let usage = ProcessUsage.read()
        page.add(AgentMetrics.info, 1, status.version)
        page.add(AgentMetrics.start, Double(status.startedTime) / 1000)
        page.add(AgentMetrics.tracked, status.tracked)
        page.add(AgentMetrics.service, status.service.state == .starting || status.service.state == .running)
        page.add(AgentMetrics.clockSynchronised, status.clock?.synchronised == true)
        page.add(AgentMetrics.clockDifference, ifKnown: status.clock?.serverDifference.seconds)
        page.add(AgentMetrics.cpu, usage.cpuSeconds)
        page.add(AgentMetrics.resident, ifKnown: usage.residentBytes)
    }

    private func addReceiver(_ status: AgentStatus, to page: inout MetricsPage) {
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
        page.add(AgentMetrics.fixes, tally.fixes)
        for (reason, count) in status.counters.skipped.sorted(by: { $0.key < $1.key }) {
            page.add(AgentMetrics.skipped, count, reason)
        }
        page.add(AgentMetrics.gathered, tally.gathered)
        for (reason, count) in losses.sorted(by: { $0.key < $1.key }) { page.add(AgentMetrics.lost, count, reason) }
    }

    private func addLink(_ status: AgentStatus, to page: inout MetricsPage) {
        for state in LinkStatus.State.allCases {
            page.add(AgentMetrics.linkState, status.link.state == state, state.rawValue)
        }
        page.add(AgentMetrics.offline, linkWatch.offline.map { Double(max(0, now - $0.at)) / 1000 } ?? 0)
        let counters = uplink.counters
        page.add(AgentMetrics.attempts, counters.attempts)
        page.add(AgentMetrics.sessions, counters.sessions)
        page.add(AgentMetrics.refusals, counters.refusals)
        page.add(AgentMetrics.deadLinks, counters.deadLinks)
        page.add(AgentMetrics.batches, counters.batches)
        page.add(AgentMetrics.uploaded, counters.points)
        page.add(AgentMetrics.uploadedBytes, counters.bytes)
        page.add(AgentMetrics.acknowledged, snapshot.counters.acknowledged)
        page.add(AgentMetrics.refused, tally.refused)
    }

    private func addCache(_ status: AgentStatus, to page: inout MetricsPage) {
        let (cache, counters) = (status.cache, snapshot.counters)
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

extension Int64? {
    /// Of milliseconds.
    fileprivate var seconds: Double? { map { Double($0) / 1000 } }
}
