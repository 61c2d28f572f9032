/// Decides about pushes on their way from the server to the alarm journal: which are written, acknowledged and told.
///
/// A push is acknowledged when it is on the disk and not before. A push that cannot be written is forgotten, and the
/// server sends it again. The inbox knows no disk and no link. The journal says which pushes were seen before. Do the
/// actions in their order.
package struct AlarmInbox: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Write the push; `journaled` or `failed` follows.
        case journal(UInt64)
        case acknowledge(UInt64)
        /// The push is in the journal for the first time: tell everybody.
        case tell(UInt64)
        /// The push will never be taken. The inbox tells this once.
        case refuse(UInt64, Refusal)
        /// The journal does not work. The inbox tells this when it begins and when its reason changes.
        case complain(reason: String)
        /// The journal works again.
        case relieved
    }

    package enum Refusal: Hashable, Sendable {
        /// The push has no number, so nobody could tell it from another push.
        case noNumber
        /// Longer than the journal takes.
        case tooLong
    }

    package struct Limits: Hashable, Sendable {
        /// The most pushes on their way to the disk, and their most bytes. A push beyond that is not looked at; the
        /// server sends it again.
        package var waiting = 32
        package var bytes = 256 * 1024
        /// Of one push.
        package var body = 16_384

        package init() {}
    }

    /// Since the start.
    package struct Counters: Hashable, Sendable {
        /// In the journal for the first time.
        package var taken: UInt64 = 0
        /// Seen before.
        package var repeated: UInt64 = 0
        package var refused: UInt64 = 0
        /// Attempts to write that failed.
        package var failed: UInt64 = 0

        package init() {}
    }

    private let limits: Limits
    /// By number, with their bytes.
    private var waiting: [UInt64: Int] = [:]
    private var waitingBytes = 0
    /// Why the journal does not work.
    package private(set) var trouble: String?
    package private(set) var counters = Counters()
    /// The push that was refused last: if the server sends it again, the inbox tells nothing.
    private var lastRefused: UInt64?

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// `bytes` of its content.
    package mutating func received(_ id: UInt64, bytes: Int) -> [Action] {
        if id == 0 { return refuse(id, .noNumber) }
        if bytes > limits.body { return refuse(id, .tooLong) }
        // The same push again, while the first one is being written.
        guard waiting[id] == nil else { return [] }
        guard waiting.count < limits.waiting, waitingBytes + bytes <= limits.bytes else { return [] }
        waiting[id] = bytes
        waitingBytes += bytes
        return [.journal(id)]
    }

    /// The push is on the disk; `isNew`: for the first time.
    package mutating func journaled(_ id: UInt64, isNew: Bool) -> [Action] {
        guard let bytes = waiting.removeValue(forKey: id) else { return [] }
        waitingBytes -= bytes
        var actions: [Action] = [.acknowledge(id)]
        if isNew {
            counters.taken += 1
            actions.append(.tell(id))
        } else {
            counters.repeated += 1
        }
        if trouble != nil {
            trouble = nil
            actions.append(.relieved)
        }
        return actions
    }

    package mutating func failed(_ id: UInt64, reason: String) -> [Action] {
        guard let bytes = waiting.removeValue(forKey: id) else { return [] }
        waitingBytes -= bytes
        counters.failed += 1
        guard trouble != reason else { return [] }
        trouble = reason
        return [.complain(reason: reason)]
    }

    /// The journal did not open: that is known before the first push.
    package mutating func failedToOpen(reason: String) -> [Action] {
        guard trouble != reason else { return [] }
        trouble = reason
        return [.complain(reason: reason)]
    }

    private mutating func refuse(_ id: UInt64, _ reason: Refusal) -> [Action] {
        guard lastRefused != id else { return [] }
        lastRefused = id
        counters.refused += 1
        return [.refuse(id, reason)]
    }
}

/// Notes on alarms that the journal must take: what it refuses, because too much waits for the disk, is kept and given to it
/// again. A note that is lost makes a hook run twice, or an alarm that no server hears of.
///
/// Knows no journal. Every `mutating func` is an event; do the actions in their order.
package struct JournalNotes<Note: Hashable & Sendable>: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Give all of ``waiting`` to the journal, in this order. `taken` or `refused` follows at once.
        case write
        /// Call `timerFired` once after this time; replaces an earlier timer.
        case setTimer(milliseconds: Int64)
        /// The journal takes no notes; told once.
        case complain
        /// Notes are forgotten from now on, because too many wait; told once until the journal takes notes again.
        case complainOfLoss
        /// The journal takes notes again. `lost`: so many were forgotten meanwhile.
        case relieved(lost: UInt64)
    }

    /// Notes that wait; of more, the newest.
    package static var most: Int { 20_000 }

    /// The oldest first, each once.
    package private(set) var waiting: [Note] = []
    /// Notes that were forgotten because too many waited.
    package private(set) var lost: UInt64 = 0
    /// Those of them since the journal took notes last.
    private var lostLately: UInt64 = 0
    private var pause = RetryPause()

    package init() {}

    /// Something is to be noted.
    package mutating func add(_ note: Note) -> [Action] {
        waiting.removeAll { $0 == note }
        waiting.append(note)
        var complaint: [Action] = []
        if waiting.count > Self.most {
            waiting.removeFirst()
            lost += 1
            lostLately += 1
            if lostLately == 1 { complaint = [.complainOfLoss] }
        }
        return complaint + (pause.isFailing ? [] : [.write])
    }

    /// The journal has what was waiting, or will have it before anything that it is asked from now on.
    package mutating func taken() -> [Action] {
        waiting = []
        defer {
            pause.succeeded()
            lostLately = 0
        }
        return pause.isFailing ? [.relieved(lost: lostLately)] : []
    }

    /// The journal has taken none of it.
    package mutating func refused() -> [Action] {
        let isFirst = !pause.isFailing
        return (isFirst ? [.complain] : []) + [.setTimer(milliseconds: pause.failed())]
    }

    package mutating func timerFired() -> [Action] { waiting.isEmpty ? [] : [.write] }
}
