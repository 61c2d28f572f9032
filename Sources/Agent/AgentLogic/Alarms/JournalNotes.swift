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
