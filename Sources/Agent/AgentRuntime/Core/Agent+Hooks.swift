internal import AgentControl
internal import AgentLogic
internal import AlarmLog
internal import JSON
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackModel

/// The programs that run on events, and the events that wait for them.
struct HookDesk {
    var machine = HookMachine()
    /// Kinds of events that hooks are run for; empty without hooks.
    var kinds: Set<String> = []
    /// Each as it goes to a hook's standard input, with its kind.
    var events: [HookMachine.EventID: (kind: String, input: [UInt8])] = [:]
    var nextEvent: HookMachine.EventID = 1
    /// The last state of each kind that hooks were told of.
    var states: [String: String] = [:]
    /// What is refused of the directory: said once, until it changes.
    var refusals: [String] = []
    var lastError: String?

    var isOn: Bool { !kinds.isEmpty }

    func hear(_ kind: String) -> Bool { kinds.contains(kind) }
}

extension Agent {
    /// Something changed: for whoever listens, and for the hooks.
    func onEvent(_ change: AgentEvent.Change) {
        onChange(change)
        guard hooks.isOn, let (kind, state) = change.hookState, hooks.hear(kind), hooks.states[kind] != state else {
            return
        }
        hooks.states[kind] = state
        runHooks(for: change, alarm: nil)
    }

    /// `alarm`: its number in the journal, where it stays owed until its hooks have ended.
    func runHooks(for change: AgentEvent.Change, alarm: UInt64?) {
        guard hooks.isOn else { return }
        let id = keep(AgentEvent(time: systemTime.milliseconds, change))
        let (isTaken, actions) = hooks.machine.happened(id, alarm: alarm)
        if !isTaken { hooks.events[id] = nil }
        perform(actions)
    }

    private func keep(_ event: AgentEvent) -> HookMachine.EventID {
        let id = hooks.nextEvent
        hooks.nextEvent += 1
        let text = ((try? JSONValue(encoding: event)) ?? [:]).description + "\n"
        hooks.events[id] = (event.kind, Array(text.utf8))
        return id
    }

    func perform(_ actions: [HookMachine.Action]) {
        for action in actions {
            switch action {
            case .list(let id): listHooks(id)
            case .run(let run, let hook, let event): start(run, hook, event)
            case .finished(let id, let alarm):
                hooks.events[id] = nil
                if let alarm { onJournal { $0.finish(alarm) } }
            case .recall(let limit, let known): recall(limit, without: known)
            }
        }
    }

    private func listHooks(_ id: HookMachine.EventID) {
        guard let executor = surroundings.hooks else { return perform(hooks.machine.listed(id, [])) }
        executor.list(on: loop).assumeIsolated().whenComplete { [self] result in
            let found = (try? result.get()) ?? (hooks: [], refusals: [])
            if found.refusals != hooks.refusals {
                hooks.refusals = found.refusals
                for refusal in found.refusals { complain(refusal) }
            }
            perform(hooks.machine.listed(id, found.hooks))
        }
    }

    private func start(_ run: HookMachine.RunID, _ hook: String, _ event: HookMachine.EventID) {
        guard let executor = surroundings.hooks, let (kind, input) = hooks.events[event] else {
            return perform(hooks.machine.ended(run, isFailure: true))
        }
        executor.run(hook, kind: kind, input: input, on: loop).assumeIsolated().whenComplete { [self] result in
            // The agent stops, and what is owed runs again after the next start.
            guard case .success(let outcome) = result, !isShutDown else { return }
            if let failure = outcome.failure {
                complain("\(hook): \(failure)", output: outcome.output)
            } else if !outcome.output.isEmpty {
                log.info("Hook said", metadata: ["hook": "\(hook)", "output": "\(outcome.output)"])
            }
            perform(hooks.machine.ended(run, isFailure: outcome.failure != nil))
        }
    }

    private func complain(_ reason: String, output: String = "") {
        hooks.lastError = reason
        var fields: Logger.Metadata = ["reason": "\(reason)"]
        if !output.isEmpty { fields["output"] = "\(output)" }
        log.warning("Hook failed", metadata: .event(.hookFailed, fields))
    }

    private func recall(_ limit: Int, without known: Set<UInt64>) {
        let isAccepted = onJournal { journal in
            journal.owed(limit: limit, without: known)
        } then: { [self] found in
            let time = systemTime.milliseconds
            let events = found.map { alarm in
                (event: keep(AgentEvent(time: time, .alarm(AlarmReport(alarm)))), alarm: alarm.number)
            }
            // What cannot be read now is left for the next start.
            perform(hooks.machine.recalled(events, isAll: found.count < limit))
        }
        if !isAccepted { perform(hooks.machine.recalled([], isAll: true)) }
    }

    var hooksStatus: HooksStatus? {
        guard let settings = configuration.hooks else { return nil }
        let machine = hooks.machine
        return HooksStatus(
            directory: settings.directory, running: Int64(machine.runningCount), waiting: Int64(machine.eventCount),
            started: Int64(clamping: machine.counters.started), failed: Int64(clamping: machine.counters.failed),
            dropped: Int64(clamping: machine.counters.dropped), lastError: hooks.lastError)
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
