/// Decides which hooks run for which events, and when. Knows no process and no file.
///
/// When an event comes up, every hook of the directory runs for it. A hook handles one event at a time, in the order of
/// the events; different hooks run at the same time. Few hooks run at a time, and few events wait. If there is no room
/// for an alarm, the alarm stays in the journal, and the machine fetches it later. It also fetches the alarms that the
/// process before has left. Do the actions in their order.
package struct HookMachine: Hashable, Sendable {
    /// An event as the shell keeps it.
    package typealias EventID = UInt64

    package struct RunID: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt64

        package init(rawValue: UInt64) { self.rawValue = rawValue }
    }

    package enum Action: Hashable, Sendable {
        /// Look which hooks the directory has; `listed` follows.
        case list(EventID)
        /// Start a hook for an event; `ended` follows.
        case run(RunID, hook: String, event: EventID)
        /// Every hook of the event has ended, or there was none: forget the event. `alarm`: the alarm that the event
        /// told of.
        case finished(EventID, alarm: UInt64?)
        /// Fetch owed alarms from the journal, other than those that are in hand; `recalled` follows.
        case recall(limit: Int, without: Set<UInt64>)
    }

    package struct Limits: Hashable, Sendable {
        /// Hooks that run at a time.
        package var running = 4
        /// Events in hand: those that wait and those whose hooks run.
        package var events = 64

        package init() {}
    }

    /// Since the start.
    package struct Counters: Hashable, Sendable {
        package var started: UInt64 = 0
        package var failed: UInt64 = 0
        /// Events, no alarms, for which there was no room, and events that no hook can read.
        package var dropped: UInt64 = 0

        package init() {}
    }

    private struct Event: Hashable, Sendable {
        let id: EventID
        let alarm: UInt64?
        /// The hooks of this event that have not ended.
        var open = 0
        var isListed = false
    }

    private struct Job: Hashable, Sendable {
        let hook: String
        let event: EventID
    }

    private let limits: Limits
    /// In the order in which they happened.
    private var events: [Event] = []
    private var listing: EventID?
    private var jobs: [Job] = []
    private var running: [RunID: Job] = [:]
    private var nextRun: UInt64 = 1
    private var isRecalling = false
    /// Alarms whose hooks had run when the journal got them, while it was asked: its answer may have them as owed.
    private var settled: Set<UInt64> = []
    /// The journal may hold alarms whose hooks are to run and that are not in hand.
    private var mayBeOwed = false
    package private(set) var counters = Counters()

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    package var runningCount: Int { running.count }
    /// Events in hand.
    package var eventCount: Int { events.count }

    /// The process begins: fetches the alarms that the process before has left.
    package mutating func begin() -> [Action] {
        mayBeOwed = true
        return proceed()
    }

    /// `alarm`: the number of the alarm that the event tells of, when hooks are owed for it. False: the event was not
    /// taken; forget it.
    package mutating func happened(_ id: EventID, alarm: UInt64? = nil) -> (isTaken: Bool, actions: [Action]) {
        // An alarm never overtakes alarms that are still in the journal.
        guard events.count < limits.events, alarm == nil || !mayBeOwed else {
            if alarm != nil { mayBeOwed = true } else { counters.dropped += 1 }
            return (false, [])
        }
        events.append(Event(id: id, alarm: alarm))
        return (true, proceed())
    }

    /// The alarms that the journal had, with the shell's names for their events; in the order of the alarms.
    package mutating func recalled(_ found: [(event: EventID, alarm: UInt64)], isAll: Bool) -> [Action] {
        guard isRecalling else { return [] }
        isRecalling = false
        mayBeOwed = !isAll
        let known = inHand.union(settled)
        settled = []
        events += found.filter { !known.contains($0.alarm) }.map { Event(id: $0.event, alarm: $0.alarm) }
        return found.filter { known.contains($0.alarm) }.map { .finished($0.event, alarm: nil) } + proceed()
    }

    /// The hooks of an alarm ran before it had its number in the journal: they do not run again.
    package mutating func settled(_ alarm: UInt64) -> [Action] {
        if isRecalling { settled.insert(alarm) }
        let gone = events.filter { $0.alarm == alarm && !$0.isListed && $0.id != listing }.map(\.id)
        guard !gone.isEmpty else { return [] }
        events.removeAll { gone.contains($0.id) }
        return gone.map { .finished($0, alarm: nil) } + proceed()
    }

    /// Names of the hooks, in their order.
    package mutating func listed(_ id: EventID, _ hooks: [String]) -> [Action] {
        guard listing == id, let index = events.firstIndex(where: { $0.id == id }) else { return [] }
        listing = nil
        events[index].isListed = true
        events[index].open = hooks.count
        jobs += hooks.map { Job(hook: $0, event: id) }
        return proceed()
    }

    package mutating func ended(_ run: RunID, isFailure: Bool) -> [Action] {
        guard let job = running.removeValue(forKey: run) else { return [] }
        if isFailure { counters.failed += 1 }
        if let index = events.firstIndex(where: { $0.id == job.event }) { events[index].open -= 1 }
        return proceed()
    }

    /// An event cannot be written down for hooks.
    package mutating func couldNotEncode() { counters.dropped += 1 }

    private var inHand: Set<UInt64> { Set(events.compactMap(\.alarm)) }

    private mutating func proceed() -> [Action] {
        var actions: [Action] = []
        if listing == nil, let next = events.first(where: { !$0.isListed }) {
            listing = next.id
            actions.append(.list(next.id))
        }
        var busy = Set(running.values.map(\.hook))
        var index = 0
        while index < jobs.count, running.count < limits.running {
            let job = jobs[index]
            // A hook that is busy is busy for all later events too, so that the events keep their order.
            guard busy.insert(job.hook).inserted else {
                index += 1
                continue
            }
            jobs.remove(at: index)
            let run = RunID(rawValue: nextRun)
            nextRun += 1
            running[run] = job
            counters.started += 1
            actions.append(.run(run, hook: job.hook, event: job.event))
        }
        for event in events where event.isListed && event.open == 0 {
            actions.append(.finished(event.id, alarm: event.alarm))
        }
        events.removeAll { $0.isListed && $0.open == 0 }
        // Alarms are not fetched one by one: half of the room is worth a look into the journal.
        if mayBeOwed, !isRecalling, events.count <= limits.events / 2 {
            isRecalling = true
            actions.append(.recall(limit: limits.events / 2, without: inHand))
        }
        return actions
    }
}
