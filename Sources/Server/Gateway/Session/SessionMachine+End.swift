import TrackModel
import TrackWire

/// Deadlines, and how a connection ends.
extension SessionMachine {
    // MARK: Timers

    mutating func timerFired(_ timer: SessionTimer, now: MonotonicTime, clock: Timestamp) -> [Action] {
        switch timer {
        case .phase: phaseDue(now)
        case .pushes: inSession(now) { $0.inPushes(clock) { $0.timerFired(now: now) } }
        case .fences: fencesMayHaveChanged(now: now)
        case .call(let number): inSession(now) { SessionStep($0.calls.timerFired(number, now: now)) }
        }
    }

    private mutating func phaseDue(_ now: MonotonicTime) -> [Action] {
        guard let deadline else { return [] }
        // The timer was set again meanwhile, or its time has not come yet.
        guard now >= deadline else { return [.setTimer(.phase, milliseconds: deadline - now)] }
        switch phase {
        case .gone: return []
        case .handshake: return [.note(.handshakeFailed)] + close(now)
        case .hello: return end(.closing(.protocol, "no hello came in time", retryAfter: 0), now)
        case .login:
            let busy = deadlines.busyRetryAfter
            return end(.closing(.busy, "the store did not answer in time", retryAfter: busy), now)
        case .open(let session):
            let idle = deadlines.idle.milliseconds
            // The server keeps the agent waiting, not the agent the server.
            guard let silent = session.silence(now) else { return [set(idle, now)] }
            guard silent >= idle else { return [set(idle - silent, now)] }
            return end(.closing(.idle, "nothing came for \(silent / 1000) s", retryAfter: 0), now)
        case .closing: return [.cutOff]
        }
    }

    mutating func set(_ delay: Duration, _ now: MonotonicTime) -> Action { set(delay.milliseconds, now) }

    private mutating func set(_ milliseconds: Int64, _ now: MonotonicTime) -> Action {
        deadline = now + milliseconds
        return .setTimer(.phase, milliseconds: milliseconds)
    }

    // MARK: From outside

    /// Takes no further frames. Batches that were submitted are still answered.
    mutating func drain(now: MonotonicTime) -> [Action] {
        inSession(now) { session in
            session.drain()
            return SessionStep()
        }
    }

    /// A newer login has the session's stream.
    mutating func replaced(now: MonotonicTime) -> [Action] {
        let reason = "a newer connection logged in with the same stream"
        return end(.closing(.replaced, reason, retryAfter: 60), now)
    }

    /// The vehicle has newer sessions, and too many.
    mutating func outnumbered(now: MonotonicTime) -> [Action] {
        let reason = "a vehicle has at most \(limits.sessionsOfVehicle) sessions, and newer ones have come"
        return end(.closing(.replaced, reason, retryAfter: 60), now)
    }

    /// The access key of the session does not open its service any more. The next login says so.
    mutating func keyEnded(now: MonotonicTime) -> [Action] {
        end(.closing(.internal, "the access key has ended: log in again", retryAfter: 5), now)
    }

    /// The device of the session was revoked, forgotten or moved. The next login says so.
    mutating func deviceEnded(_ reason: String, now: MonotonicTime) -> [Action] {
        end(.closing(.internal, "\(reason): log in again", retryAfter: 1), now)
    }

    /// The service of the session was deleted. The next login says so.
    mutating func serviceEnded(now: MonotonicTime) -> [Action] {
        end(.closing(.internal, "the service was deleted: log in again", retryAfter: 1), now)
    }

    /// Another computer has the certificate of the session's device too.
    mutating func deviceCloned(_ reason: String, now: MonotonicTime) -> [Action] {
        end(.closing(.cloned, reason, retryAfter: CloneDetector.retryAfter), now)
    }

    /// The gateway closes.
    mutating func stopped(now: MonotonicTime) -> [Action] {
        end(.closing(.shutdown, "the server stops or restarts", retryAfter: 5), now)
    }

    // MARK: Ending

    /// An event of an open session; nothing in any other phase.
    mutating func inSession(_ now: MonotonicTime, _ event: (inout OpenSession) -> SessionStep) -> [Action] {
        guard case .open(var session) = phase else { return [] }
        // Its collections change in place only while there is no second copy.
        phase = .closing
        let step = event(&session)
        phase = .open(session)
        guard let end = step.end else { return step.actions }
        return step.actions + self.end(end, now)
    }

    /// Tells the peer the reason, as far as the peer understands it in this phase, and closes.
    mutating func end(_ end: SessionEnd, _ now: MonotonicTime) -> [Action] {
        guard !dropsBytes else { return [] }
        switch end {
        case .goodbye: return [.left] + close(now)
        case .violation(let reason):
            return [.note(.violation(reason))] + say(.protocol, reason, retryAfter: 60) + close(now)
        case .closing(let code, let reason, let retryAfter):
            return say(code, reason, retryAfter: retryAfter) + close(now)
        }
    }

    private func say(_ code: ClosingCode, _ reason: String, retryAfter: UInt32) -> [Action] {
        switch phase {
        case .handshake, .closing, .gone: return []
        case .hello, .login:
            let refusal = LoginRefusal(RefusedCode(code), reason, retryAfter: retryAfter)
            let entity: String? = if case .login(let request) = phase { request.entity } else { nil }
            return [.note(.loginEnded(refusal, entity: entity)), .send(refusal.frame)]
        case .open:
            var closing = Closing()
            closing.code = code
            closing.reason = reason
            closing.retryAfter = retryAfter
            return [.send(ServerFrame(.closing(closing)))]
        }
    }

    mutating func close(_ now: MonotonicTime) -> [Action] {
        let left: [Action]
        switch phase {
        case .closing, .gone: return []
        case .handshake, .hello, .login: left = []
        // This comes before the peer can know of the end: a peer that has seen the end finds no session any more.
        case .open(let session): left = session.abandon() + [.unregister]
        }
        phase = .closing
        return left + [set(deadlines.close, now), .close]
    }
}

extension RefusedCode {
    /// What ends a connection before its login.
    fileprivate init(_ code: ClosingCode) {
        self =
            switch code {
            case .protocol: .protocol
            case .busy, .shutdown: .busy
            case .cloned: .cloned
            case .unable: .unable
            case .unspecified, .replaced, .idle, .internal, .UNRECOGNIZED: .internal
            }
    }
}
