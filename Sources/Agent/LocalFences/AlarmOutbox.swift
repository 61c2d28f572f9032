package import Geofencing

/// Alarms of the box's own fences on their way into the journal, and what is told of them.
///
/// An alarm and the fence state that follows from it are written together, and the alarm is told when both are on the disk. A
/// disk that refuses, or does not answer, holds nothing back: the alarm is told at once as not durable, waits here in its
/// order, and is written when the disk takes it. Fence states without an alarm are written after all alarms before them.
/// Knows no disk and no fences. Every `mutating func` is an event; do the actions in their order.
package struct AlarmOutbox: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Write it; `written` or `refused` follows.
        case write(Writing)
        /// To the clients of `Monitor`.
        case tell(LocalAlarm, Standing)
        /// Run the hooks. With `notDurable` nobody runs them again.
        case runHooks(LocalAlarm, Standing)
        /// The journal owes hooks to this number that have been run already.
        case settleHooks(UInt64)
        /// Call `timerFired` once after this time; replaces an earlier timer of the same name.
        case setTimer(Timer, milliseconds: Int64)
        case cancelTimer(Timer)
        /// The journal does not take alarms: said when that begins or its reason changes.
        case complain(reason: String)
        /// It does again.
        case relieved
        /// So many alarms were told, and are never written: too many wait for the disk.
        case dropped(Int)
    }

    /// What one write holds.
    package struct Writing: Hashable, Sendable {
        package var alarms: [Waiting]
        /// A power cut must not lose it. Always so with alarms.
        package var isDurable: Bool
        package var entity: String
        /// Of the server's fences of this service; nil: of the box's own.
        package var service: Int64?
        /// What is remembered after the last of the alarms.
        package var fenceState: EntityFenceState
    }

    package struct Waiting: Hashable, Sendable {
        package var alarm: LocalAlarm
        /// It was told as not durable, or by the server's push; its hooks are not owed.
        package var isTold: Bool
    }

    package enum Standing: Hashable, Sendable {
        /// It is on the disk under this number.
        case durable(UInt64)
        /// A restart may forget it.
        case notDurable
    }

    /// What became of an alarm in a write that succeeded.
    package enum Written: Hashable, Sendable {
        case new(UInt64)
        /// A process before had written it: it was told, or will be when its hooks are looked for.
        case known
    }

    package enum Timer: Hashable, Sendable, CaseIterable {
        /// Alarms wait no longer for the disk.
        case timeout
        /// What the disk refused is tried again.
        case retry
    }

    package struct Limits: Hashable, Sendable {
        /// Milliseconds that an alarm waits for the disk before it is told.
        package var timeout: Int64 = 2000
        /// Milliseconds after a refusal, doubled with each further one up to the last.
        package var firstRetry: Int64 = 1000
        package var lastRetry: Int64 = 60_000
        /// Bytes of the alarms in one write. A write of one point's alarms may have more.
        package var writingBytes = 128 * 1024
        /// Alarms that wait for the disk, and their bytes.
        package var waiting = 1000
        package var waitingBytes = 1 << 20
        /// Numbers that pushes have told, and that are known; of more, the newest.
        package var pushed = 1000

        package init() {}
    }

    package struct Counters: Hashable, Sendable {
        /// Written and told.
        package var taken: UInt64 = 0
        /// Told before they were written.
        package var early: UInt64 = 0
        /// Told, and never written.
        package var dropped: UInt64 = 0
        /// Attempts to write that failed.
        package var failed: UInt64 = 0

        package init() {}
    }

    private struct Verdict: Hashable {
        var alarms: [Waiting]
        let entity: String
        let service: Int64?
        let fenceState: EntityFenceState
        let bytes: Int
        var isDurable = true

        func isAbout(_ other: Verdict) -> Bool {
            service == other.service && entity.utf8.elementsEqual(other.entity.utf8)
        }
    }

    private enum UnderWay: Hashable {
        /// The first of the queue.
        case verdicts(Int)
        case note(Verdict)
    }

    private let limits: Limits
    private var queue: [Verdict] = []
    /// Fence states from which no alarm follows, at most one of an entity.
    private var notes: [Verdict] = []
    private var underWay: UnderWay?
    /// Told by the server's pushes in this process, the newest last.
    private var pushed: [UInt64] = []
    private var isResting = false
    private var retryDelay: Int64
    package private(set) var trouble: String?
    package private(set) var counters = Counters()

    package init(limits: Limits = Limits()) {
        self.limits = limits
        retryDelay = limits.firstRetry
    }

    /// Alarms that are not on the disk.
    package var waitingCount: Int { queue.reduce(0) { $0 + $1.alarms.count } }

    /// Whether an alarm with this number was told, and is not on the disk yet.
    package func hasTold(_ id: UInt64) -> Bool {
        queue.contains { $0.alarms.contains { $0.isTold && $0.alarm.id == id } }
    }

    // MARK: Events

    /// A point has caused these alarms; `fenceState` follows from it. Without alarms it is a fence state that is worth writing.
    /// `service`: whose fences; nil: the box's own. `isDurable`: a power cut must not lose a fence state without alarms either.
    package mutating func judged(
        _ alarms: [LocalAlarm], of entity: String, service: Int64? = nil, fenceState: EntityFenceState,
        isDurable: Bool = false
    ) -> [Action] {
        let bytes = alarms.reduce(0) { $0 + $1.body.utf8.count }
        var verdict = Verdict(
            alarms: alarms.map { Waiting(alarm: $0, isTold: pushed.contains($0.id)) }, entity: entity, service: service,
            fenceState: fenceState,
            bytes: bytes)
        let mustLast = isDurable || notes.contains { $0.isAbout(verdict) && $0.isDurable }
        notes.removeAll { $0.isAbout(verdict) }
        guard !alarms.isEmpty else {
            verdict.isDurable = mustLast
            notes.append(verdict)
            return proceed()
        }
        var actions: [Action] = []
        if trouble != nil { actions += Self.tellEarly(&verdict, &counters) }
        queue.append(verdict)
        actions += bound()
        // A fence state that is being written has no timeout of its own.
        if case .note? = underWay, queue.count == 1 {
            actions.append(.setTimer(.timeout, milliseconds: limits.timeout))
        }
        return actions + proceed()
    }

    /// The server's push has told the alarm of this number, and the journal has it: it is not told again when the disk takes
    /// nothing more, whether the agent has found it already or finds it later.
    package mutating func heard(push id: UInt64) {
        if pushed.count >= limits.pushed { pushed.removeFirst() }
        pushed.append(id)
        for verdict in queue.indices {
            for index in queue[verdict].alarms.indices where queue[verdict].alarms[index].alarm.id == id {
                queue[verdict].alarms[index].isTold = true
            }
        }
    }

    /// The write that was under way succeeded. `outcomes`: for each alarm, in their order.
    package mutating func written(_ outcomes: [Written]) -> [Action] {
        guard let done = underWay else { return [] }
        underWay = nil
        isResting = false
        retryDelay = limits.firstRetry
        var actions: [Action] = []
        if case .verdicts(let count) = done {
            let alarms = queue.prefix(count).flatMap(\.alarms)
            queue.removeFirst(count)
            actions.append(.cancelTimer(.timeout))
            for (waiting, outcome) in zip(alarms, outcomes) { actions += told(waiting, outcome) }
        }
        if trouble != nil {
            trouble = nil
            actions.append(.relieved)
        }
        return actions + proceed()
    }

    /// The disk refused the write that was under way.
    package mutating func refused(reason: String) -> [Action] {
        guard let attempted = underWay else { return [] }
        underWay = nil
        counters.failed += 1
        isResting = true
        var actions: [Action] = [.cancelTimer(.timeout)]
        if case .note(let note) = attempted {
            // What came since follows from it.
            if let newer = notes.firstIndex(where: { $0.isAbout(note) }) {
                notes[newer].isDurable = notes[newer].isDurable || note.isDurable
            } else if !queue.contains(where: { $0.isAbout(note) }) {
                notes.append(note)
            }
        }
        actions += complain(reason) + tellWaiting()
        actions.append(.setTimer(.retry, milliseconds: retryDelay))
        retryDelay = min(retryDelay * 2, limits.lastRetry)
        return actions
    }

    package mutating func timerFired(_ timer: Timer) -> [Action] {
        switch timer {
        case .timeout:
            guard underWay != nil else { return [] }
            return complain("the disk has not answered for \(limits.timeout / 1000) s") + tellWaiting()
        case .retry:
            isResting = false
            return proceed()
        }
    }

    /// The process ends: what a refusal made wait is tried once more. What is being written keeps its turn.
    package mutating func closing() -> [Action] {
        guard isResting else { return [] }
        isResting = false
        return [.cancelTimer(.retry)] + proceed()
    }

    // MARK: Inside

    private mutating func proceed() -> [Action] {
        guard underWay == nil, !isResting else { return [] }
        guard let first = queue.first else { return writeNote() }
        var (count, bytes) = (0, 0)
        for verdict in queue {
            guard verdict.isAbout(first), count == 0 || bytes + verdict.bytes <= limits.writingBytes
            else { break }
            count += 1
            bytes += verdict.bytes
        }
        underWay = .verdicts(count)
        let batch = queue.prefix(count)
        let fenceState = batch.last?.fenceState ?? first.fenceState
        let writing = Writing(
            alarms: batch.flatMap(\.alarms), isDurable: true, entity: first.entity, service: first.service,
            fenceState: fenceState)
        // The timer first: a write may end at once.
        return [.setTimer(.timeout, milliseconds: limits.timeout), .write(writing)]
    }

    private mutating func writeNote() -> [Action] {
        guard let note = notes.first else { return [] }
        notes.removeFirst()
        underWay = .note(note)
        let writing = Writing(
            alarms: [], isDurable: note.isDurable, entity: note.entity, service: note.service,
            fenceState: note.fenceState)
        return [.write(writing)]
    }

    private mutating func told(_ waiting: Waiting, _ outcome: Written) -> [Action] {
        switch (outcome, waiting.isTold) {
        case (.known, _): return []
        case (.new(let number), false):
            counters.taken += 1
            return [.tell(waiting.alarm, .durable(number)), .runHooks(waiting.alarm, .durable(number))]
        case (.new(let number), true):
            counters.taken += 1
            return [.settleHooks(number)]
        }
    }

    private mutating func tellWaiting() -> [Action] {
        var actions: [Action] = []
        for index in queue.indices { actions += Self.tellEarly(&queue[index], &counters) }
        return actions
    }

    private static func tellEarly(_ verdict: inout Verdict, _ counters: inout Counters) -> [Action] {
        var actions: [Action] = []
        for index in verdict.alarms.indices where !verdict.alarms[index].isTold {
            verdict.alarms[index].isTold = true
            counters.early += 1
            let alarm = verdict.alarms[index].alarm
            actions += [.tell(alarm, .notDurable), .runHooks(alarm, .notDurable)]
        }
        return actions
    }

    /// Drops the oldest that are not being written, when too many wait. They have been told.
    private mutating func bound() -> [Action] {
        var actions: [Action] = []
        var dropped = 0
        let kept = if case .verdicts(let count)? = underWay { count } else { 0 }
        while queue.count > kept + 1,
            waitingCount > limits.waiting || queue.reduce(0, { $0 + $1.bytes }) > limits.waitingBytes
        {
            var gone = queue.remove(at: kept)
            actions += Self.tellEarly(&gone, &counters)
            dropped += gone.alarms.count
        }
        counters.dropped += UInt64(dropped)
        return dropped == 0 ? actions : actions + [.dropped(dropped)]
    }

    private mutating func complain(_ reason: String) -> [Action] {
        guard trouble != reason else { return [] }
        trouble = reason
        return [.complain(reason: reason)]
    }
}
