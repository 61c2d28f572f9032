internal import AgentControl
internal import AgentLogic
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackModel

/// What must survive a restart: what the agent was told last, the settings that people made, and the service's columns.
///
/// Owns the durable state, the `DurableStateMachine`, and the callers who wait to hear that a change is on the disk. May
/// touch: the store of the state, which writes on the disk thread, its timers, and the journal.
final class DurableStateShell {
    private let context: ShellContext
    private let stateStore: any DurableStateStore
    private(set) var state: DurableState
    private var machine: DurableStateMachine
    private let callers: ChangeCallers
    private var since: SystemTime
    private lazy var file = DurableStateFile(
        context,
        .init(
            failing: "What the agent was told could not be written to the disk",
            relieved: "What the agent was told is on the disk again",
            write: { [weak self] in self.flatMap { $0.stateStore.write($0.state, on: $0.context.loop) } },
            happened: { [weak self] in self?.perform($0) }, answer: { [callers] in callers.answer($0, $1) }))

    /// `trouble`: why the state of the process before could not be read.
    init(_ context: ShellContext, stateStore: any DurableStateStore, state: DurableState, trouble: String?) {
        self.context = context
        self.stateStore = stateStore
        self.state = state
        machine = DurableStateMachine(trouble: trouble)
        callers = ChangeCallers(context)
        since = context.systemTime
    }

    // MARK: Changes

    /// `cause`: who told the agent now to stop; nil: nobody.
    func remember(_ target: TargetState, stoppedBy cause: StopCause? = nil) {
        // A vehicle that was not gathering before has not ceased to gather now.
        let before = state.target.flatMap { $0.isGathering ? nil : $0 }
        state.target = .init(
            target, stoppedBy: cause?.rawValue ?? state.target?.stoppedBy,
            at: before.map(\.stoppedTime) ?? context.systemTime.milliseconds)
        perform { $0.changed() }
    }

    /// Nil: nobody has set anything.
    func remember(_ settings: Settings?) {
        state.settings = settings.map { .init($0) }
        perform { $0.changed() }
    }

    /// The columns of a service, as its last login told them.
    func remember(_ columns: [AttributeColumn], of service: ServiceID) {
        let new = DurableState.Columns(columns, of: service)
        guard state.columns != new else { return }
        state.columns = new
        perform { $0.changed() }
    }

    /// The process begins. `boot`: names this start of the computer; nil: nobody knows it.
    ///
    /// A state that could not be read is not replaced for this: it may be readable at the next start.
    func begin(boot: String?) {
        guard isDurable else { return }
        guard boot != nil || state.run != nil else { return }
        state.run = boot.map { boot in
            DurableState.Run(
                boot: boot, hasEnded: false, began: context.now.milliseconds,
                before: DurableState.offs(state.run, boot: boot))
        }
        perform { $0.changed() }
    }

    /// What is known of an open gap of the track.
    func remember(_ gap: OpenGap) {
        state.gap = .init(gap)
        perform { $0.changed() }
    }

    /// The gap has ended.
    func forgetGap() {
        guard state.gap != nil else { return }
        state.gap = nil
        perform { $0.changed() }
    }

    /// Completes within 40 ms: with true when the changes so far are on the disk, with false when the disk has not
    /// answered. Fails with `NotRemembered` when they cannot be written.
    func whenDurable(in method: AgentMethod) -> EventLoopFuture<Bool> {
        let (id, answered) = callers.add(method)
        let now = context.now
        perform { $0.asked(id, now: now) }
        return answered
    }

    // MARK: The machine

    private func perform(_ event: (inout DurableStateMachine) -> [DurableStateMachine.Action]) {
        let before = machine.standing
        let actions = event(&machine)
        if machine.standing != before { since = context.systemTime }
        for action in actions { file.perform(action) }
    }

    /// The agent stops: its end, and a state that is not on the disk yet, are written, and no caller waits for this write.
    func shutDown() {
        file.cancelTimers()
        if let run = state.run, !run.hasEnded {
            state.run?.hasEnded = true
            _ = machine.changed()
        }
        if machine.standing != .durable, stateStore.write(state, on: context.loop) == nil {
            context.log.error(
                "What the agent was told could not be written to the disk",
                metadata: .event(
                    .stateNotRemembered, ["reason": "the agent stops, and too much waits for the disk already"]))
        }
        callers.answerAll()
    }

    // MARK: Status

    var status: DurableStateStatus { DurableStateStatus(machine.standing, since: since) }

    /// Whether everything that the agent was told is on the disk.
    var isDurable: Bool { machine.standing == .durable }
}

extension DurableStateStatus {
    init(_ standing: DurableStateMachine.Standing, since: SystemTime) {
        switch standing {
        case .durable: self.init(state: .durable, since: since.milliseconds)
        case .writing: self.init(state: .writing, since: since.milliseconds)
        case .failing(let reason): self.init(state: .failing, since: since.milliseconds, lastError: reason)
        }
    }
}

/// The callers who wait to hear what becomes of a change on the disk. A `DurableStateMachine` decides what they hear.
final class ChangeCallers {
    private let context: ShellContext
    private var callers: [RequestID: (DurableStateMachine.Durability) -> Void] = [:]
    private var next: UInt64 = 1

    init(_ context: ShellContext) {
        self.context = context
    }

    /// The future completes with true when the change is on the disk, with false when the disk has not answered, and fails
    /// with `NotRemembered` when the change cannot be written.
    func add(_ method: AgentMethod) -> (RequestID, EventLoopFuture<Bool>) {
        let promise = context.loop.makePromise(of: Bool.self)
        let id = RequestID(rawValue: next)
        next += 1
        callers[id] = { durability in
            switch durability {
            case .durable: promise.succeed(true)
            case .pending: promise.succeed(false)
            case .failed(let reason):
                promise.fail(
                    AgentControlError(
                        .notRemembered, in: method,
                        reason: "done, and not remembered: \(reason); a restart forgets it unless a later try succeeds "
                            + "(saker status)"))
            }
        }
        return (id, promise.futureResult)
    }

    func answer(_ id: RequestID, _ durability: DurableStateMachine.Durability) {
        callers.removeValue(forKey: id)?(durability)
    }

    /// The agent stops: nobody waits for the disk any more.
    func answerAll() {
        let left = callers.sorted { $0.key.rawValue < $1.key.rawValue }
        callers = [:]
        for (_, answer) in left { answer(.pending) }
    }
}
