import Ingest
import TrackModel
import TrackStore
import TrackWire

/// A session from its Welcome to its end.
struct OpenSession: Hashable {
    private let rules: UploadRules
    private let deadlines: GatewayDeadlines
    private var claims: SessionClaims
    private var window: SessionWindow
    private var intake = FrameIntake.free
    private var hints = PendingHints()
    var calls: SessionCalls
    private var pushes: PushMachine
    /// Nil: the agent takes no server fences.
    private var fences: FenceFeed?
    private var lastFrame: MonotonicTime
    /// Takes no further frames.
    private var isDraining = false
    /// Whether the log says that this session sends attributes that are no columns: a program on a vehicle may give the same
    /// one with every point.
    private var hasToldIgnored = false
    /// Whether the log says that another agent uses the stream.
    private var hasToldShared = false

    init(
        _ request: LoginRequest, _ admission: AcceptedLogin, limits: GatewayLimits, deadlines: GatewayDeadlines,
        offersCalls: Bool, now: MonotonicTime
    ) {
        rules = UploadRules(
            service: request.service, entity: request.entity, stream: request.stream, limits: limits,
            schema: admission.columns.schema, entities: admission.entities)
        self.deadlines = deadlines
        let entity = EntityKey(service: request.service, name: request.entity)
        claims = SessionClaims(request.stream, of: entity, admission.claim)
        window = SessionWindow(limits: limits)
        calls = SessionCalls(limits, timeout: deadlines.call, isOffered: offersCalls)
        pushes = PushMachine(limits: limits.pushes)
        fences = request.fenceFormat > 0 ? FenceFeed(version: request.fenceVersion) : nil
        lastFrame = now
    }

    // MARK: Reading

    var takesFrames: Bool { window.isOpen && !calls.isFull && intake == .free && !isDraining }

    /// Milliseconds since the last frame; nil while it is the gateway that keeps the agent waiting.
    func silence(_ now: MonotonicTime) -> Int64? {
        window.isEmpty && calls.isEmpty && intake == .free && !isDraining ? now - lastFrame : nil
    }

    mutating func drain() { isDraining = true }

    mutating func received(_ frame: ClientFrame, now: MonotonicTime, clock: Timestamp) -> SessionStep {
        lastFrame = now
        switch frame.message {
        case .upload(let upload)?: return take(.upload(upload))
        case .points(let points)?: return take(.points(points))
        case .call(let call)?: return SessionStep(calls.received(call))
        case .heartbeat(let heartbeat)?: return received(heartbeat, clock)
        case .pushAck(let acknowledgement)?:
            return inPushes(clock) { $0.acknowledged(acknowledgement.ids, now: now) }
        case .goodbye?: return SessionStep(end: .goodbye)
        case .fenceRequest(let request)?:
            guard fences != nil else {
                return SessionStep(end: .violation("a request for fences without a fence_format"))
            }
            guard let place = Coordinate(latitudeE7: request.latitudeE7, longitudeE7: request.longitudeE7) else {
                return SessionStep(end: .violation("a request for fences around no place on earth"))
            }
            return inFences { $0.asked(around: place) }
        case .alarmUpload(let upload)?:
            guard fences != nil else { return SessionStep(end: .violation("alarms without a fence_format")) }
            return take(.alarms(upload))
        case .hello?: return SessionStep(end: .violation("a second hello on one connection"))
        case nil: return SessionStep(end: .violation("a frame of an unknown kind"))
        }
    }

    // MARK: Points

    private mutating func take(_ frame: FrameIntake.Frame) -> SessionStep {
        intake = .held(frame)
        return proceed()
    }

    /// Claims the entity and asks for memory before the payload is decoded; without them the frame is held and nothing is
    /// read.
    mutating func proceed() -> SessionStep {
        guard case .held(let frame) = intake else { return SessionStep() }
        if case .upload(let upload) = frame {
            let entity: EntityKey
            do throws(ProtocolViolation) {
                entity = try rules.entity(of: upload)
            } catch {
                return SessionStep(end: .violation(error.reason))
            }
            switch claims.step(for: entity, isIdle: window.isEmpty) {
            case .submit: break
            case .wait: return SessionStep()
            case .open: return SessionStep([.openStream(rules.stream, of: entity)])
            }
        }
        let cost = frame.cost(batchPoints: rules.limits.batchPoints)
        intake = .asking(frame, cost: cost)
        return SessionStep([.reserve(.frame, cost: cost)])
    }

    mutating func streamOpened(_ result: Result<StreamClaim, IngestFailure>) -> SessionStep {
        switch result {
        case .success(let claim):
            claims.opened(claim)
            return proceed()
        case .failure(let failure): return SessionStep(end: SessionEnd(failure, busy: deadlines.busyRetryAfter))
        }
    }

    mutating func reserved(
        _ reservation: SessionMachine.Reservation, cost: Int, _ answer: SessionMachine.ReservationAnswer,
        clock: Timestamp
    ) -> SessionStep {
        let unused = SessionStep(answer == .granted ? [.release(cost: cost)] : [])
        switch reservation {
        case .hint:
            guard let point = hints.reserved(isGranted: answer == .granted) else { return unused }
            let batch = IngestBatch(
                service: rules.service, entity: rules.entity, position: nil, points: [], sequences: [], payload: nil,
                received: clock, hint: point)
            let ticket = window.submitted(.hint, bytes: 0)
            return SessionStep([.submit(ticket: ticket, batch, cost: cost)])
        case .frame:
            guard case .asking(let frame, cost) = intake else { return unused }
            switch answer {
            case .granted:
                intake = .free
                return submit(frame, cost: cost, clock)
            case .later:
                intake = .held(frame)
                return SessionStep()
            // By this clock the server would refuse genuine points for good.
            case .clockWrong(let reason):
                return SessionStep(end: .closing(.unable, reason, retryAfter: deadlines.busyRetryAfter))
            }
        }
    }

    private mutating func submit(_ frame: FrameIntake.Frame, cost: Int, _ clock: Timestamp) -> SessionStep {
        switch frame {
        case .upload(let upload):
            do throws(ProtocolViolation) {
                var checked = try rules.check(upload, at: clock)
                let entity = try rules.entity(of: upload)
                checked.batch.position = claims.position(
                    of: entity, first: upload.firstSequence, count: upload.count)
                let stored = claims.base(of: entity)
                let doubtful = checked.batch.times(through: stored)
                guard doubtful.isEmpty else {
                    intake = .verifying(checked, payloadBytes: frame.payloadBytes, cost: cost, through: stored)
                    return SessionStep([.findPlaces(of: entity, doubtful)])
                }
                let submission = Submission.upload(refusals: checked.refusals)
                return submit(checked, as: submission, payloadBytes: frame.payloadBytes, cost: cost)
            } catch {
                return SessionStep([.release(cost: cost)], end: .violation(error.reason))
            }
        case .points(let points):
            let checked: CheckedBatch
            do throws(ProtocolViolation) {
                checked = try rules.check(points, at: clock)
            } catch {
                let reply = Acknowledgement.refusal(id: points.id, error: error.reason)
                return SessionStep([.release(cost: cost), .send(reply)])
            }
            let stored = checked.batch.points.count
            guard stored > 0 else {
                let reply = Acknowledgement.reply(id: points.id, stored: 0, refusals: checked.refusals)
                let note = SessionNote.pointsRefused(
                    checked.refusals.count, ahead: checked.aheadCount, firstReason: nil)
                return SessionStep([.note(note), .release(cost: cost), .send(reply)])
            }
            let submission = Submission.points(id: points.id, stored: stored, refusals: checked.refusals)
            return submit(checked, as: submission, payloadBytes: frame.payloadBytes, cost: cost)
        case .alarms(let upload):
            do throws(ProtocolViolation) {
                let (batch, refusals) = try rules.check(upload, at: clock)
                guard !batch.alarms.isEmpty else {
                    return SessionStep([
                        .release(cost: cost), .send(Acknowledgement.alarms(id: upload.id, refusals: refusals)),
                    ])
                }
                let submission = Submission.alarms(id: upload.id, refusals: refusals)
                let ticket = window.submitted(submission, bytes: frame.payloadBytes)
                return SessionStep([.submit(ticket: ticket, batch, cost: cost)])
            } catch {
                return SessionStep([.release(cost: cost)], end: .violation(error.reason))
            }
        }
    }

    /// A batch is acknowledged for what is stored, not for its sequences alone: two agents from one disk image number other
    /// points alike. What the store does not have is stored as points of no stream. Where it has another point of the same
    /// time, that point stays, and the agent hears that its own was refused.
    mutating func placesFound(_ places: [Timestamp: Coordinate]?) -> SessionStep {
        guard case .verifying(var checked, let payloadBytes, let cost, let stored) = intake else {
            return SessionStep()
        }
        guard let places else {
            return SessionStep(end: SessionEnd(.busy, busy: deadlines.busyRetryAfter))
        }
        intake = .free
        var rescued = checked.batch
        // The session that replaces this one looks for the same points: this one must not store them after that.
        rescued.heldClaim = checked.batch.position.map { HeldClaim(stream: $0.stream, epoch: $0.epoch) }
        rescued.position = nil
        rescued.payload = nil
        rescued.sequences = []
        rescued.points = []
        var refused: [PointRefusal] = []
        for (point, sequence) in zip(checked.batch.points, checked.batch.sequences) where sequence <= stored {
            switch places[point.fix.time] {
            case nil: rescued.points.append(point)
            case point.fix.coordinate?: break
            case .some:
                refused.append(
                    PointRefusal(
                        number: sequence, reason: "another agent with this entity and stream has a point of this time"))
            }
        }
        var actions: [SessionMachine.Action] = []
        if !rescued.points.isEmpty || !refused.isEmpty {
            actions.append(
                .note(.streamShared(rescued: rescued.points.count, refused: refused.count, isFirst: !hasToldShared)))
            hasToldShared = true
        }
        if !rescued.points.isEmpty {
            // Its memory is the batch's, which is reserved.
            actions.append(.submit(ticket: window.submitted(.rescued, bytes: 0), rescued, cost: 0))
        }
        checked.refusals += refused
        let submission = Submission.upload(refusals: checked.refusals)
        return SessionStep(actions) + submit(checked, as: submission, payloadBytes: payloadBytes, cost: cost)
    }

    /// Gives back the memory that is reserved for a frame that will not be submitted.
    func abandon() -> [SessionMachine.Action] {
        guard case .verifying(_, _, let cost, _) = intake else { return [] }
        return [.release(cost: cost)]
    }

    private mutating func submit(
        _ checked: CheckedBatch, as submission: Submission, payloadBytes: Int, cost: Int
    ) -> SessionStep {
        var actions: [SessionMachine.Action] = []
        if let first = checked.refusals.first {
            actions.append(
                .note(
                    .pointsRefused(checked.refusals.count, ahead: checked.aheadCount, firstReason: first.reason)))
        }
        if !checked.ignoredKeys.isEmpty {
            actions.append(.note(.attributesIgnored(checked.ignoredKeys, isFirst: !hasToldIgnored)))
            hasToldIgnored = true
        }
        let ticket = window.submitted(submission, bytes: payloadBytes)
        return SessionStep(actions + [.submit(ticket: ticket, checked.batch, cost: cost)])
    }

    mutating func settled(_ jobs: [SettledJob], clock: Timestamp) -> SessionStep {
        let settled = jobs.compactMap { job in
            window.settled(job.ticket).map { (submission: $0.leavingOut(job.untold), result: job.result) }
        }
        var actions: [SessionMachine.Action] = []
        for (submission, _) in settled where submission == .hint {
            if let waiting = hints.settled() { actions += arrived(waiting, clock) }
        }
        let (messages, failure) = Acknowledgement.messages(for: settled)
        actions += messages.map { .send($0) }
        if let failure { return SessionStep(actions, end: SessionEnd(failure, busy: deadlines.busyRetryAfter)) }
        return SessionStep(actions) + proceed()
    }

    // MARK: Live hints

    private mutating func received(_ heartbeat: Heartbeat, _ clock: Timestamp) -> SessionStep {
        var actions: [SessionMachine.Action] = []
        if !heartbeat.liveHintBytes.isEmpty {
            do throws(ProtocolViolation) {
                actions = arrived(try rules.checkLiveHint(heartbeat.liveHintBytes), clock)
            } catch {
                return SessionStep(end: .violation(error.reason))
            }
        }
        return SessionStep(actions + [.heard(heartbeat.report), .send(ServerFrame(.heartbeat(Heartbeat())))])
    }

    private mutating func arrived(_ point: TrackPoint, _ clock: Timestamp) -> [SessionMachine.Action] {
        guard PointRules.problem(with: point, at: clock, lead: rules.limits.pointLead) == nil else {
            return [.note(.hintRefused)]
        }
        return [.show(point)] + hints.arrived(point)
    }

    // MARK: Pushes

    /// An event of the pushes.
    mutating func inPushes(_ clock: Timestamp, _ event: (inout PushMachine) -> [PushMachine.Action]) -> SessionStep {
        var actions: [SessionMachine.Action] = []
        var outcomes: [PushOutcomeWriter.Outcome] = []
        for action in event(&pushes) {
            switch action {
            case .load(let cursor, let limit): actions.append(.loadPushes(after: cursor, limit: limit))
            case .send(let push): actions.append(.sendPush(Push(push)))
            case .settle(let push, let outcome):
                let isKnown = outcome == .acknowledged
                actions.append(.note(isKnown ? .pushAcknowledged : .pushGivenUp(id: push.id, type: push.type)))
                outcomes.append(
                    PushOutcomeWriter.Outcome(
                        service: rules.service, entity: rules.entity,
                        settlement: PushSettlement(id: push.id, outcome: outcome, time: clock)))
            case .setTimer(let milliseconds): actions.append(.setTimer(.pushes, milliseconds: milliseconds))
            case .cancelTimer: actions.append(.cancelTimer(.pushes))
            }
        }
        return SessionStep(outcomes.isEmpty ? actions : actions + [.settlePushes(outcomes)])
    }

    // MARK: Fences

    /// An event of the fences; nothing when the agent takes none.
    mutating func inFences(_ event: (inout FenceFeed) -> [FenceFeed.Action]) -> SessionStep {
        guard var feed = fences else { return SessionStep() }
        let actions = event(&feed)
        fences = feed
        return SessionStep(actions.map(SessionMachine.Action.init))
    }

    /// The next part of fences for the agent; nil when there is none.
    mutating func nextFences() -> SessionStep? {
        guard var feed = fences, feed.hasParts else { return nil }
        let (part, actions) = feed.next()
        fences = feed
        guard let part else { return nil }
        return SessionStep([.send(ServerFrame(.fenceUpdate(part)))] + actions.map(SessionMachine.Action.init))
    }
}

extension SessionMachine.Action {
    fileprivate init(_ action: FenceFeed.Action) {
        self =
            switch action {
            case .load(let version, let place): .loadFences(since: version, around: place)
            case .send: .sendFences
            case .setTimer(let milliseconds): .setTimer(.fences, milliseconds: milliseconds)
            }
    }
}
