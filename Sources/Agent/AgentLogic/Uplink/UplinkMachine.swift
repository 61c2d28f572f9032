package import TrackModel

/// Decides for the long connection: when to connect, what to send, when to give a link up. Knows no bytes and no clock.
///
/// Every `mutating func` is an event; `now` is read from one clock. Do the actions in
/// their order. A late or repeated event is normal and does nothing. Decisions: docs/decisions/0003-gathering-and-uplink.md.
package struct UplinkMachine: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Make a TCP and TLS connection. The outcome comes back as `transportConnected`, `connected` or
        /// `connectFailed`.
        case connect(LinkID)
        /// Send the login: the cache's stream, first and next sequence as they are now.
        case sendHello(LinkID)
        /// Give the cache the number of the welcome (`DiskRing.confirm`), then tell `cacheConfirmed`.
        case confirmCache(LinkID, storedThrough: UInt64)
        /// Read points from the cache and encode them. The outcome comes back as `batchRead`. Keep the bytes until
        /// `sendUpload` or `discard`. At most one read at a time. `maximumBytes` is of payload in the cache; points of
        /// one entity, consecutive.
        case read(ReadID, after: UInt64, maximumPoints: Int, maximumBytes: Int)
        /// Send the batch of that read.
        case sendUpload(ReadID, first: UInt64, count: Int)
        /// Forget the batch of that read: its points will be read again.
        case discard(ReadID)
        /// The server owns everything up to this sequence: `DiskRing.acknowledge`.
        case acknowledgeCache(through: UInt64)
        /// With the vehicle's health, if the server takes it.
        case sendHeartbeat
        /// Send a live hint, because the points that wait before the newest one will take a while. It is no probe.
        case sendLiveHint
        case sendGoodbye
        /// Close the link when the earlier frames have left, or are stuck. No event of this link counts any more.
        case closeLink(LinkID)
        /// The server claims to have points that were never sent. Log it.
        case serverAhead(through: UInt64)
        /// Call `timerFired` once after this time; replaces an earlier timer of the same name.
        case setTimer(UplinkTimer, milliseconds: Int64)
        case cancelTimer(UplinkTimer)
        /// The state of the connection changed: for the status and ``ServiceMachine/uplinkChanged(_:)``.
        case report(LinkState)
        /// After a stop: the uplink is off. `drained`: everything asked for has reached the server.
        case finished(drained: Bool)
    }

    /// The outcome of a read of the cache.
    package enum ReadOutcome: Hashable, Sendable {
        /// Points `first ..< first + count`, encoded in this many bytes.
        case batch(first: UInt64, count: Int, bytes: Int)
        /// The cache has no point after the sequence number.
        case nothing
        /// The cache cannot be read now. The machine asks again in two seconds.
        case unreadable

        func discarding(_ id: ReadID) -> [Action] {
            switch self {
            case .batch: [.discard(id)]
            case .nothing, .unreadable: []
            }
        }
    }

    enum Phase: Hashable, Sendable {
        /// To `connecting`.
        case off
        /// To `handshaking`, `loggingIn`, `waiting`, `off`.
        case connecting
        /// To `loggingIn`, `connecting`, `waiting`, `off`.
        case handshaking
        /// To `online`, `connecting`, `waiting`, `off`.
        case loggingIn
        /// To `connecting`, `waiting`, `off`.
        case online(UplinkSession)
        /// To `connecting`, `off`.
        case waiting(Wait)
    }

    struct Wait: Hashable, Sendable {
        var until: MonotonicTime
        /// The wait must not be cut short before this time, because the server asked for it.
        let notBefore: MonotonicTime
        /// Only another configuration cuts the wait short.
        let isLasting: Bool
        /// Another network cuts the wait short too.
        var mayBeTheNetworks = false
    }

    struct Stop: Hashable, Sendable {
        let through: UInt64
        var deadline: MonotonicTime
    }

    var phase = Phase.off
    var context: UplinkContext
    var backoff: Backoff
    var schedule: PackSchedule
    /// The present link, or the last one.
    var link = LinkID(rawValue: 0)
    var attemptedAt = MonotonicTime.distantPast
    var stopping: Stop?
    var acknowledged: UInt64 = 0
    var next: UInt64 = 1
    var ceiling = UplinkLimits().batchPoints

    package internal(set) var state = LinkState.closed
    package var counters: UplinkCounters { context.counters }
    package var timing: UplinkTiming { context.timing }

    /// Intervals in seconds as ``Settings`` has checked them; `seed` is random, and the same in a repeated run.
    ///
    /// `sendsLiveHint`: whether a live hint goes ahead of a backlog (docs/decisions/0009-live-hint.md).
    package init(
        gatherInterval: Int, packInterval: Int, seed: UInt64, timing: UplinkTiming = UplinkTiming(),
        sendsLiveHint: Bool = false
    ) {
        context = UplinkContext(timing: timing, sendsLiveHint: sendsLiveHint)
        backoff = Backoff(range: timing.backoff, seed: seed)
        schedule = PackSchedule(gather: gatherInterval, pack: packInterval)
    }

    /// What the server allows on the present link; nil without one.
    package var limits: UplinkLimits? {
        guard case .online(let session) = phase else { return nil }
        return session.window.limits
    }

    /// Points sent and not yet acknowledged.
    package var unacknowledgedPoints: Int {
        guard case .online(let session) = phase else { return 0 }
        return session.window.points
    }

    // MARK: Wanted or not

    /// The service starts. `first` and `next`: the cache's `firstSequence` and `nextSequence`.
    package mutating func start(first: UInt64, next: UInt64, now: MonotonicTime) -> [Action] {
        guard case .off = phase else { return [] }
        acknowledged = first == 0 ? 0 : first - 1
        self.next = next
        backoff.reset()
        return connect(now: now)
    }

    /// The service stops. Online: uploads everything up to a sequence, until the deadline at the latest, and says
    /// goodbye; otherwise it just stops. One `finished` always follows, also when the uplink is off already.
    package mutating func stop(drainThrough: UInt64, deadline: MonotonicTime, now: MonotonicTime) -> [Action] {
        if var stop = stopping {
            stop.deadline = min(stop.deadline, deadline)
            stopping = stop
            return [context.timers.set(.drain, after: max(stop.deadline - now, 0), now: now)]
        }
        switch phase {
        case .off: return [.finished(drained: acknowledged >= drainThrough)]
        case .connecting, .handshaking, .loggingIn:
            return [.closeLink(link)] + finish(drained: acknowledged >= drainThrough)
        case .waiting: return finish(drained: acknowledged >= drainThrough)
        case .online(var session):
            stopping = Stop(through: drainThrough, deadline: deadline)
            let actions = session.drain(now: now, in: &context)
            phase = .online(session)
            if session.isDrained(through: drainThrough) || deadline <= now {
                return actions + sayGoodbye()
            }
            let timer = context.timers.set(.drain, after: deadline - now, now: now)
            return actions + [timer] + report(.closing)
        }
    }

    /// A person or a program wants a new connection: it is tried at once, whatever the agent waits for, but a second after the attempt
    /// before at the earliest: a program that asks without end is no flood for the server. An attempt that began just now goes on.
    package mutating func reconnectRequested(now: MonotonicTime) -> [Action] {
        switch phase {
        case .off, .loggingIn: return []
        case .connecting, .handshaking: return startAnew(after: timing.networkChange, now: now)
        case .waiting(let wait): return shorten(wait, to: attemptedAt + timing.networkChange, now: now)
        case .online:
            return stopping == nil ? leave(sayingGoodbye: true, now: now) + connect(now: now) : []
        }
    }

    /// A wait ends now; an attempt that is under way goes on, and so does a connection.
    package mutating func loginRequested(now: MonotonicTime) -> [Action] {
        guard case .waiting = phase else { return [] }
        return reconnectRequested(now: now)
    }

    /// Addresses or routes changed. It makes no sense to wait any longer, and a link may be dead.
    package mutating func networkChanged(now: MonotonicTime) -> [Action] {
        switch phase {
        case .off, .loggingIn: return []
        // The attempt may wait for a name server, or for an answer, that only the network before could reach.
        case .connecting, .handshaking: return startAnew(after: timing.staleAttempt, now: now)
        case .waiting(let wait):
            let earliest = attemptedAt + timing.networkChange
            if wait.mayBeTheNetworks { return shorten(wait, to: earliest, now: now) }
            if wait.isLasting { return [] }
            return shorten(wait, to: max(wait.notBefore, earliest), now: now)
        case .online: return inSession { $0.probe(now: now, in: &$1) }
        }
    }

    /// Server, key or certificates may be others now: everything that was learned about them is void.
    package mutating func configurationChanged(now: MonotonicTime) -> [Action] {
        guard stopping == nil else { return [] }
        backoff.reset()
        switch phase {
        case .off: return []
        case .waiting: return connect(now: now)
        case .connecting, .handshaking, .loggingIn, .online:
            return leave(sayingGoodbye: true, now: now) + connect(now: now)
        }
    }

    /// The certificates, or the time at which they are judged, are others now: what failed may succeed. A connection that
    /// stands goes on, and so does a wait that the server asked for.
    package mutating func trustChanged(now: MonotonicTime) -> [Action] {
        guard stopping == nil, case .waiting(let wait) = phase else { return [] }
        return shorten(wait, to: wait.isLasting ? now : wait.notBefore, now: now)
    }

    // MARK: Timers

    package mutating func timerFired(_ timer: UplinkTimer, now: MonotonicTime) -> [Action] {
        switch context.timers.fired(timer, now: now) {
        case .stale: return []
        case .early(let again): return [again]
        case .due: break
        }
        switch timer {
        case .step: return stepDue(now: now)
        case .heartbeat: return inSession { $0.heartbeatDue(now: now, in: &$1) }
        case .health: return inSession { $0.healthDue(now: now, in: &$1) }
        case .pack: return inSession { $0.packDue(now: now, in: &$1) }
        case .drain: return stopping == nil ? [] : sayGoodbye()
        case .acknowledgement:
            guard case .online(var session) = phase else { return [] }
            let actions = session.acknowledgementDue(now: now, in: &context)
            phase = .online(session)
            if let actions { return actions }
            context.counters.deadLinks &+= 1
            let reason = "the server has not answered for \(timing.acknowledgement / 1000) s"
            return giveUp(LinkTrouble(.timeout, reason), now: now)
        }
    }

    private mutating func stepDue(now: MonotonicTime) -> [Action] {
        switch phase {
        case .off, .online: return []
        case .waiting: return connect(now: now)
        case .connecting:
            return giveUp(
                LinkTrouble(
                    .timeout, "no connection within \((timing.connect + timing.handshake) / 1000) s",
                    cause: .connectTimeout), now: now)
        case .handshaking:
            return giveUp(
                LinkTrouble(
                    .timeout, "no TLS session within \(timing.handshake / 1000) s", cause: .handshakeTimeout), now: now)
        case .loggingIn:
            let reason = "the server has not answered the login within \(timing.login / 1000) s"
            return giveUp(LinkTrouble(.timeout, reason, cause: .loginTimeout), now: now)
        }
    }
}

/// The timers of an ``UplinkMachine``.
package enum UplinkTimer: Hashable, Sendable, CaseIterable {
    /// The deadline of connecting, handshake or login; the end of a wait.
    case step
    /// An answer is overdue.
    case acknowledgement
    case heartbeat
    /// The next report of the vehicle's health.
    case health
    /// Points wait for the rest of their pack; or the cache is to be read again.
    case pack
    /// The time limit of the last upload.
    case drain
}

/// Knows which timers run. So no timer is cancelled in vain, and a timer that fires late or early does no harm.
struct TimerSet: Hashable, Sendable {
    enum Firing: Hashable {
        /// The timer was cancelled meanwhile.
        case stale
        /// The timer was set again meanwhile, or its time has not come yet.
        case early(UplinkMachine.Action)
        case due
    }

    private var deadlines: [UplinkTimer: MonotonicTime] = [:]

    func isArmed(_ timer: UplinkTimer) -> Bool { deadlines[timer] != nil }

    mutating func set(_ timer: UplinkTimer, after milliseconds: Int64, now: MonotonicTime)
        -> UplinkMachine.Action
    {
        let delay = max(milliseconds, 0)
        deadlines[timer] = now + delay
        return .setTimer(timer, milliseconds: delay)
    }

    mutating func cancel(_ timer: UplinkTimer) -> [UplinkMachine.Action] {
        deadlines.removeValue(forKey: timer) == nil ? [] : [.cancelTimer(timer)]
    }

    mutating func cancelAll() -> [UplinkMachine.Action] {
        UplinkTimer.allCases.flatMap { cancel($0) }
    }

    mutating func fired(_ timer: UplinkTimer, now: MonotonicTime) -> Firing {
        guard let deadline = deadlines[timer] else { return .stale }
        guard now >= deadline else { return .early(.setTimer(timer, milliseconds: deadline - now)) }
        deadlines[timer] = nil
        return .due
    }
}

/// What an ``UplinkMachine`` keeps across sessions. Each session works with it.
struct UplinkContext: Hashable, Sendable {
    var counters = UplinkCounters()
    var timers = TimerSet()
    let timing: UplinkTiming
    /// Whether live hints are sent.
    var sendsLiveHint = false
    /// The owner has a point for a live hint: one was appended since this machine was made.
    var hasLiveHint = false
}
