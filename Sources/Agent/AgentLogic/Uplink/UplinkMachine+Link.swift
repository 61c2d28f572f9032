package import TrackModel

/// Events of the connection.
extension UplinkMachine {
    /// TCP is up; TLS begins, with a deadline of its own. May be left out: until then one deadline covers both.
    package mutating func transportConnected(_ link: LinkID, now: MonotonicTime) -> [Action] {
        guard link == self.link, case .connecting = phase else { return [] }
        phase = .handshaking
        return [context.timers.set(.step, after: timing.handshake, now: now)] + report(.handshaking)
    }

    /// TCP and TLS are up.
    package mutating func connected(_ link: LinkID, now: MonotonicTime) -> [Action] {
        guard link == self.link else { return [] }
        switch phase {
        case .off, .loggingIn, .online, .waiting: return []
        case .connecting, .handshaking: break
        }
        phase = .loggingIn
        return [.sendHello(link), context.timers.set(.step, after: timing.login, now: now)]
            + report(.loggingIn)
    }

    /// The connection could not be made; there is nothing to close. A refused client certificate is `.authentication`.
    package mutating func connectFailed(_ link: LinkID, _ trouble: LinkTrouble, now: MonotonicTime)
        -> [Action]
    {
        linkClosed(link, trouble, now: now)
    }

    /// The link ended by itself; there is nothing to close.
    package mutating func linkClosed(_ link: LinkID, _ trouble: LinkTrouble, now: MonotonicTime) -> [Action] {
        guard isCurrent(link) else { return [] }
        return retry(trouble, now: now)
    }

    /// The peer broke the protocol: the link cannot be used any more.
    package mutating func protocolViolated(_ link: LinkID, reason: String, now: MonotonicTime) -> [Action] {
        guard isCurrent(link) else { return [] }
        return giveUp(LinkTrouble(.protocolViolation, reason), now: now)
    }

    /// The login succeeded. `heartbeatSeconds`: 0 for the default of a minute. `healthSeconds`: between two reports of the
    /// vehicle's health; 0: the server takes none.
    package mutating func welcome(
        _ link: LinkID, storedThrough: UInt64, heartbeatSeconds: UInt32, healthSeconds: UInt32 = 0,
        limits: UplinkLimits, now: MonotonicTime
    ) -> [Action] {
        guard link == self.link, case .loggingIn = phase else { return frameReceived(link, now: now) }
        let seconds = heartbeatSeconds == 0 ? 60 : min(max(heartbeatSeconds, 5), 3600)
        let session = UplinkSession(
            link: link, limits: limits, heartbeatInterval: Int64(seconds) * 1000,
            healthInterval: healthSeconds == 0 ? 0 : Int64(min(max(healthSeconds, 5), 3600)) * 1000, schedule: schedule,
            ceiling: min(ceiling, limits.batchPoints), next: next, now: now)
        context.counters.sessions &+= 1
        context.counters.attemptsSinceLogin = 0
        var actions = context.timers.cancel(.step)
        actions.append(context.timers.set(.heartbeat, after: session.heartbeatInterval, now: now))
        if storedThrough >= max(next, 1) {
            context.counters.serverAhead &+= 1
            actions.append(.serverAhead(through: storedThrough))
        }
        phase = .online(session)
        return actions + [.confirmCache(link, storedThrough: storedThrough)] + report(.online)
    }

    /// The login failed. `trouble`: `.authentication` and `.parameter` are lasting: tried again in five minutes at the
    /// earliest. `retryAfterSeconds`: 0 leaves it to the agent.
    package mutating func refused(
        _ link: LinkID, _ trouble: LinkTrouble, retryAfterSeconds: UInt32, now: MonotonicTime
    ) -> [Action] {
        guard isCurrent(link) else { return [] }
        context.counters.refusals &+= 1
        return giveUp(trouble, retryAfterSeconds: retryAfterSeconds, now: now)
    }

    /// The server closes on purpose.
    package mutating func closing(
        _ link: LinkID, _ trouble: LinkTrouble, retryAfterSeconds: UInt32, now: MonotonicTime
    ) -> [Action] {
        guard isCurrent(link) else { return [] }
        return giveUp(trouble, retryAfterSeconds: retryAfterSeconds, now: now)
    }

    /// Any frame that has no event of its own.
    package mutating func frameReceived(_ link: LinkID, now: MonotonicTime) -> [Action] {
        guard isCurrent(link) else { return [] }
        return inSession { $0.received(now: now, in: &$1) }
    }

    /// The owner sent a frame that no action of this machine asked for. After it no heartbeat is needed.
    package mutating func frameSent(_ link: LinkID, now: MonotonicTime) {
        guard isCurrent(link), case .online(var session) = phase else { return }
        session.frameSent(now: now)
        phase = .online(session)
    }

    /// Bytes have come, and they are no whole frame yet.
    package mutating func frameArriving(_ link: LinkID, now: MonotonicTime) {
        guard isCurrent(link), case .online(var session) = phase else { return }
        session.frameArriving(now: now)
        phase = .online(session)
    }

    /// An answer that the owner waits for is overdue. A heartbeat finds out whether the link is dead.
    package mutating func answerOverdue(now: MonotonicTime) -> [Action] {
        inSession { $0.probe(now: now, in: &$1) }
    }

    /// The vehicle's health has changed in a way that an operator should hear of.
    package mutating func healthChanged(now: MonotonicTime) -> [Action] {
        inSession { $0.healthChanged(now: now, in: &$1) }
    }

    /// Everything up to a sequence is committed.
    package mutating func uploadAcknowledged(_ link: LinkID, through: UInt64, now: MonotonicTime) -> [Action] {
        guard isCurrent(link) else { return [] }
        return inSession { $0.uploadAcknowledged(through: through, now: now, in: &$1) }
    }

    /// Whether events of this link still count.
    private func isCurrent(_ link: LinkID) -> Bool {
        guard link == self.link else { return false }
        switch phase {
        case .off, .waiting: return false
        case .connecting, .handshaking, .loggingIn, .online: return true
        }
    }
}

/// Events of the cache.
extension UplinkMachine {
    /// Points were appended, or numbered anew: `next` is the cache's `nextSequence`. Smaller than before means late.
    package mutating func pointsAppended(next: UInt64, now: MonotonicTime) -> [Action] {
        context.hasLiveHint = true
        guard next > self.next else { return [] }
        self.next = next
        return inSession { $0.appended(next: next, now: now, in: &$1) }
    }

    /// The answer to `confirmCache`: the cache's `firstSequence` and `nextSequence` now; reading begins there.
    package mutating func cacheConfirmed(
        _ link: LinkID, first: UInt64, next: UInt64, isNewStream: Bool, now: MonotonicTime
    ) -> [Action] {
        guard link == self.link, case .online = phase else { return [] }
        if isNewStream { return streamChanged(first: first, next: next, now: now) }
        self.next = next
        acknowledged = first == 0 ? 0 : first - 1
        return inSession { $0.confirmed(first: first, next: next, now: now, in: &$1) }
    }

    /// The cache numbers its points in another stream now. All known sequence numbers are void, and the stream needs
    /// another login.
    package mutating func streamChanged(first: UInt64, next: UInt64, now: MonotonicTime) -> [Action] {
        switch phase {
        case .off, .connecting, .handshaking, .waiting:
            acknowledged = first == 0 ? 0 : first - 1
            self.next = next
            return []
        case .loggingIn, .online:
            // The sequence number to drain to belonged to the other stream.
            if stopping != nil { return sayGoodbye(isDrained: false) }
            let actions = leave(sayingGoodbye: true, now: now)
            acknowledged = first == 0 ? 0 : first - 1
            self.next = next
            return actions + connect(now: now)
        }
    }

    /// The result of a `read`.
    package mutating func batchRead(_ id: ReadID, _ outcome: ReadOutcome, now: MonotonicTime) -> [Action] {
        guard case .online(let session) = phase, id.link == session.link else {
            return outcome.discarding(id)
        }
        return inSession { $0.batchRead(id, outcome, now: now, in: &$1) }
    }

    /// Seconds, as ``Settings`` has checked them.
    package mutating func intervalsChanged(gather: Int, pack: Int, now: MonotonicTime) -> [Action] {
        schedule.setIntervals(gather: gather, pack: pack)
        return inSession { $0.intervalsChanged(gather: gather, pack: pack, now: now, in: &$1) }
    }
}

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
