internal import TrackModel

/// The steps from one phase to the next.
extension UplinkMachine {
    mutating func connect(now: MonotonicTime) -> [Action] {
        link = LinkID(rawValue: link.rawValue &+ 1)
        attemptedAt = now
        phase = .connecting
        context.counters.attempts &+= 1
        context.counters.attemptsSinceLogin &+= 1
        let limit = timing.connect.addingClamped(timing.handshake)
        // This action is the last, because an attempt that cannot even begin may fail while the action is performed.
        return [context.timers.set(.step, after: limit, now: now)] + report(.connecting) + [.connect(link)]
    }

    /// Runs an event of the session and ends a drain that it completed.
    mutating func inSession(_ event: (inout UplinkSession, inout UplinkContext) -> [Action])
        -> [Action]
    {
        guard case .online(var session) = phase else { return [] }
        let actions = event(&session, &context)
        phase = .online(session)
        guard let stopping, session.isDrained(through: stopping.through) else { return actions }
        return actions + sayGoodbye()
    }

    /// Ends a link from this side and tries again later.
    mutating func giveUp(_ trouble: LinkTrouble, retryAfterSeconds: UInt32 = 0, now: MonotonicTime)
        -> [Action]
    {
        [.closeLink(link)] + retry(trouble, retryAfterSeconds: retryAfterSeconds, now: now)
    }

    /// The link is gone: waits for the next try.
    mutating func retry(_ trouble: LinkTrouble, retryAfterSeconds: UInt32 = 0, now: MonotonicTime) -> [Action] {
        var actions = endSession(now: now) + context.timers.cancelAll()
        if let stopping { return actions + finish(drained: acknowledged >= stopping.through) }
        var floor = min(Int64(retryAfterSeconds) * 1000, timing.longestRetryAfter)
        if trouble.isLasting { floor = max(floor, timing.refused) }
        let delay = backoff.next(atLeast: floor)
        let wait = Wait(
            until: now + delay, notBefore: now + floor,
            isLasting: trouble.isLasting, mayBeTheNetworks: retryAfterSeconds == 0 && trouble.mayBeTheNetworks)
        phase = .waiting(wait)
        actions.append(context.timers.set(.step, after: delay, now: now))
        let state: LinkState =
            wait.isLasting ? .refused(until: wait.until, trouble) : .waiting(until: wait.until, trouble)
        return actions + report(state)
    }

    /// Tries again at a time, or at once when the time is past; never later than planned.
    mutating func shorten(_ wait: Wait, to earliest: MonotonicTime, now: MonotonicTime) -> [Action] {
        guard earliest > now else { return connect(now: now) }
        guard earliest < wait.until else { return [] }
        var shorter = wait
        shorter.until = earliest
        phase = .waiting(shorter)
        let timer = context.timers.set(.step, after: earliest - now, now: now)
        switch state {
        case .waiting(_, let trouble): return [timer] + report(.waiting(until: earliest, trouble))
        case .refused(_, let trouble): return [timer] + report(.refused(until: earliest, trouble))
        case .closed, .connecting, .handshaking, .loggingIn, .online, .closing: return [timer]
        }
    }

    /// Gives up an attempt that is under way for so long, and begins another.
    mutating func startAnew(after age: Int64, now: MonotonicTime) -> [Action] {
        guard now >= attemptedAt + age else { return [] }
        return leave(sayingGoodbye: false, now: now) + connect(now: now)
    }

    /// Leaves the present link in order to make another.
    mutating func leave(sayingGoodbye: Bool, now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if sayingGoodbye, case .online = phase { actions.append(.sendGoodbye) }
        actions.append(.closeLink(link))
        return actions + endSession(now: now) + context.timers.cancelAll()
    }

    /// The end of a drain.
    mutating func sayGoodbye(isDrained: Bool? = nil) -> [Action] {
        guard case .online(var session) = phase else { return finish(drained: false) }
        let drained = isDrained ?? session.isDrained(through: stopping?.through ?? 0)
        let discarded = session.ended()
        acknowledged = max(acknowledged, session.acknowledged)
        return discarded + [.sendGoodbye, .closeLink(link)] + finish(drained: drained)
    }

    mutating func finish(drained: Bool) -> [Action] {
        phase = .off
        stopping = nil
        return context.timers.cancelAll() + report(.closed) + [.finished(drained: drained)]
    }

    mutating func report(_ state: LinkState) -> [Action] {
        guard state != self.state else { return [] }
        self.state = state
        return [.report(state)]
    }

    /// Keeps what a session learned.
    private mutating func endSession(now: MonotonicTime) -> [Action] {
        guard case .online(var session) = phase else { return [] }
        let actions = session.ended()
        acknowledged = max(acknowledged, session.acknowledged)
        ceiling = session.ceiling
        backoff.sessionEnded(after: now - session.since)
        // The session is over: none of its questions may be asked again.
        phase = .connecting
        return actions
    }
}
