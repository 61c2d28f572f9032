internal import AgentControl
internal import AgentRuntime
internal import NIOCore
internal import TrackModel
internal import TrackTestKit

/// What the agent resumes at the next boot, as far as people have told it.
struct CommandedTarget: Hashable {
    // A new box gathers by itself.
    var isStarted = true
    var isGathering = true
    var entity = "van"

    /// Of a stopped service nothing else counts.
    static func == (left: Self, right: Self) -> Bool {
        left.isStarted == right.isStarted
            && (!left.isStarted || left.isGathering == right.isGathering && left.entity == right.entity)
    }
}

extension CommandedTarget {
    /// What is in force.
    init(_ status: AgentStatus, otherwise entity: String) {
        // A service that is being stopped is remembered as stopped.
        isStarted = status.service.state != .stopped && status.service.state != .stopping
        isGathering = status.gather.state != .stopped
        self.entity = status.service.entity ?? entity
    }
}

// What the agent called durable comes back after a restart, whatever the disk and the power did.
extension History {
    /// A setting is changed; the reply says whether the change is on the disk.
    func change(_ box: AgentBox, _ reply: EventLoopFuture<SettingsReply>) {
        let number = rememberedSettings?.changed(to: box.agent.settings())
        calm.trouble(now)
        reply.assumeIsolated().whenComplete { [unowned self] result in
            guard self.box === box else { return }
            switch result {
            case .success(let reply):
                if reply.durable == true, let number {
                    checkDurable(settingsSince: number)
                    rememberedSettings?.durable(number)
                }
                if reply.durable == false { summary.slowReplies += 1 }
            case .failure(let error): note("settings: \((error as? AgentControlError)?.code.rawValue ?? "\(error)")")
            }
        }
    }

    /// The target is another now. Calls that are not answered yet may be in force as well, and so on the disk.
    ///
    /// `asked`: the number of what was in force when the agent was told.
    func targetChanged(_ box: AgentBox, isDurable: Bool, asked: Int) {
        if !target.open.isEmpty { calm.trouble(now) }
        let number = rememberedTarget.answered(told: target.told, inForce: target.open.isEmpty ? nil : inForce(box))
        guard isDurable else { return }
        checkDurable(targetSince: asked)
        rememberedTarget.durable(number)
    }

    /// What is in force after a call may be on the disk before the call is answered: a start that waits for the server has
    /// begun, and another call may be answered first.
    @discardableResult
    func targetInForce(_ box: AgentBox) -> Int {
        calm.trouble(now)
        return rememberedTarget.changed(to: inForce(box))
    }

    private func inForce(_ box: AgentBox) -> CommandedTarget {
        CommandedTarget(box.agent.status(), otherwise: target.told.entity)
    }

    private static let statePath = "\(SimulatedStateDisk.directory)/state.json"

    /// The state that a power cut leaves; nil when there is none.
    private var durableState: StateContent? {
        disk.durableContents(of: Self.statePath).flatMap(StateContent.init)
    }

    /// The entity that a process finds in what the one before was told last, also when the service was stopped since.
    var rememberedEntity: String? {
        disk.contents(of: Self.statePath).flatMap(StateContent.init)?.target?.entity
    }

    /// The agent says that a setting is on the disk.
    private func checkDurable(settingsSince number: Int) {
        guard let state = durableState, rememberedSettings?.hasSince(number, state.has) == true else {
            return fail(
                Violation(
                    guarantee: .recovery, detail: "settings are told as durable, and a power cut would take them"))
        }
    }

    /// The agent says that it resumes what it was told.
    private func checkDurable(targetSince number: Int) {
        guard let found = durableState?.target, rememberedTarget.hasSince(number, { $0 == found }) else {
            return fail(
                Violation(
                    guarantee: .recovery,
                    detail: "what the agent was told is told as durable, and a power cut would take it"))
        }
    }

    /// Looks every second for trouble. What is in force is on the disk when nothing has kept it from there for long; an agent
    /// tells all of its status for that, so it is asked less often.
    func settleRemembered() {
        after(1000) { $0.settleRemembered() }
        guard let box, !box.isStopping, isStateKnown, target.open.isEmpty, isDiskWell(box), !memory.isFailing else {
            return calm.trouble(now)
        }
        guard calm.isCalm(now), now.milliseconds / 1000 % 10 == 0 else { return }
        rememberedTarget.settled(inForce(box))
        if rememberedSettings != nil { rememberedSettings?.settled(box.agent.settings()) }
    }

    /// Nothing keeps the disk from what an agent asks of it.
    func isDiskWell(_ box: AgentBox?) -> Bool {
        disk.faults.isEmpty && disk.capacity == nil && !disk.isReadOnly && disk.synchronizationDelay == 0
            && box.map { $0.executor.slowness == 0 && $0.executor.stalledUntil <= loop.now } ?? true
    }

    /// An empty disk remembers nothing.
    func forgetRemembered() {
        rememberedTarget = DurableStateModel(CommandedTarget())
        rememberedSettings = nil
    }

    /// The agent has started: it may only have come back with what it was told.
    func checkRemembered(_ box: AgentBox, _ reading: DurableStateReading) {
        // At the end the history stops gathering by itself.
        guard !target.isFinishing else { return }
        let status = box.agent.status()
        let found = CommandedTarget(status, otherwise: target.told.entity)
        gaps.mayRun(as: found.entity, at: trueTime)
        let settings = box.agent.settings()
        switch reading {
        case .putAside(let path):
            fail(Violation(guarantee: .recovery, detail: "the durable state was damaged: \(path)"))
        case .unreadable(let reason):
            // The disk does not answer: the configuration decides, until somebody says something else.
            note("the durable state cannot be read: \(reason)")
            isStateKnown = false
            _ = rememberedTarget.changed(to: found)
            _ = rememberedSettings?.changed(to: settings)
        case .absent, .read:
            if !rememberedTarget.allows(found) {
                fail(
                    Violation(
                        guarantee: .recovery,
                        detail: "the agent came back with \(found), and was told \(rememberedTarget.text)"))
            }
            if let known = rememberedSettings, !known.allows(settings) {
                fail(
                    Violation(
                        guarantee: .recovery,
                        detail: "the agent came back with \(settings), and was told \(known.text)"))
            }
        }
        if rememberedSettings == nil { rememberedSettings = DurableStateModel(settings) }
        target.told = found
    }
}

/// What an agent may come back with after a restart: the value that it called durable last, or one that it was told since.
struct DurableStateModel<Value: Equatable> {
    private var entries: [(number: Int, value: Value)]
    private var next = 1

    init(_ value: Value) {
        entries = [(0, value)]
    }

    /// The agent has another value in force. Returns the number of the change.
    mutating func changed(to value: Value) -> Int {
        entries.append((next, value))
        next += 1
        return next - 1
    }

    /// A caller is answered. Returns the number of the change.
    ///
    /// `told`: what the answered calls make of it. `inForce`: what is in force while other calls wait for their answers,
    /// which may be in force, and so on the disk, as well; nil when none waits.
    mutating func answered(told: Value, inForce: Value?) -> Int {
        let number = changed(to: told)
        if let inForce { _ = changed(to: inForce) }
        return number
    }

    /// The agent called a change durable: nothing from before it may come back.
    mutating func durable(_ number: Int) {
        entries.removeAll { $0.number < number }
    }

    /// Nothing has kept the agent for long from writing what is in force: nothing else may come back.
    mutating func settled(_ value: Value) {
        entries = [(next, value)]
        next += 1
    }

    /// Whether a value that a change brought, or a later one, is as this says.
    func hasSince(_ number: Int, _ isThis: (Value) -> Bool) -> Bool {
        entries.contains { $0.number >= number && isThis($0.value) }
    }

    func allows(_ value: Value) -> Bool { entries.contains { $0.value == value } }

    var text: String { words { "\($0)" } }

    func words(_ text: (Value) -> String) -> String { entries.map { text($0.value) }.joined(separator: " or ") }
}
