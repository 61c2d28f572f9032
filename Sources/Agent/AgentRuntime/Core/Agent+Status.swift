internal import AgentControl
package import Exposition
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
            alarms: alarmShell.status, hooks: hooks.status, remembered: memory.status,
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
        page.add(AgentMetrics.remembered, memory.isDurable)
        page.add(AgentMetrics.cpu, usage.cpuSeconds)
        page.add(AgentMetrics.resident, ifKnown: usage.residentBytes)
        page.add(AgentMetrics.lostMessages, SystemLog.lostMessages)
    }
}

extension Int64? {
    /// The value as seconds; `self` is in milliseconds.
    var seconds: Double? { map { Double($0) / 1000 } }
}
