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
        case .unconfirmedTime: self = .doubtfulTime
        case .inaccurate: self = .inaccurate
        case .implausible: self = .implausible
        case .unmoved: self = .unmoved
        case .parked: self = .parked
        }
    }
}

extension GapReason {
    /// What became of the process before: `off` with what its last record tells.
    static func off(_ run: RememberedState.Run?, boot: String?) -> GapReason {
        guard let run, let boot else { return .off }
        return switch (run.hasEnded, run.boot == boot) {
        case (true, true): .offByStop
        case (true, false): .offByShutdown
        case (false, true): .offByCrash
        case (false, false): .offByPowerCut
        }
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

extension Sampler.Outcome {
    /// Whether the sampler believes the date of the fix.
    var believesTime: Bool {
        switch self {
        case .skipped(.notLater), .skipped(.unconfirmedTime): false
        case .point, .parked, .departed, .notDue, .skipped: true
        }
    }
}

extension GapMachine.Start {
    /// What the process before left.
    ///
    /// Before the first command the configuration may start the agent: then each process before has gathered.
    /// `boot`: names the present start of the computer; nil: nobody knows it.
    init(
        _ remembered: RememberedState, _ ring: CacheSnapshot, _ service: AgentConfiguration.Service, boot: String?
    ) {
        let isStarted = remembered.target == nil && service.isStartedAtFirstBoot
        let entity = isStarted ? service.entity : remembered.target?.entity
        self.init(
            entity: entity, isGathering: isStarted || remembered.target?.isGathering ?? false,
            stopped: remembered.target?.stoppedBy.flatMap(StopCause.init)?.reason ?? .stopped,
            off: .off(remembered.run, boot: boot), memory: remembered.gap.map(GapMemory.init),
            newest: entity.flatMap { ring.lastTime(of: $0) })
    }
}
