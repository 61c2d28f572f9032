internal import TrackModel

/// Controls the service and gathering: what the mobile SDK calls start and stop, with every outcome named.
///
/// Knows no connection and no receiver. Every `mutating func` is an event; do the actions in their order. Each request is
/// answered exactly once.
package struct ServiceMachine: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Run the uplink as this entity: `UplinkMachine.start`.
        case startUplink(entity: String)
        /// The service runs as this entity from now on: the login says it. `atOnce`: log in now; otherwise at the time of the
        /// next try.
        case changeEntity(String, atOnce: Bool)
        /// Do not wait for the time of the next try: `UplinkMachine.loginRequested`.
        case logInNow
        /// Wait until the points that are still on their way are in the cache. Then call `UplinkMachine.stop` with this
        /// many milliseconds at most to upload them. Its `finished` comes back as
        /// ``ServiceMachine/uplinkStopped(drained:)``.
        case stopUplink(drainMilliseconds: Int64)
        /// Open the gpsd watch. Its news come back as ``ServiceMachine/locationChanged(_:)``.
        case openFeed
        /// Close it.
        case closeFeed
        /// True: from now on fixes go to the sampler; restart the sampler. False: they no longer do; flush the epoch
        /// first.
        case setGathering(Bool)
        case reply(RequestID, ServiceReply)
        /// Make the target outlive a restart.
        case persist(TargetState)
        /// Call ``ServiceMachine/timerFired(_:)`` once after this time; replaces an earlier timer of the same name.
        case setTimer(Timer, milliseconds: Int64)
        case cancelTimer(Timer)
    }

    package enum Timer: Hashable, Sendable, CaseIterable {
        case startAnswer
        case gatherAnswer
    }

    /// Milliseconds to wait for the event that decides an answer.
    package struct Timing: Hashable, Sendable {
        /// For the login; then "start service" is answered with success but offline.
        package var startAnswer: Int64 = 5000
        /// For the receiver; then "start gather" is answered with location off.
        package var gatherAnswer: Int64 = 2000
        /// The default time limit of "stop service" for uploading.
        package var drain: Int64 = 10_000

        package init() {}
    }

    package enum ServiceState: Hashable, Sendable {
        /// To `starting`.
        case stopped
        /// Started, and the first connection is being made. To `online`, `offline`, `stopping`, `stopped`.
        case starting(entity: String)
        /// To `offline`, `stopping`.
        case online(entity: String)
        /// The uplink tries again by itself. To `online`, `stopping`.
        case offline(entity: String, LinkTrouble)
        /// The uplink drains and closes. To `stopped`.
        case stopping(entity: String)
    }

    package enum GatherState: Hashable, Sendable {
        case stopped
        /// The machine waits for the feed to say whether there is a receiver.
        case starting(RequestID)
        case started
    }

    package private(set) var state = ServiceState.stopped
    package private(set) var gather = GatherState.stopped
    package private(set) var location = LocationState.unknown
    /// What to resume at the next boot.
    package private(set) var target = TargetState()
    package let timing: Timing

    private var startRequest: RequestID?
    /// As which entity the service ran before the start that is being answered; nil: it never ran.
    private var formerEntity: String?
    /// Somebody who waits for an answer has named the entity.
    private var isEntityChosen = false
    /// The server has named another entity since the last login.
    private var isEntityTaken = false
    private var stopRequest: RequestID?
    private var keepAlive: Bool
    private var isFeedOpen = false
    /// Who starts gathering wants it also without a receiver.
    private var keepsTrying = false

    package init(keepAlive: Bool = false, timing: Timing = Timing()) {
        self.keepAlive = keepAlive
        self.timing = timing
    }

    /// The entity of the running service.
    package var entity: String? {
        switch state {
        case .stopped: nil
        case .starting(let entity), .online(let entity), .offline(let entity, _), .stopping(let entity):
            entity
        }
    }

    // MARK: Service

    /// At boot: resumes what the agent was told last. Nobody waits for an answer. Call it once, before everything else.
    ///
    /// A receiver that is missing at boot does not end gathering: gathering goes on when the receiver is there.
    package mutating func restore(_ target: TargetState) -> [Action] {
        guard case .stopped = state else { return [] }
        self.target = target
        guard target.isServiceStarted, let entity = target.entity,
            EntityName.problem(with: entity) == nil
        else {
            return []
        }
        state = .starting(entity: entity)
        var actions: [Action] = [.startUplink(entity: entity)]
        if target.isGathering {
            gather = .started
            actions.append(.setGathering(true))
        }
        return actions + updateFeed()
    }

    /// `isChosen`: the caller has named the entity. Then he is told when the server says another one.
    package mutating func startService(entity: String, isChosen: Bool = true, request: RequestID) -> [Action] {
        switch state {
        case .stopped: break
        case .starting:
            // At boot nobody waits: for the caller the service runs already.
            return [reply(request, startRequest == nil ? .alreadyStarted : .inProgress)]
        case .stopping: return [reply(request, .inProgress)]
        case .online: return [reply(request, .alreadyStarted)]
        // The cause may have been mended a moment ago, at the server perhaps.
        case .offline: return [.logInNow, reply(request, .alreadyStarted)]
        }
        if let problem = EntityName.problem(with: entity) {
            return [reply(request, .parameterError(reason: problem))]
        }
        state = .starting(entity: entity)
        startRequest = request
        isEntityChosen = isChosen
        formerEntity = target.entity
        // The timer first: starting the uplink may answer at once.
        let actions: [Action] = [
            persist(TargetState(entity: entity, isServiceStarted: true)),
            .setTimer(.startAnswer, milliseconds: timing.startAnswer), .startUplink(entity: entity),
        ]
        return actions + updateFeed()
    }

    /// `drainMilliseconds`: nil for the default; 0 or less: nothing is uploaded.
    package mutating func stopService(request: RequestID, drainMilliseconds: Int64? = nil) -> [Action] {
        switch state {
        case .stopped: return [.reply(request, .stopService(.notYetStarted))]
        case .stopping:
            // A start has failed, and nobody has asked for a stop yet: this caller hears when the service has stopped.
            guard stopRequest == nil else { return [.reply(request, .stopService(.inProgress))] }
            stopRequest = request
            // Not the entity of the start that has failed.
            return [persist(TargetState(entity: target.entity))]
        case .starting, .online, .offline:
            stopRequest = request
            let persisted = persist(TargetState(entity: entity))
            return [persisted] + beginStopping(drainMilliseconds ?? timing.drain)
        }
    }

    /// Call it with the state of every `UplinkMachine.Action.report`.
    package mutating func uplinkChanged(_ link: LinkState) -> [Action] {
        let entity: String
        switch state {
        case .stopped, .stopping: return []
        case .starting(let current), .online(let current), .offline(let current, _): entity = current
        }
        switch link {
        case .closed, .connecting, .handshaking, .loggingIn, .closing:
            // The link still tries. A link that was online says `waiting` or `connecting` when it is lost.
            if case .online = state { state = .offline(entity: entity, .reconnecting) }
            return []
        case .online:
            state = .online(entity: entity)
            isEntityTaken = false
            return answerStart(.success)
        case .refused(_, let trouble):
            return takeEntity(trouble, inPlaceOf: entity) ?? troubled(entity, trouble)
        case .waiting(_, let trouble): return troubled(entity, trouble)
        }
    }

    /// The server says which entity a device is, for somebody has put the box into another vehicle. Points of before keep their
    /// entity. A server that names one after the other is obeyed at the pace of its refusals.
    private mutating func takeEntity(_ trouble: LinkTrouble, inPlaceOf entity: String) -> [Action]? {
        guard let new = trouble.entity, !new.utf8.elementsEqual(entity.utf8), EntityName.problem(with: new) == nil,
            startRequest == nil || !isEntityChosen
        else { return nil }
        let atOnce = !isEntityTaken
        isEntityTaken = true
        state = startRequest == nil ? .offline(entity: new, trouble) : .starting(entity: new)
        let isGathering = gather == .started
        let persisted = persist(
            TargetState(entity: new, isServiceStarted: true, isGathering: isGathering))
        return (isGathering ? [.setGathering(false)] : []) + [.changeEntity(new, atOnce: atOnce), persisted]
            + (isGathering ? [.setGathering(true)] : [])
    }

    private mutating func troubled(_ entity: String, _ trouble: LinkTrouble) -> [Action] {
        state = .offline(entity: entity, trouble)
        guard startRequest != nil else { return [] }
        switch trouble.kind {
        case .authentication: return answerStart(.authenticationError(reason: trouble.reason))
        case .parameter:
            // Only another start with other parameters can help, and that needs a stopped service.
            return answerStart(.parameterError(reason: trouble.reason)) + abandonStart()
        // Points are gathered and kept meanwhile; a reload or other files mend the configuration.
        case .configuration: return answerStart(.internalError(reason: trouble.reason))
        case .network where trouble.cause == .nameResolution:
            return answerStart(.networkError(reason: trouble.reason))
        case .network, .timeout, .tls, .protocolViolation, .server:
            return answerStart(.successButOffline(reason: trouble.reason))
        }
    }

    /// `UplinkMachine.Action.finished`.
    package mutating func uplinkStopped(drained: Bool) -> [Action] {
        guard case .stopping = state else { return [] }
        state = .stopped
        defer { stopRequest = nil }
        let answer = stopRequest.map { Action.reply($0, .stopService(.success(drained: drained))) }
        return [answer].compactMap(\.self) + updateFeed()
    }

    private mutating func beginStopping(_ drainMilliseconds: Int64) -> [Action] {
        guard let entity else { return [] }
        var actions = answerStart(
            .successButOffline(reason: "the service was stopped before the server answered"))
        actions += endGathering("the service was stopped while gathering started")
        state = .stopping(entity: entity)
        actions.append(.stopUplink(drainMilliseconds: max(drainMilliseconds, 0)))
        return actions + updateFeed()
    }

    /// A start has failed: nothing is uploaded and nothing is gathered. A later start is as the entity of before again, because
    /// the refused one helps nobody.
    private mutating func abandonStart() -> [Action] {
        guard let entity else { return [] }
        var actions = [persist(TargetState(entity: formerEntity ?? entity))]
        actions += endGathering("the service could not be started")
        state = .stopping(entity: entity)
        return actions + [.stopUplink(drainMilliseconds: 0)] + updateFeed()
    }

    private mutating func answerStart(_ outcome: StartServiceOutcome) -> [Action] {
        guard let request = startRequest else { return [] }
        startRequest = nil
        return [.cancelTimer(.startAnswer), reply(request, outcome)]
    }

    private func reply(_ request: RequestID, _ outcome: StartServiceOutcome) -> Action {
        .reply(request, .startService(outcome))
    }

    private mutating func persist(_ target: TargetState) -> Action {
        self.target = target
        return .persist(target)
    }

    // MARK: Gathering

    /// `keepsTrying`: gathering starts without a receiver too, as it does at boot.
    package mutating func startGather(request: RequestID, keepsTrying: Bool = false) -> [Action] {
        switch state {
        case .stopped, .stopping: return [.reply(request, .startGather(.serviceNotStarted))]
        case .starting, .online, .offline: break
        }
        guard case .stopped = gather else { return [.reply(request, .startGather(.alreadyStarted))] }
        gather = .starting(request)
        self.keepsTrying = keepsTrying
        if location != .unknown, isFeedOpen { return decideGathering() }
        return [.setTimer(.gatherAnswer, milliseconds: timing.gatherAnswer)] + updateFeed()
    }

    package mutating func stopGather(request: RequestID) -> [Action] {
        if case .stopped = gather { return [.reply(request, .stopGather(.notYetStarted))] }
        let actions = endGathering("gathering was stopped while it started")
        let persisted = persist(TargetState(entity: entity, isServiceStarted: true))
        return actions + [persisted, .reply(request, .stopGather(.success))] + updateFeed()
    }

    /// The feed has found out whether there is a receiver, or has lost the receiver again.
    package mutating func locationChanged(_ location: LocationState) -> [Action] {
        guard isFeedOpen else { return [] }
        self.location = location
        return decideGathering()
    }

    package mutating func keepAliveChanged(_ keepAlive: Bool) -> [Action] {
        self.keepAlive = keepAlive
        return updateFeed()
    }

    package mutating func timerFired(_ timer: Timer) -> [Action] {
        switch timer {
        case .startAnswer:
            guard startRequest != nil, case .starting(let entity) = state else { return [] }
            let trouble = LinkTrouble(.timeout, "the server has not answered yet")
            state = .offline(entity: entity, trouble)
            return answerStart(.successButOffline(reason: trouble.reason))
        case .gatherAnswer:
            guard case .starting = gather else { return [] }
            let reason = "gpsd has not answered yet: is it running?"
            return withoutReceiver(reason, .locationOff(reason: reason))
        }
    }

    /// Answers a start of gathering when the state of the location decides the answer.
    private mutating func decideGathering() -> [Action] {
        guard case .starting(let request) = gather else { return [] }
        switch location {
        case .unknown: return []
        case .off(let reason): return withoutReceiver(reason, .locationOff(reason: reason))
        case .forbidden(let reason): return withoutReceiver(reason, .permissionDenied(reason: reason))
        case .failed(let reason): return withoutReceiver(reason, .internalError(reason: reason))
        case .available: return beginGathering(request, .success)
        }
    }

    private mutating func withoutReceiver(_ reason: String, _ refusal: StartGatherOutcome) -> [Action] {
        guard keepsTrying, case .starting(let request) = gather else { return refuseGathering(refusal) }
        return beginGathering(request, .successWithoutReceiver(reason: reason))
    }

    private mutating func beginGathering(_ request: RequestID, _ outcome: StartGatherOutcome) -> [Action] {
        gather = .started
        let persisted = persist(TargetState(entity: entity, isServiceStarted: true, isGathering: true))
        return [.cancelTimer(.gatherAnswer), .setGathering(true), persisted, .reply(request, .startGather(outcome))]
    }

    private mutating func refuseGathering(_ outcome: StartGatherOutcome) -> [Action] {
        guard case .starting(let request) = gather else { return [] }
        gather = .stopped
        return [.cancelTimer(.gatherAnswer), .reply(request, .startGather(outcome))] + updateFeed()
    }

    private mutating func endGathering(_ reason: String) -> [Action] {
        switch gather {
        case .stopped: return []
        case .starting: return refuseGathering(.internalError(reason: reason))
        case .started:
            gather = .stopped
            return [.setGathering(false)]
        }
    }

    private mutating func updateFeed() -> [Action] {
        let isRunning: Bool
        switch state {
        case .stopped, .stopping: isRunning = false
        case .starting, .online, .offline: isRunning = true
        }
        let isWanted = isRunning && (gather != .stopped || keepAlive)
        guard isWanted != isFeedOpen else { return [] }
        isFeedOpen = isWanted
        location = .unknown
        return [isWanted ? .openFeed : .closeFeed]
    }
}
