internal import AgentControl
internal import AgentLogic
internal import GNSSFeed
internal import TrackCache
internal import TrackModel

// The state as the control interface tells it.
extension Agent {
    func report() -> AgentStatus {
        let verdict = TrackedVerdict(
            service: service.state, isGathering: samplingEntity != nil, feed: feedStatus.state, link: linkWatch.state,
            isCacheInMemory: snapshot.isInMemory)
        return AgentStatus(
            version: SakerVersion.text, time: systemTime.milliseconds, startedTime: started.milliseconds,
            entity: lastEntity, tracked: verdict.isTracked, reason: verdict.reason, service: serviceStatus,
            gather: gatherStatus, feed: feedReport, link: linkStatus, cache: cacheStatus, counters: countersReport,
            settings: settingsReport, attributes: attributesStatus,
            clock: ClockStatus(
                synchronised: surroundings.clock.read().isSynchronised,
                serverDifference: linkWatch.serverClockDifference), alarms: alarmsStatus, hooks: hooksStatus)
    }

    var serviceStatus: ServiceStatus {
        let state: ServiceStatus.State
        switch service.state {
        case .stopped: state = .stopped
        case .starting: state = .starting
        case .online, .offline: state = .running
        case .stopping: state = .stopping
        }
        return ServiceStatus(state: state, since: serviceSince.milliseconds, entity: service.entity)
    }

    var gatherStatus: GatherStatus {
        let state: GatherStatus.State
        switch service.gather {
        case .stopped, .starting: state = .stopped
        case .started: state = feedStatus.state == .fix ? .gathering : .waiting
        }
        return GatherStatus(
            state: state, since: gatherSince.milliseconds, lastPointTime: lastPointTime?.milliseconds,
            parkedSince: samplingEntity == nil ? nil : sampler.parkedSince?.milliseconds)
    }

    var feedReport: FeedStatus {
        let state: FeedStatus.State
        var error: String?
        switch feedStatus.state {
        case .stopped: state = .closed
        case .connecting: state = .unreachable
        case .unreachable(let reason), .permissionDenied(let reason): (state, error) = (.unreachable, reason)
        case .noDevice(let reason): (state, error) = (.noDevice, reason)
        case .noFix: state = .noFix
        case .fix: state = .fix
        }
        return FeedStatus(
            state: state, since: feedStatus.since.milliseconds, source: feedStatus.source, device: feedStatus.device,
            lastError: error, lastFix: feedStatus.fix.map { FixReport($0.fix, age: max(0, now - $0.arrival)) })
    }

    var linkStatus: LinkStatus {
        let state: LinkStatus.State
        switch linkWatch.state {
        case .closed: state = .closed
        case .connecting: state = .connecting
        case .handshaking: state = .handshaking
        case .loggingIn: state = .loggingIn
        case .online: state = .online
        case .waiting: state = .waiting
        case .refused: state = .refused
        case .closing: state = .closing
        }
        return LinkStatus(
            state: state, since: linkWatch.since.milliseconds,
            server: "\(configuration.server.host):\(configuration.server.port)", session: linkWatch.session,
            lastError: linkWatch.lastError, lastErrorCause: linkWatch.lastErrorCause?.rawValue,
            nextTryTime: linkWatch.nextTry?.milliseconds,
            attempts: Int64(clamping: uplink.counters.attemptsSinceLogin),
            offlineSince: linkWatch.offline?.since.milliseconds)
    }

    var cacheStatus: CacheStatus {
        var error: String?
        if case .memory(let reason) = snapshot.state { error = "\(reason)" }
        return CacheStatus(
            state: snapshot.isInMemory ? .memory : .disk, lastError: error, directory: configuration.cache.directory,
            points: Int64(clamping: snapshot.points), bytes: Int64(snapshot.usage.diskBytes),
            limit: snapshot.usage.diskLimit.map(Int64.init), firstTime: snapshot.entities.map(\.firstTime).min(),
            lastTime: snapshot.entities.map(\.lastTime).max(),
            unacknowledged: Int64(clamping: uplink.unacknowledgedPoints), timeToFull: timeToFull)
    }

    /// Milliseconds until the bound drops points when none is acknowledged; see ``FillForecast``.
    private var timeToFull: Int64? {
        snapshot.usage.diskLimit.flatMap { forecast.time(toFill: Int64($0 - snapshot.usage.diskBytes), now: now) }
    }

    /// Points lost by reason, those with none among them.
    var losses: [String: UInt64] {
        var lost = snapshot.everyLoss
        lost["disk_hangs"] = tally.lostBusyDisk
        lost["undecodable"] = tally.undecodable
        return lost
    }

    private var countersReport: AgentCounters {
        var skipped = tally.skipped
        for (reason, count) in skippedNow { skipped[reason, default: 0] += count }
        let lost = losses.filter { $0.value > 0 }
        return AgentCounters(
            fixes: Int64(clamping: tally.fixes), gathered: Int64(clamping: tally.gathered),
            uploaded: Int64(clamping: uplink.counters.points),
            acknowledged: Int64(clamping: snapshot.counters.acknowledged),
            refused: Int64(clamping: tally.refused), skipped: skipped.mapValues { Int64(clamping: $0) },
            lost: lost.mapValues { Int64(clamping: $0) }, sessions: Int64(clamping: uplink.counters.sessions),
            hints: Int64(clamping: uplink.counters.hints), lastLossTime: lastLoss?.milliseconds)
    }

    var settingsReport: AgentSettings {
        AgentSettings(
            gatherInterval: Int64(settingsInForce.gatherInterval), packInterval: Int64(settingsInForce.packInterval),
            cacheLimit: settingsInForce.cacheLimit.map(Int64.init),
            desiredAccuracy: settingsInForce.location.desiredAccuracy,
            distanceFilter: settingsInForce.location.distanceFilter,
            activity: AgentControl.Activity(rawValue: settingsInForce.location.activity.rawValue) ?? .other,
            parkingDelay: settingsInForce.location.parking.map { Int64($0.delay) },
            parkingInterval: Int64(settingsInForce.parkingInterval))
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

/// Whether a point gathered now would reach the server without anybody's doing, and in one sentence why or why not.
struct TrackedVerdict: Hashable {
    let isTracked: Bool
    let reason: String

    init(
        service: ServiceMachine.ServiceState, isGathering: Bool, feed: FeedState, link: LinkState,
        isCacheInMemory: Bool
    ) {
        let obstacle = Self.obstacle(service, isGathering, feed)
        isTracked = obstacle == nil
        reason = obstacle ?? Self.way(link, isCacheInMemory)
    }

    private static func obstacle(
        _ service: ServiceMachine.ServiceState, _ isGathering: Bool, _ feed: FeedState
    ) -> String? {
        switch service {
        case .stopped: return "the service is not started: saker service start"
        case .stopping: return "the service is being stopped"
        case .starting, .online, .offline: break
        }
        guard isGathering else { return "gathering is off: saker gather start" }
        switch feed {
        case .fix: return nil
        case .noFix: return "the receiver has no fix yet: antenna, sky view"
        case .noDevice(let reason), .unreachable(let reason), .permissionDenied(let reason): return reason
        case .stopped, .connecting: return "gpsd has not answered yet"
        }
    }

    private static func way(_ link: LinkState, _ isCacheInMemory: Bool) -> String {
        let keeping =
            isCacheInMemory
            ? "points are kept in memory only, because the disk refuses them" : "points are kept on disk"
        switch link {
        case .online: return "points are gathered and uploaded"
        case .connecting, .handshaking, .loggingIn: return "connecting to the server; \(keeping)"
        case .waiting(_, let trouble): return "\(trouble.reason); \(keeping)"
        case .refused(_, let trouble): return "the login is refused: \(trouble.reason); \(keeping)"
        case .closed, .closing: return keeping
        }
    }
}
