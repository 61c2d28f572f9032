internal import AgentControl
internal import AgentLogic
internal import GNSSFeed
internal import TrackModel

// What the parts of gathering mean for the gaps of a track.

extension GapReason {
    /// Nil: fixes come.
    init?(of state: FeedState) {
        switch state {
        case .stopped, .connecting, .unreachable, .permissionDenied, .noDevice: self = .noReceiver
        case .noFix: self = .noFix
        case .fix: return nil
        }
    }

    /// Nil: the fix says nothing of why there is no point.
    init?(of reason: Sampler.SkipReason) {
        switch reason {
        case .notLater: return nil
        case .unconfirmedTime, .withoutTime, .clockStands: self = .doubtfulTime
        case .inaccurate: self = .inaccurate
        case .implausible: self = .implausible
        case .unmoved: self = .unmoved
        case .parked: self = .parked
        }
    }
}

extension GapReason {
    /// What became of the process before: `off` with what its last record tells.
    static func off(_ run: DurableState.Run?, boot: String?) -> GapReason {
        guard let run, let boot else { return .off }
        return switch (run.hasEnded, run.boot == boot) {
        case (true, true): .offByStop
        case (true, false): .offByShutdown
        case (false, true): .offByCrash
        case (false, false): .offByPowerCut
        }
    }
}

extension DurableState {
    /// More ends of processes are not told apart.
    private static let maximumOffs = 6

    /// Why the agent was off until now, in order. A process that ended before it made a point leaves what it knew: with the power
    /// gone first and the process killed then, each has its part of the gap.
    static func offs(_ run: Run?, boot: String?) -> [Off] {
        let reason = GapReason.off(run, boot: boot).rawValue
        guard let run, let boot, run.boot == boot, let began = run.began, let before = run.before, !before.isEmpty
        else {
            return [Off(reason: reason)]
        }
        return before.prefix(1) + before.dropFirst().suffix(maximumOffs - 2) + [Off(reason: reason, since: began)]
    }
}

extension StopCause {
    var reason: GapReason {
        switch self {
        case .person: .stoppedByPerson
        case .hook: .stoppedByHook
        case .server: .stoppedByServer
        }
    }
}

extension GapMachine.Start {
    /// What the process before left.
    ///
    /// Before the first command the configuration may start the agent: then each process before has gathered.
    /// `boot`: names the present start of the computer; nil: nobody knows it.
    init(
        _ remembered: DurableState, _ ring: CacheSnapshot, _ service: AgentConfiguration.Service, boot: String?
    ) {
        let isStarted = remembered.target == nil && service.isStartedAtFirstBoot
        let entity = isStarted ? service.entity : remembered.target?.entity
        self.init(
            entity: entity, isGathering: isStarted || remembered.target?.isGathering ?? false,
            stopped: remembered.target?.stoppedBy.flatMap(StopCause.init)?.reason ?? .stopped,
            off: DurableState.offs(remembered.run, boot: boot).compactMap { part in
                guard part.reason > 0 else { return nil }
                let since = part.since.map { MonotonicTime(milliseconds: $0) } ?? .distantPast
                return GapMachine.Off(reason: GapReason(rawValue: part.reason), since: since)
            }, memory: remembered.gap.map(OpenGap.init),
            newest: entity.flatMap { ring.lastTime(of: $0) })
    }
}

extension FeedState {
    /// Nobody listens to a receiver, or gpsd has none. False also while gpsd is away: its receiver is the same afterwards.
    var hasNoReceiver: Bool {
        switch self {
        case .stopped, .noDevice: true
        case .connecting, .unreachable, .permissionDenied, .noFix, .fix: false
        }
    }
}
