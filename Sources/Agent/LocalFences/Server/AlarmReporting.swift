internal import AgentLogic

/// Tells the server of alarms that it cannot find itself: of fences of the box's own, and early alarms whose point never
/// reaches it. The journal keeps them until the server answers; one message is under way at a time.
///
/// Knows no journal and no link. Every `mutating func` is an event; do the actions in their order.
package struct AlarmReporting: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Read the oldest alarms that are to be reported; `read` follows.
        case read
        /// Send them in one message with this number.
        case send(UInt64, [Item])
        /// The server has these alarms.
        case settle([UInt64])
        /// The server will never take this one.
        case refuse(UInt64, reason: String)
        /// Call `timerFired` once after this time; replaces an earlier timer.
        case setTimer(milliseconds: Int64)
        /// The alarms cannot be read, so that the server is not told of them; told once.
        case complain(reason: String)
        /// They can be read again.
        case relieved
    }

    package struct Item: Hashable, Sendable {
        /// Of the journal.
        package let number: UInt64
        /// Sixteen bytes.
        package let key: [UInt8]
        package let type: UInt32
        package let json: String
        /// Whom the server is to tell too.
        package let remoteTo: [String]

        package init(number: UInt64, key: [UInt8], type: UInt32, json: String, remoteTo: [String] = []) {
            (self.number, self.key, self.type, self.json) = (number, key, type, json)
            self.remoteTo = remoteTo
        }
    }

    private enum State: Hashable {
        /// To `reading`.
        case idle
        /// `again`: others came meanwhile. To `waiting`, `idle`.
        case reading(again: Bool)
        /// To `reading`, when the server answers.
        case waiting(UInt64, [Item])
    }

    package struct Counters: Hashable, Sendable {
        package var reported: UInt64 = 0
        package var refused: UInt64 = 0

        package init() {}
    }

    /// Alarms of one message.
    package static let most = 64

    private var state = State.idle
    /// A link stands whose server takes reports.
    private var isOpen = false
    private var lastMessage: UInt64 = 0
    private var pause = RetryPause()
    package private(set) var counters = Counters()

    package init() {}

    /// A link stands, and its server takes reports.
    package mutating func linkOpened() -> [Action] {
        isOpen = true
        return proceed()
    }

    package mutating func linkClosed() {
        isOpen = false
        // Whatever the server has not answered is sent again.
        if case .waiting = state { state = .idle }
    }

    /// The journal has alarms that are to be reported.
    package mutating func added() -> [Action] { proceed() }

    /// The journal gave these; `unusable`: alarms that cannot be reported, with the reason.
    package mutating func read(_ items: [Item], unusable: [UInt64: String] = [:]) -> [Action] {
        guard case .reading(let again) = state else { return [] }
        state = .idle
        var actions: [Action] = pause.isFailing ? [.relieved] : []
        pause.succeeded()
        for (number, reason) in unusable.sorted(by: { $0.key < $1.key }) {
            counters.refused += 1
            actions.append(.refuse(number, reason: reason))
        }
        guard isOpen else { return actions }
        guard !items.isEmpty else { return again || !unusable.isEmpty ? actions + proceed() : actions }
        lastMessage += 1
        state = .waiting(lastMessage, items)
        return actions + [.send(lastMessage, items)]
    }

    /// The journal could not be read, which is tried again later: what the server must hear of waits for no other event.
    package mutating func readFailed(_ reason: String) -> [Action] {
        guard case .reading = state else { return [] }
        state = .idle
        return (pause.isFailing ? [] : [.complain(reason: reason)]) + [.setTimer(milliseconds: pause.failed())]
    }

    /// What was read is for an earlier login.
    package mutating func readOutdated() -> [Action] {
        guard case .reading = state else { return [] }
        state = .idle
        return proceed()
    }

    package mutating func timerFired() -> [Action] {
        guard case .idle = state else { return [] }
        return proceed()
    }

    /// The server has answered. `refused`: by key, with the reason.
    package mutating func acknowledged(_ message: UInt64, refused: [[UInt8]: String]) -> [Action] {
        guard case .waiting(message, let items) = state else { return [] }
        state = .idle
        var actions: [Action] = []
        let taken = items.filter { refused[$0.key] == nil }.map(\.number)
        counters.reported += UInt64(taken.count)
        if !taken.isEmpty { actions.append(.settle(taken)) }
        for item in items {
            guard let reason = refused[item.key] else { continue }
            counters.refused += 1
            actions.append(.refuse(item.number, reason: reason))
        }
        return actions + proceed()
    }

    private mutating func proceed() -> [Action] {
        guard isOpen else { return [] }
        switch state {
        case .waiting: return []
        case .reading:
            state = .reading(again: true)
            return []
        case .idle:
            state = .reading(again: false)
            return [.read]
        }
    }
}
