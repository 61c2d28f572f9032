internal import AgentControl
internal import AgentLogic
internal import AlarmLog
internal import JSON
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackModel

/// The programs that run on events, and the events that wait for them.
///
/// Owns the `HookMachine` and the events as hooks read them. May touch: the executor of hooks, which has threads of its
/// own, and the journal. Everything else leaves as an ``Effect``.
final class HookShell {
    enum Effect {
        /// All hooks of an alarm have ended: the journal of alarms owes it no longer.
        case finished(alarm: UInt64)
        /// There is room for alarms that are still owed: read some. ``HookShell/recalled(_:isAll:)`` is the answer.
        case recall(limit: Int, without: Set<UInt64>)
    }

    private let context: ShellContext
    private let executor: (any HookExecutor)?
    private let settings: AgentConfiguration.Hooks?
    private let encode: (AgentEvent) throws -> JSONValue
    private let tell: (Effect) -> Void
    /// Kinds of events that hooks are run for; empty without hooks.
    private let kinds: Set<String>
    private var machine = HookMachine()
    /// Each event as it goes to a hook's standard input, with its kind.
    private var events: [HookMachine.EventID: (kind: String, input: [UInt8])] = [:]
    private var nextEvent: HookMachine.EventID = 1
    /// The last state of each kind that hooks were told of.
    private var states: [String: String] = [:]
    /// The refusals of the last look into the directory. They are logged when they change.
    private var refusals: [String] = []
    private var lastError: String?
    private var isShutDown = false

    /// `settings` and `executor` nil: no hooks are run. `encode`: the JSON that hooks read.
    init(
        _ context: ShellContext, executor: (any HookExecutor)?, settings: AgentConfiguration.Hooks?,
        encode: @escaping (AgentEvent) throws -> JSONValue = { try JSONValue(encoding: $0) },
        tell: @escaping (Effect) -> Void
    ) {
        self.context = context
        self.executor = executor
        self.settings = settings
        self.encode = encode
        self.tell = tell
        kinds = Self.kinds(executor, settings)
    }

    private static func kinds(
        _ executor: (any HookExecutor)?, _ settings: AgentConfiguration.Hooks?
    ) -> Set<String> {
        executor == nil ? [] : Set(settings?.events ?? [])
    }

    /// Whether hooks are run for alarms, so that the journal of alarms has to keep what is owed to them.
    static func hearAlarms(_ executor: (any HookExecutor)?, _ settings: AgentConfiguration.Hooks?) -> Bool {
        kinds(executor, settings).contains("alarm")
    }

    /// Hooks that the process before owed run now.
    func begin() {
        if kinds.contains("alarm") { perform(machine.begin()) }
    }

    // MARK: Events

    /// Something changed. Hooks run when its state differs from the last state of this kind that they were told.
    func happened(_ change: AgentEvent.Change) {
        guard !isShutDown, let (kind, state) = change.hookState, kinds.contains(kind), states[kind] != state else {
            return
        }
        // Without room hooks do not hear of the state: the next announcement of the state is news again.
        if run(for: change, alarm: nil) { states[kind] = state }
    }

    /// An alarm is in the journal of alarms, where it stays owed until its hooks have ended.
    func arrived(_ alarm: JournalAlarm) {
        guard alarm.isOwed, !kinds.isEmpty, !isShutDown else { return }
        run(for: .alarm(AlarmReport(alarm)), alarm: alarm.number)
    }

    /// An alarm that is told before it is on the disk: its hooks run once at most, and not at all without room.
    func heard(_ report: AlarmReport) {
        guard kinds.contains("alarm"), !isShutDown else { return }
        run(for: .alarm(report), alarm: nil)
    }

    /// The answer to ``Effect/recall(limit:without:)``.
    func recalled(_ found: [JournalAlarm], isAll: Bool) {
        guard !isShutDown else { return }
        let time = context.systemTime.milliseconds
        var events: [(event: HookMachine.EventID, alarm: UInt64)] = []
        for alarm in found {
            guard let event = keep(AgentEvent(time: time, .alarm(AlarmReport(alarm)))) else {
                tell(.finished(alarm: alarm.number))
                continue
            }
            events.append((event, alarm.number))
        }
        perform(machine.recalled(events, isAll: isAll))
    }

    /// The hooks of an alarm ran before it had its number in the journal.
    func settled(_ alarm: UInt64) {
        guard !isShutDown else { return }
        perform(machine.settled(alarm))
    }

    /// False: there is no room for the event. Such an event may come again.
    @discardableResult
    private func run(for change: AgentEvent.Change, alarm: UInt64?) -> Bool {
        guard let id = keep(AgentEvent(time: context.systemTime.milliseconds, change)) else {
            // No hook will ever be able to run for it.
            if let alarm { tell(.finished(alarm: alarm)) }
            return true
        }
        let (isTaken, actions) = machine.happened(id, alarm: alarm)
        if !isTaken { events[id] = nil }
        perform(actions)
        return isTaken
    }

    /// Nil for an event that cannot be written as JSON: a hook that got anything else would act on what did not happen.
    private func keep(_ event: AgentEvent) -> HookMachine.EventID? {
        let text: String
        do {
            text = try encode(event).description + "\n"
        } catch {
            machine.couldNotEncode()
            complain(
                "no hook is run for an event of the kind '\(event.kind)', which cannot be written as JSON: \(error)")
            return nil
        }
        let id = nextEvent
        nextEvent += 1
        events[id] = (event.kind, Array(text.utf8))
        return id
    }

    // MARK: Programs

    private func perform(_ actions: [HookMachine.Action]) {
        for action in actions {
            switch action {
            case .list(let id): list(id)
            case .run(let run, let hook, let event): start(run, hook, event)
            case .finished(let id, let alarm):
                events[id] = nil
                if let alarm { tell(.finished(alarm: alarm)) }
            case .recall(let limit, let known): tell(.recall(limit: limit, without: known))
            }
        }
    }

    private func list(_ id: HookMachine.EventID) {
        guard let executor else { return perform(machine.listed(id, [])) }
        executor.list(on: context.loop).assumeIsolated().whenComplete { [self] result in
            // The agent stops. An alarm whose hooks nobody has looked for stays owed.
            guard case .success(let found) = result, !isShutDown else { return }
            if found.refusals != refusals {
                refusals = found.refusals
                for refusal in found.refusals { complain(refusal) }
            }
            perform(machine.listed(id, found.hooks))
        }
    }

    private func start(_ run: HookMachine.RunID, _ hook: String, _ event: HookMachine.EventID) {
        guard let executor, let (kind, input) = events[event] else {
            return perform(machine.ended(run, isFailure: true))
        }
        executor.run(hook, kind: kind, input: input, on: context.loop).assumeIsolated().whenComplete {
            [self] result in
            // The agent stops, and the hooks that are owed run again after the next start.
            guard case .success(let outcome) = result, !isShutDown else { return }
            if let failure = outcome.failure {
                complain("\(hook): \(failure)", output: outcome.output)
            } else if !outcome.output.isEmpty {
                context.log.info(
                    "A hook has written something", metadata: ["hook": "\(hook)", "output": "\(outcome.output)"])
            }
            perform(machine.ended(run, isFailure: outcome.failure != nil))
        }
    }

    private func complain(_ reason: String, output: String = "") {
        lastError = reason
        var fields: Logger.Metadata = ["reason": "\(reason)"]
        if !output.isEmpty { fields["output"] = "\(output)" }
        context.log.warning("A hook has failed", metadata: .event(.hookFailed, fields))
    }

    /// The agent stops: from now on the shell takes no event and ignores the ends of hooks.
    func beginShutDown() { isShutDown = true }

    /// Ends the hooks that run.
    func shutDown() -> EventLoopFuture<Void> {
        executor?.shutDown(on: context.loop) ?? context.loop.makeSucceededVoidFuture()
    }

    var status: HooksStatus? {
        guard let settings else { return nil }
        return HooksStatus(
            directory: settings.directory, running: Int64(machine.runningCount), waiting: Int64(machine.eventCount),
            started: Int64(clamping: machine.counters.started), failed: Int64(clamping: machine.counters.failed),
            dropped: Int64(clamping: machine.counters.dropped), lastError: lastError)
    }
}

extension AgentEvent.Change {
    /// For a change that hooks hear of: its kind, and the part of it whose change is news. Nil for alarms, which have a
    /// way of their own, and for steps on the way to a state.
    fileprivate var hookState: (kind: String, state: String)? {
        switch self {
        case .connection(let link):
            switch link.state {
            case .online, .waiting, .refused, .closed: ("connection", link.state.rawValue)
            case .connecting, .handshaking, .loggingIn, .closing: nil
            }
        case .gather(let gather): ("gather", gather.state.rawValue)
        case .service(let service): ("service", service.state.rawValue)
        case .cache(let cache): ("cache", cache.state.rawValue)
        case .feed(let feed): ("feed", feed.state.rawValue)
        case .loss(let loss): ("loss", loss.lost.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined())
        case .status, .alarm, .other: nil
        }
    }
}
