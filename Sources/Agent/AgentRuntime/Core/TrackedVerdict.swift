internal import AgentLogic
internal import GNSSFeed
internal import TrackModel

/// What the shells know that decides whether the vehicle is tracked.
struct TrackedFacts {
    /// Points that are lost now, as one clause, and since when.
    struct Loss: Hashable {
        let reason: String
        let since: MonotonicTime
    }

    var now: MonotonicTime
    var service: ServiceMachine.ServiceState
    var isGathering: Bool
    /// When gathering ended; while gathering, without a meaning.
    var notGatheringSince: MonotonicTime
    var feed: FeedState
    /// Milliseconds since the receiver sent anything.
    var unheard: Int64 = 0
    /// A point was made since gathering began.
    var hasPoint: Bool
    /// Nil: points are made as often as they should be.
    var silence: PointProgressMonitor.Silence?
    /// Fixes and reports since the last point that made none, by what rejected them.
    var rejected: [TrackingObstacle: UInt64] = [:]
    /// Fixes since the last point that made none because the vehicle stands still within its distance filter.
    var unmoved: UInt64 = 0
    /// Nil: the receiver's date and the computer's clock agree, or nobody knows.
    var dates: DateTrouble?
    var datesSince = MonotonicTime.distantPast
    var isCacheInMemory: Bool
    var loss: Loss?
    var link: LinkState
    /// What keeps the vehicle from a session until a person helps, and since when.
    var refusal: (trouble: LinkTrouble, since: MonotonicTime)?
    /// Seconds until the vehicle's own certificate ends, negative when it has ended; nil: it has none, or no clock can be believed.
    var certificateLeft: Int64?
}

/// Whether a point that is gathered now will reach the server without help from a person, and one sentence that says why.
///
/// One pure function of what all shells know. It judges points, not states: while they are wanted and the vehicle is not parked, a
/// vehicle that makes none for a while is not tracked, whatever the states of its parts say.
struct TrackedVerdict: Hashable {
    struct Obstacle: Hashable {
        let kind: TrackingObstacle
        /// One clause for people: what it is, and what to do.
        let text: String
        let since: MonotonicTime
        /// Fixes that it rejected since the last point.
        var rejected: UInt64 = 0
    }

    /// The first one to mend first; empty: the vehicle is tracked.
    let obstacles: [Obstacle]
    let reason: String

    var isTracked: Bool { obstacles.isEmpty }

    init(_ facts: TrackedFacts) {
        obstacles = [Self.making(facts), Self.keeping(facts)].compactMap(\.self) + Self.sending(facts)
        reason =
            obstacles.isEmpty
            ? Self.way(facts) : obstacles.map(\.text).joined(separator: "; ")
    }

    // MARK: Points are made

    private static func making(_ facts: TrackedFacts) -> Obstacle? {
        func obstacle(_ kind: TrackingObstacle, _ text: String) -> Obstacle {
            Obstacle(kind: kind, text: text, since: facts.notGatheringSince)
        }
        switch facts.service {
        case .stopped: return obstacle(.serviceStopped, "the service is not started: saker service start")
        case .stopping: return obstacle(.serviceStopped, "the service is being stopped")
        case .starting, .online, .offline: break
        }
        guard facts.isGathering else { return obstacle(.gatheringOff, "gathering is off: saker gather start") }
        return receiving(facts) ?? facts.silence.map { choosing($0, facts) }
    }

    private static func receiving(_ facts: TrackedFacts) -> Obstacle? {
        let since = facts.silence?.since ?? facts.now
        func away(_ reason: String) -> Obstacle { Obstacle(kind: .noReceiver, text: reason, since: since) }
        switch facts.feed {
        case .fix: return undatable(facts)
        case .noDevice(let reason), .unreachable(let reason), .permissionDenied(let reason): return away(reason)
        // Points were made a moment ago, and a tunnel or a new connection to gpsd ends by itself.
        case .noFix, .stopped, .connecting:
            if facts.hasPoint, facts.silence == nil { return nil }
            if let silence = facts.silence, let cause = silence.obstacle { return rejecting(cause, silence, facts) }
            return facts.feed == .noFix
                ? Obstacle(kind: .noFix, text: noFix(facts), since: since) : away("gpsd has not answered yet")
        }
    }

    /// A fix without a date makes no point, whether one was made a moment ago or not.
    private static func undatable(_ facts: TrackedFacts) -> Obstacle? {
        guard facts.silence == nil, let dates = facts.dates else { return nil }
        func obstacle(_ kind: TrackingObstacle) -> Obstacle {
            Obstacle(kind: kind, text: "\(dates)", since: facts.datesSince, rejected: facts.rejected[kind] ?? 0)
        }
        switch dates {
        case .missing(isClockUsed: false): return obstacle(.noTime)
        case .standing(_, isClockUsed: false): return obstacle(.clockStands)
        default: return nil
        }
    }

    /// Milliseconds without a word after which a receiver is silent, and does not just look for its position: they send each second.
    private static let wordless: Int64 = 10_000

    private static func noFix(_ facts: TrackedFacts) -> String {
        if facts.unheard >= wordless {
            return
                "the receiver has sent nothing for \(facts.unheard / 1000) s: is it plugged in and switched on? Or its antenna has no sky view"
        }
        guard facts.hasPoint, let silence = facts.silence else {
            return "the receiver has no fix yet: antenna, sky view"
        }
        return
            "the receiver has no fix, and no point was made for \((facts.now - silence.since) / 1000) s: antenna, sky view"
    }

    /// Fixes come, and no points.
    private static func choosing(_ silence: PointProgressMonitor.Silence, _ facts: TrackedFacts) -> Obstacle {
        rejecting(silence.obstacle ?? .noPoints, silence, facts)
    }

    private static func rejecting(
        _ cause: TrackingObstacle, _ silence: PointProgressMonitor.Silence, _ facts: TrackedFacts
    ) -> Obstacle {
        // The date explains why the times of the fixes are rejected.
        let isDate = facts.dates != nil && [.notLater, .unconfirmedTime].contains(cause)
        let why = isDate ? facts.dates.map { "\($0.observation); \(cause.text(silence.rejected))" } : nil
        return Obstacle(
            kind: isDate ? .wrongDate : cause,
            text: "no point for \((facts.now - silence.since) / 1000) s: "
                + (why ?? cause.text(silence.rejected)) + remedy(cause),
            since: silence.since, rejected: silence.rejected)
    }

    private static func remedy(_ cause: TrackingObstacle) -> String {
        switch cause {
        case .inaccurate: " (saker settings location --desired-accuracy)"
        case .implausible: " (saker settings location --activity)"
        default: ""
        }
    }

    // MARK: Points are kept

    private static func keeping(_ facts: TrackedFacts) -> Obstacle? {
        facts.loss.map { Obstacle(kind: .losingPoints, text: "points are lost: \($0.reason)", since: $0.since) }
    }

    // MARK: Points are sent

    private static func sending(_ facts: TrackedFacts) -> [Obstacle] {
        // Before the service is started nothing is sent anyway.
        switch facts.service {
        case .stopped, .stopping: return []
        case .starting, .online, .offline: break
        }
        var found: [Obstacle] = []
        if let refusal = facts.refusal {
            let trouble = refusal.trouble
            let who =
                switch trouble.cause {
                case .credentialsUnusable: "no connection can be made"
                case .serverUnable: "the server takes no points"
                default: trouble.isOwnRefusal ? "this vehicle refuses the server" : "the login is refused"
                }
            found.append(
                Obstacle(
                    kind: .loginRefused,
                    text: "\(who): \(trouble.reason); \(keptText(facts)); what to do: saker doctor",
                    since: refusal.since))
        }
        if let left = facts.certificateLeft, left < 0 {
            found.append(
                Obstacle(
                    kind: .certificateEnded, text: "this vehicle's own certificate has ended: sudo saker renew",
                    since: facts.now + left.clampedMilliseconds))
        }
        return found
    }

    // MARK: Tracked

    private static func way(_ facts: TrackedFacts) -> String {
        let remarks = [
            facts.unmoved > 0
                ? "the vehicle stands still, and the distance filter lets \(facts.unmoved == 1 ? "1 fix" : "\(facts.unmoved) fixes") make no point"
                : nil,
            facts.feed == .noFix ? "the receiver has lost its fix a moment ago" : nil,
            facts.dates.map { "\($0)" },
        ]
        return ([link(facts)] + remarks.compactMap(\.self)).joined(separator: "; ")
    }

    private static func link(_ facts: TrackedFacts) -> String {
        let kept = keptText(facts)
        switch facts.link {
        case .online: return "points are gathered and uploaded"
        case .connecting, .handshaking, .loggingIn: return "connecting to the server; \(kept)"
        case .waiting(_, let trouble), .refused(_, let trouble): return "\(trouble.reason); \(kept)"
        case .closed, .closing: return kept
        }
    }

    private static func keptText(_ facts: TrackedFacts) -> String {
        facts.isCacheInMemory
            ? "points are kept in memory only, because the disk refuses them" : "points are kept on disk"
    }
}

extension Int64 {
    /// Seconds as milliseconds.
    fileprivate var clampedMilliseconds: Int64 {
        let (product, isTooMuch) = multipliedReportingOverflow(by: 1000)
        return isTooMuch ? (self < 0 ? .min : .max) : product
    }
}
