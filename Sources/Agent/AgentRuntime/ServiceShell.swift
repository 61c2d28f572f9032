internal import AgentControl
internal import AgentLogic
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackModel

/// The service and gather control, and the calls that wait for its answers.
///
/// Owns the `ServiceMachine`, the pending calls, and the entity that the service runs as. May touch: its timers and the
/// journal. Everything else leaves as an ``Effect``.
final class ServiceShell {
    enum Effect {
        case openFeed
        case closeFeed
        case startGathering(entity: String)
        case stopGathering(entity: String, by: StopCause)
        case startLink(entity: String)
        /// The server says that this vehicle is another entity. `atOnce`: log in as it now.
        case changeLink(entity: String, atOnce: Bool)
        /// Do not wait for the time of the next try.
        case logInNow
        /// Upload what is left within the time, then close the link. ``ServiceShell/linkStopped(isDrained:)`` is the answer.
        case stopLink(milliseconds: Int64)
        /// Make the target outlive a restart. `stoppedBy`: who told the agent now not to gather; nil: nobody.
        case remember(TargetState, stoppedBy: StopCause?)
        /// The status of the service changed: tell everybody.
        case changed
    }

    private let context: ShellContext
    private let tell: (Effect) -> Void
    private let timers: ShellTimers<ServiceMachine.Timer>
    private var machine: ServiceMachine
    private var calls = PendingCalls()
    /// The entity the service runs as, or ran as last.
    private(set) var entity: String
    private var told = ServiceStatus.State.stopped
    private var since: SystemTime
    /// Actions that are still to be done.
    private var due: [ServiceMachine.Action] = []
    private var isPerforming = false
    /// Who may stop something with the event that is performed now.
    private var stopper: StopCause?

    /// `entity`: the one that the service ran as last, or the configured one.
    init(_ context: ShellContext, entity: String, keepAlive: Bool, tell: @escaping (Effect) -> Void) {
        self.context = context
        self.entity = entity
        self.tell = tell
        timers = ShellTimers(context)
        machine = ServiceMachine(keepAlive: keepAlive)
        since = context.systemTime
    }

    // MARK: Events

    /// At boot: resumes what the agent was told last.
    func restore(_ target: TargetState) { perform(machine.restore(target)) }
    func linkChanged(_ state: LinkState) {
        // It may refuse what the service was to start with.
        stopper = .server
        perform(machine.uplinkChanged(state))
        stopper = nil
    }
    func linkStopped(isDrained: Bool) { perform(machine.uplinkStopped(drained: isDrained)) }
    func locationChanged(_ location: LocationState) { perform(machine.locationChanged(location)) }
    func keepAliveChanged(_ keepAlive: Bool) { perform(machine.keepAliveChanged(keepAlive)) }

    /// The agent stops: what the calls wait for does not come any more.
    func shutDown() {
        timers.cancelAll()
        for call in calls.takeAll() {
            call.fail(
                AgentControlError(
                    .internalError, in: call.method,
                    reason: "the agent stops before the outcome is known: ask saker status after its next start"))
        }
    }

    /// Does the actions of all events in the order of the events. An effect or an answer may bring the next event at once:
    /// its actions wait until those of the event before are done.
    private func perform(_ actions: [ServiceMachine.Action]) {
        due += actions
        guard !isPerforming else { return }
        isPerforming = true
        while !due.isEmpty { perform(due.removeFirst()) }
        isPerforming = false
        mayHaveChanged()
        // A start that was refused as another entity.
        if machine.state == .stopped, let former = machine.target.entity { entity = former }
    }

    private func perform(_ action: ServiceMachine.Action) {
        switch action {
        case .openFeed: tell(.openFeed)
        case .closeFeed: tell(.closeFeed)
        case .setGathering(true): tell(.startGathering(entity: entity))
        case .setGathering(false): tell(.stopGathering(entity: entity, by: stopper ?? .server))
        case .startUplink(let new):
            entity = new
            tell(.startLink(entity: new))
        case .changeEntity(let new, let atOnce):
            context.log.notice(
                "The server says that this vehicle is another entity",
                metadata: .event(.entityChanged, ["entity": "\(new)", "before": "\(entity)"]))
            entity = new
            // Nobody told the agent now to stop anything: who did so before is remembered.
            stopper = nil
            tell(.changeLink(entity: new, atOnce: atOnce))
            tell(.changed)
        case .logInNow: tell(.logInNow)
        case .stopUplink(let milliseconds): tell(.stopLink(milliseconds: milliseconds))
        case .setTimer(let timer, let milliseconds):
            timers.set(timer, milliseconds: milliseconds) { [self] in perform(machine.timerFired(timer)) }
        case .cancelTimer(let timer): timers.cancel(timer)
        case .persist(let target): tell(.remember(target, stoppedBy: stopper))
        case .reply(let request, let reply): calls.take(request)?.answer(reply)
        }
    }

    /// Tells the state of the service, once for each change.
    private func mayHaveChanged() {
        let new = state
        guard new != told else { return }
        let before = told
        told = new
        since = context.systemTime
        switch new {
        case .starting where before != .running, .running where before != .starting:
            context.log.notice("The service has started", metadata: .event(.serviceStarted, ["entity": "\(entity)"]))
        case .stopped:
            context.log.notice("The service has stopped", metadata: .event(.serviceStopped, ["entity": "\(entity)"]))
        case .starting, .running, .stopping: break
        }
        tell(.changed)
    }

    // MARK: Calls of the control socket

    /// `entity` nil: the entity that the service ran as last.
    func start(entity wanted: String?) -> EventLoopFuture<StartServiceReply> {
        let promise = context.loop.makePromise(of: StartServiceReply.self)
        let isOffline = if case .offline = machine.state { true } else { false }
        let request = add(.startService, promise) { [self] reply in
            guard case .startService(let outcome) = reply else { return }
            switch outcome {
            case .success: promise.succeed(StartServiceReply(.success))
            case .successButOffline(let reason): promise.succeed(StartServiceReply(.successButOffline, reason: reason))
            case .parameterError(let reason): promise.fail(.parameterError, .startService, reason, "entity")
            case .internalError(let reason):
                promise.fail(
                    .internalError, .startService,
                    "the connection cannot be made: \(reason); the service stays started and points are kept: mend the "
                        + "configuration or its files")
            case .networkError(let reason):
                promise.fail(
                    .networkError, .startService, "\(reason); the service stays started and tries again by itself")
            case .authenticationError(let reason):
                promise.fail(
                    .authenticationError, .startService,
                    "\(reason); the service stays started and tries again slowly, at once after a reload")
            case .inProgress: promise.fail(.inProgress, .startService, "the service is just being started or stopped")
            case .alreadyStarted:
                let trouble = isOffline ? "; it is offline, and tries to log in now: see saker status" : ""
                promise.fail(
                    .alreadyStarted, .startService,
                    "the service runs already, as \(entity): stop it first to start it as another entity\(trouble)")
            }
        }
        perform(machine.startService(entity: wanted ?? entity, isChosen: wanted != nil, request: request))
        return promise.futureResult
    }

    /// Completes when the link is off. `timeout`: for the last upload, nil for the default.
    func stop(timeout: TimeAmount?, by cause: StopCause) -> EventLoopFuture<Void> {
        let promise = context.loop.makePromise(of: Void.self)
        let request = add(.stopService, promise) { reply in
            guard case .stopService(let outcome) = reply else { return }
            switch outcome {
            case .success: promise.succeed()
            case .notYetStarted: promise.fail(.serviceNotStarted, .stopService, "the service is not started")
            case .inProgress: promise.fail(.inProgress, .stopService, "the service is just being stopped")
            }
        }
        stopper = cause
        perform(machine.stopService(request: request, drainMilliseconds: timeout.map { $0.nanoseconds / 1_000_000 }))
        stopper = nil
        return promise.futureResult
    }

    /// `keepsTrying`: gathering starts without a receiver too.
    func startGathering(keepsTrying: Bool = false) -> EventLoopFuture<StartGatherReply> {
        let promise = context.loop.makePromise(of: StartGatherReply.self)
        let request = add(.startGather, promise) { reply in
            guard case .startGather(let outcome) = reply else { return }
            switch outcome {
            case .success: promise.succeed(StartGatherReply())
            case .successWithoutReceiver(let reason): promise.succeed(StartGatherReply(reason: reason))
            case .alreadyStarted: promise.fail(.gatherAlreadyStarted, .startGather, "gathering is on already")
            case .serviceNotStarted:
                promise.fail(
                    .serviceNotStarted, .startGather, "the service is not started: start it first (saker service start)"
                )
            case .locationOff(let reason): promise.fail(.locationOff, .startGather, reason + Self.staysOff)
            case .permissionDenied(let reason): promise.fail(.permissionDenied, .startGather, reason + Self.staysOff)
            case .internalError(let reason): promise.fail(.internalError, .startGather, reason + Self.staysOff)
            }
        }
        perform(machine.startGather(request: request, keepsTrying: keepsTrying))
        return promise.futureResult
    }

    func stopGathering(by cause: StopCause) -> EventLoopFuture<StopGatherReply> {
        let promise = context.loop.makePromise(of: StopGatherReply.self)
        let request = add(.stopGather, promise) { reply in
            guard case .stopGather(let outcome) = reply else { return }
            switch outcome {
            case .success: promise.succeed(StopGatherReply())
            case .notYetStarted: promise.fail(.gatherNotStarted, .stopGather, "gathering is not on")
            }
        }
        stopper = cause
        perform(machine.stopGather(request: request))
        stopper = nil
        return promise.futureResult
    }

    private func add<Reply>(
        _ method: AgentMethod, _ promise: EventLoopPromise<Reply>, answer: @escaping (ServiceReply) -> Void
    ) -> RequestID {
        calls.add(.init(method: method, answer: answer, fail: { promise.fail($0) }))
    }

    /// What a refused start of gathering leaves behind.
    private static let staysOff =
        "; gathering stays off: say saker gather start again when this is mended, or now saker gather start --keep-trying"

    // MARK: Status

    /// The machine's own state, for the verdict whether the vehicle is tracked.
    var machineState: ServiceMachine.ServiceState { machine.state }
    /// Whether somebody has told the agent to gather.
    var isGatheringWanted: Bool { machine.gather == .started }

    var status: ServiceStatus {
        ServiceStatus(state: state, since: since.milliseconds, entity: machine.entity)
    }

    private var state: ServiceStatus.State {
        switch machine.state {
        case .stopped: .stopped
        case .starting: .starting
        case .online, .offline: .running
        case .stopping: .stopping
        }
    }
}

extension EventLoopPromise {
    fileprivate func fail(
        _ code: AgentControlError.Code, _ method: AgentMethod, _ reason: String, _ parameter: String? = nil
    ) {
        fail(AgentControlError(code, in: method, reason: reason, parameter: parameter))
    }
}

/// Control calls that wait for a machine's answer.
struct PendingCalls {
    struct Call {
        let method: AgentMethod
        /// The machine has decided.
        let answer: (ServiceReply) -> Void
        /// No machine will decide.
        let fail: (AgentControlError) -> Void
    }

    private var next: UInt64 = 1
    private var waiting: [RequestID: Call] = [:]

    /// A number for a call. Either `answer` or `fail` of the call is called, once.
    mutating func add(_ call: Call) -> RequestID {
        let request = RequestID(rawValue: next)
        next += 1
        waiting[request] = call
        return request
    }

    /// The call of a request; nil when it was taken before.
    mutating func take(_ request: RequestID) -> Call? {
        waiting.removeValue(forKey: request)
    }

    /// All calls that wait, in the order in which they came.
    mutating func takeAll() -> [Call] {
        defer { waiting = [:] }
        return waiting.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
    }
}
