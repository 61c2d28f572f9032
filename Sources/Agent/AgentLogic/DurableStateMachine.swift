package import TrackModel

/// Decides when the durable state is written to the disk, and what the callers who changed it are told.
///
/// One write is under way at a time; the changes that come meanwhile wait and go into the next write together. A caller is
/// told that the change is durable, or that the write failed, or, when the disk is slow, that the answer is still open.
/// Knows no disk and no state: the owner writes the state as it is when ``Action/write`` is done. Every `mutating func` is
/// an event; do the actions in their order. Decision: docs/decisions/0013-remembered-state.md.
package struct DurableStateMachine: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Write the state as it is now; `written` or `failed` follows.
        case write
        case answer(RequestID, Durability)
        /// Call `timerFired` once after this time; replaces an earlier timer of the same name.
        case setTimer(Timer, milliseconds: Int64)
        case cancelTimer(Timer)
        /// The state cannot be written. The machine tells this when it begins and when its reason changes.
        case complain(reason: String)
        /// The state is written again.
        case relieved
    }

    /// What a caller is told. The change is in force in every case.
    package enum Durability: Hashable, Sendable {
        /// The change is on the disk.
        case durable
        /// The disk has not answered yet.
        case pending
        /// The write failed; the machine tries again.
        case failed(reason: String)
    }

    package enum Timer: Hashable, Sendable, CaseIterable {
        /// Callers wait no longer.
        case timeout
        /// The time to try a failed write again.
        case retry
        /// A write takes so long that it is a trouble.
        case hang
    }

    /// Milliseconds.
    package struct Timing: Hashable, Sendable {
        /// How long a caller waits for the disk. Every call is answered within 50 ms.
        package var timeout: Int64 = 40
        /// How long the disk may take before that is a trouble.
        package var hang: Int64 = 5000
        /// After a failure, doubled with each further failure up to the last.
        package var firstRetry: Int64 = 1000
        package var lastRetry: Int64 = 60_000

        package init() {}
    }

    /// Whether the state is on the disk, for people.
    package enum Standing: Hashable, Sendable {
        /// Everything is on the disk.
        case durable
        /// A write is under way.
        case writing
        /// The last write failed, or takes too long.
        case failing(reason: String)
    }

    private struct Caller: Hashable, Sendable {
        let id: RequestID
        /// The newest change when the caller asked.
        let change: UInt64
        let deadline: MonotonicTime
    }

    private let timing: Timing
    /// The number of the newest change.
    private var newest: UInt64 = 0
    /// The newest change that is on the disk.
    private var durable: UInt64 = 0
    /// The newest change in the write that is under way.
    private var underWay: UInt64?
    private var callers: [Caller] = []
    private var retryDelay: Int64
    private var trouble: String?

    /// `trouble`: why the state of the process before could not be read; nil when it was read, or there was none.
    package init(timing: Timing = Timing(), trouble: String? = nil) {
        self.timing = timing
        self.trouble = trouble
        retryDelay = timing.firstRetry
    }

    package var standing: Standing {
        if let trouble { return .failing(reason: trouble) }
        return newest == durable ? .durable : .writing
    }

    // MARK: Events

    /// The state is another now.
    package mutating func changed() -> [Action] {
        newest += 1
        return proceed()
    }

    /// A caller wants to know what becomes of the changes so far. Answered exactly once.
    package mutating func asked(_ id: RequestID, now: MonotonicTime) -> [Action] {
        guard newest != durable else { return [.answer(id, .durable)] }
        if underWay == nil, let trouble { return [.answer(id, .failed(reason: trouble))] }
        callers.append(Caller(id: id, change: newest, deadline: now + timing.timeout))
        return callers.count == 1 ? [.setTimer(.timeout, milliseconds: timing.timeout)] : []
    }

    /// The write that was under way is on the disk.
    package mutating func written() -> [Action] {
        guard let done = underWay else { return [] }
        underWay = nil
        durable = done
        retryDelay = timing.firstRetry
        var actions: [Action] = [.cancelTimer(.hang)]
        if trouble != nil {
            trouble = nil
            actions.append(.relieved)
        }
        return actions + answer(through: done, .durable) + proceed()
    }

    /// The write that was under way failed.
    package mutating func failed(reason: String) -> [Action] {
        guard let attempted = underWay else { return [] }
        underWay = nil
        let actions =
            [.cancelTimer(.hang)] + complain(reason) + answer(through: attempted, .failed(reason: reason))
        // Changes that came meanwhile are tried at once: their callers wait.
        guard newest == attempted else { return actions + proceed() }
        let delay = retryDelay
        retryDelay = min(retryDelay * 2, timing.lastRetry)
        return actions + [.setTimer(.retry, milliseconds: delay)]
    }

    package mutating func timerFired(_ timer: Timer, now: MonotonicTime) -> [Action] {
        switch timer {
        case .timeout:
            let late = callers.filter { $0.deadline <= now }
            callers.removeAll { $0.deadline <= now }
            let next = callers.first.map { Action.setTimer(.timeout, milliseconds: $0.deadline - now) }
            return late.map { .answer($0.id, .pending) } + [next].compactMap(\.self)
        case .retry: return proceed()
        case .hang:
            return underWay == nil ? [] : complain("the disk has not answered for \(timing.hang / 1000) s")
        }
    }

    // MARK: Inside

    private mutating func proceed() -> [Action] {
        guard underWay == nil, newest != durable else { return [] }
        underWay = newest
        // The timer first: a write may fail at once.
        return [.cancelTimer(.retry), .setTimer(.hang, milliseconds: timing.hang), .write]
    }

    private mutating func complain(_ reason: String) -> [Action] {
        guard trouble != reason else { return [] }
        trouble = reason
        return [.complain(reason: reason)]
    }

    private mutating func answer(through change: UInt64, _ durability: Durability) -> [Action] {
        guard !callers.isEmpty else { return [] }
        let answered = callers.filter { $0.change <= change }
        callers.removeAll { $0.change <= change }
        return (callers.isEmpty ? [.cancelTimer(.timeout)] : []) + answered.map { .answer($0.id, durability) }
    }
}
