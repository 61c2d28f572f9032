import Ingest
import TrackModel
import TrackStore
import TrackWire

/// Decides for one device connection: what is read, answered, stored and waited for. Knows no channel and no clock.
///
/// Every `mutating func` is an event; `now` is read from one clock, `clock` is the server's date. Do the actions in
/// their order. A late or repeated event is normal and does nothing. ``LoginRules`` and ``UploadRules`` decide what
/// frames mean.
struct SessionMachine: Hashable {
    /// Moves down this list only; any phase may go to `closing` and to `gone`.
    enum Phase: Hashable {
        /// TLS.
        case handshake
        /// The next frame must be the Hello.
        case hello
        /// The store is being asked; nothing is read.
        case login(LoginRequest)
        case open(OpenSession)
        /// Bytes that still come are dropped.
        case closing
        /// There is no connection any more.
        case gone
    }

    let limits: GatewayLimits
    let deadlines: GatewayDeadlines
    /// Whether calls are answered over this connection.
    private let offersCalls: Bool
    /// Why nobody gets in over this connection, whatever the clock says by now: TLS has asked for no certificate.
    private let clockProblem: String?
    var phase = Phase.handshake
    /// Of the phase.
    var deadline: MonotonicTime?
    /// When the connection was taken.
    private var began: MonotonicTime?
    /// Whose certificate TLS has verified.
    private var peer: DevicePeer?
    /// The channel takes what is written.
    private var isWritable = true

    init(limits: GatewayLimits, deadlines: GatewayDeadlines, offersCalls: Bool, clockProblem: String? = nil) {
        self.clockProblem = clockProblem
        self.limits = limits
        self.deadlines = deadlines
        self.offersCalls = offersCalls
    }

    // MARK: Reading

    /// Whether a frame may be taken now; otherwise it waits in the decoder, and more bytes wait in the kernel.
    var takesFrames: Bool {
        switch phase {
        case .handshake, .hello: true
        case .login, .closing, .gone: false
        case .open(let session): isWritable && session.takesFrames
        }
    }

    /// Whether bytes are dropped as they come: TLS waits for the peer's goodbye.
    var dropsBytes: Bool {
        switch phase {
        case .handshake, .hello, .login, .open: false
        case .closing, .gone: true
        }
    }

    // MARK: The connection

    /// The connection was accepted.
    mutating func opened(isWritable: Bool, now: MonotonicTime) -> [Action] {
        self.isWritable = isWritable
        began = now
        return [set(deadlines.handshake, now)]
    }

    /// TLS stands. `isOurs`: the client speaks this protocol. `peer`: the device whose certificate the client has shown.
    mutating func handshakeCompleted(isOurs: Bool, peer: DevicePeer? = nil, now: MonotonicTime) -> [Action] {
        guard case .handshake = phase else { return [] }
        self.peer = peer
        guard isOurs else { return [.note(.handshakeFailed)] + close(now) }
        phase = .hello
        return [set(deadlines.login, now)]
    }

    mutating func writabilityChanged(_ isWritable: Bool) -> [Action] {
        self.isWritable = isWritable
        return []
    }

    /// The connection or TLS failed.
    mutating func failed(now: MonotonicTime) -> [Action] {
        guard case .handshake = phase else { return close(now) }
        return [.note(.handshakeFailed)] + close(now)
    }

    /// The connection has ended.
    mutating func gone() -> [Action] {
        switch phase {
        case .gone: return []
        case .handshake, .hello, .login, .closing:
            phase = .gone
            return [.abandon, .forget]
        case .open(let session):
            phase = .gone
            return session.abandon() + [.abandon, .unregister, .forget]
        }
    }

    // MARK: Frames

    /// A whole message.
    mutating func received(_ frame: ClientFrame, now: MonotonicTime, clock: Timestamp) -> [Action] {
        switch phase {
        case .hello: return greeted(frame, now)
        case .open: return inSession(now) { $0.received(frame, now: now, clock: clock) }
        // A client speaks after the handshake; TLS delivers nothing before it.
        case .handshake, .login: return end(.violation("a frame before its time"), now)
        case .closing, .gone: return []
        }
    }

    /// The bytes that came are no frame of the protocol.
    mutating func malformed(_ reason: String, now: MonotonicTime) -> [Action] { end(.violation(reason), now) }

    private mutating func greeted(_ frame: ClientFrame, _ now: MonotonicTime) -> [Action] {
        guard case .hello(let hello)? = frame.message else {
            return end(.violation("the first frame must be a hello"), now)
        }
        if let clockProblem {
            let refusal = LoginRefusal(.unable, clockProblem, retryAfter: deadlines.busyRetryAfter)
            return refuse(refusal, entity: hello.entity, now)
        }
        do throws(LoginRefusal) {
            var request = try LoginRules.check(hello, from: peer)
            if peer != nil, !hello.boot.isEmpty, let began {
                request.arrival = DeviceArrival(boot: hello.bootBytes, connected: began, greeted: now)
            }
            phase = .login(request)
            return [set(deadlines.login, now), .admit(request)]
        } catch {
            return refuse(error, entity: hello.entity, now)
        }
    }

    // MARK: Login

    /// The store's answer to the login. `session`: the number that it has from now on; `barrier`: why nobody may come
    /// now.
    mutating func admitted(
        _ result: Result<AcceptedLogin, LoginRefusal>, session number: UInt64, barrier: Barrier?, now: MonotonicTime,
        clock: Timestamp
    ) -> [Action] {
        guard case .login(let request) = phase else { return [] }
        switch barrier {
        case .stopping?:
            let refusal = LoginRefusal(.busy, "the server stops or restarts", retryAfter: 5)
            return refuse(refusal, entity: request.entity, now)
        case .clockWrong(let reason)?:
            let refusal = LoginRefusal(.unable, reason, retryAfter: deadlines.busyRetryAfter)
            return refuse(refusal, entity: request.entity, now)
        case .crowded?:
            let reason = "the server has as many sessions as it may have: ask its operator for more connections"
            let refusal = LoginRefusal(.busy, reason, retryAfter: 60)
            return refuse(refusal, entity: request.entity, now)
        case nil: break
        }
        switch result {
        case .failure(let refusal): return refuse(refusal, entity: request.entity, now)
        case .success(let admission):
            let session = OpenSession(
                request, admission, limits: limits, deadlines: deadlines, offersCalls: offersCalls, now: now)
            phase = .open(session)
            let welcome = Welcome(admission, to: request, session: number, limits, deadlines, at: clock)
            return [
                .register(request, began: clock), .acceptFrames(upTo: limits.frameBytes), set(deadlines.idle, now),
                .note(.loggedIn(agentVersion: request.agentVersion)), .send(ServerFrame(.welcome(welcome))),
            ] + pushesMayWait(now: now, clock: clock) + fencesMayHaveChanged(now: now)
        }
    }

    private mutating func refuse(_ refusal: LoginRefusal, entity: String, _ now: MonotonicTime) -> [Action] {
        [.note(.loginRefused(refusal, entity: entity)), .send(refusal.frame)] + close(now)
    }
}

/// Answers of the writer, the store and the calls.
extension SessionMachine {
    // MARK: The writer

    /// The answer to `reserve`.
    mutating func reserved(
        _ reservation: Reservation, cost: Int, _ answer: ReservationAnswer, now: MonotonicTime, clock: Timestamp
    ) -> [Action] {
        guard case .open = phase else { return answer == .granted ? [.release(cost: cost)] : [] }
        return inSession(now) { $0.reserved(reservation, cost: cost, answer, clock: clock) }
    }

    /// A reservation that failed before may succeed now.
    mutating func spaceIsFree(now: MonotonicTime) -> [Action] { inSession(now) { $0.proceed() } }

    /// A transaction has ended.
    mutating func settled(_ jobs: [SettledJob], now: MonotonicTime, clock: Timestamp) -> [Action] {
        // A failure that comes after the end must not change the session any more.
        guard case .open = phase else { return [.forget] }
        return inSession(now) { $0.settled(jobs, clock: clock) }
    }

    /// The points of the ranges that the store was asked for; nil: it failed.
    mutating func placesFound(_ places: [Timestamp: Coordinate]?, now: MonotonicTime) -> [Action] {
        inSession(now) { $0.placesFound(places) }
    }

    mutating func streamOpened(_ result: Result<StreamClaim, IngestFailure>, now: MonotonicTime) -> [Action] {
        inSession(now) { $0.streamOpened(result) }
    }

    // MARK: Calls

    /// The answer to `startCall`: false when too many are at work.
    mutating func callStarted(_ number: UInt64, _ isStarted: Bool, now: MonotonicTime) -> [Action] {
        guard case .open = phase else { return isStarted ? [.cancelCall(number)] : [] }
        return inSession(now) { SessionStep($0.calls.started(number, isStarted, now: now)) }
    }

    mutating func callAnswered(_ number: UInt64, status: Int32, json: String, now: MonotonicTime) -> [Action] {
        inSession(now) { SessionStep($0.calls.answered(number, status: status, json: json)) }
    }

    // MARK: Pushes

    /// The session begins, or something was queued for its entity.
    mutating func pushesMayWait(now: MonotonicTime, clock: Timestamp) -> [Action] {
        inSession(now) { $0.inPushes(clock) { $0.mayWait(now: now) } }
    }

    /// The pushes that the store had; nil: the store failed.
    mutating func pushesLoaded(
        _ found: (through: StoreCursor, pushes: [PendingPush])?, now: MonotonicTime, clock: Timestamp
    ) -> [Action] {
        inSession(now) { session in
            session.inPushes(clock) { pushes in
                guard let found else { return pushes.loadFailed(now: now) }
                return pushes.loaded(found.pushes, through: found.through, now: now)
            }
        }
    }

    /// Another session of the entity has acknowledged them.
    mutating func pushesSettled(_ ids: [UInt64], now: MonotonicTime, clock: Timestamp) -> [Action] {
        inSession(now) { $0.inPushes(clock) { $0.settledElsewhere(ids, now: now) } }
    }

    // MARK: Fences

    /// The session begins, or fences that concern its entity may have changed.
    mutating func fencesMayHaveChanged(now: MonotonicTime) -> [Action] {
        inSession(now) { $0.inFences { $0.mayHaveChanged() } }
    }

    /// The answer to `loadFences`.
    mutating func fencesLoaded(_ answer: FenceAnswer, now: MonotonicTime) -> [Action] {
        inSession(now) { session in
            session.inFences { feed in
                switch answer {
                case .update(let update): feed.loaded(update)
                case .failed: feed.failed()
                }
            }
        }
    }

    /// The actions that send the next part of fences; nil when there is none.
    mutating func nextFences(now: MonotonicTime) -> [Action]? {
        guard case .open(var session) = phase else { return nil }
        phase = .closing
        let step = session.nextFences()
        phase = .open(session)
        return step?.actions
    }
}
