package import TrackModel

/// Early alarms that the server has not confirmed: whose point never reaches the server, and whose confirmation is overdue.
///
/// The server confirms an early alarm with its own push, soon after it has stored the point that caused the alarm, while the
/// agent is logged in as the alarm's entity. A point that is gone from the ring before that never reaches the server, and the
/// server must be told of the alarm. The same holds when the server has the point and finds no alarm, because it lacks what the vehicle
/// judged from: an earlier point, or the place that a restored backup does not have. Knows no journal, no ring and no link. Do the actions in their order.
package struct ConfirmationMachine: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Whether the ring still has these points, by the numbers of their alarms; `looked` follows.
        case look([UInt64: PointCause])
        /// The server is to be told of these alarms.
        case report([UInt64])
        /// The server has the points, and tells nothing. `report` follows.
        case overdue([UInt64])
        /// Call `timerFired` once after this time; replaces an earlier timer.
        case setTimer(milliseconds: Int64)
    }

    /// An early alarm of the journal that the server has neither told nor been told of.
    package struct Alarm: Hashable, Sendable {
        /// Of the journal.
        package var number: UInt64
        /// The number of the push that will confirm it.
        package var push: UInt64
        package var entity: String
        package var cause: PointCause

        package init(number: UInt64, push: UInt64, entity: String, cause: PointCause) {
            (self.number, self.push, self.entity, self.cause) = (number, push, entity, cause)
        }
    }

    /// What the server has of the ring's stream, as it said last.
    private struct Stored: Hashable {
        let stream: StreamID
        let through: UInt64
    }

    private struct Entry: Hashable {
        let entity: ExactName
        let cause: PointCause
        /// The number of the server's push.
        let push: UInt64
        /// The server has the point, as far as this process knows.
        var isAcknowledged = false
        /// The ring has lost points, and the disk does not say whether this one is among them.
        var isInDoubt = false
        /// Since when the server can send its push, by `sendingTime`: it has the point, and the agent is logged in as the entity.
        var waitsSince: MonotonicTime?
    }

    /// Milliseconds for which the server could send its push, in one session. While the disk of the vehicle does not take a push, the
    /// server sends few others, so this time does not count.
    package static let timeout: Int64 = 600_000
    /// Alarms that are watched; of more, the newest.
    package static let most = 10_000

    private var entries: [UInt64: Entry] = [:]
    /// Nil: nobody has logged in yet.
    private var stored: Stored?
    /// As whom the agent is logged in; nil: there is no link.
    private var present: ExactName?
    /// Pushes that came and that the disk did not take.
    private var heard: Set<UInt64> = []
    /// Pushes of this session that the agent has not acknowledged.
    private var unacknowledged: Set<UInt64> = []
    /// Since when there are any.
    private var heldSince: MonotonicTime?
    /// Milliseconds for which there were any before.
    private var heldFor: Int64 = 0
    /// The timer fired while there were any.
    private var isTimerDue = false
    /// Their confirmation did not come in time.
    package private(set) var overdueCount: UInt64 = 0

    package init() {}

    package var count: Int { entries.count }

    /// Whether an alarm of the journal, now or before its bound dropped it, waits for this push.
    package func awaits(push: UInt64) -> Bool { entries.values.contains { $0.push == push } }

    // MARK: Events

    /// The journal has this early alarm, which the agent has just found.
    package mutating func found(_ alarm: Alarm) {
        guard !heard.contains(alarm.push), entries[alarm.number] == nil else { return }
        entries[alarm.number] = Entry(entity: ExactName(alarm.entity), cause: alarm.cause, push: alarm.push)
        while entries.count > Self.most, let oldest = entries.keys.min() { entries[oldest] = nil }
    }

    /// The journal had these when the process began. It may have been read late: what the server has said until now counts for
    /// them too.
    package mutating func recalled(_ alarms: [Alarm], now: MonotonicTime) -> [Action] {
        for alarm in alarms { found(alarm) }
        guard let stored, !alarms.isEmpty else { return [] }
        return acknowledged(through: stored.through, of: stored.stream, isLogin: true, now: now)
    }

    /// The server has told it too. True: it was waited for.
    @discardableResult
    package mutating func confirmed(_ number: UInt64) -> Bool { entries.removeValue(forKey: number) != nil }

    /// The server has sent a push, and the journal notes no confirmation. What it tells is no longer waited for. When the disk
    /// did not take the push, it is not acknowledged, so the server sends it again, and the journal notes the confirmation then.
    package mutating func heard(push: UInt64) {
        if heard.count >= Self.most { heard.removeAll() }
        heard.insert(push)
        entries = entries.filter { $0.value.push != push }
    }

    /// The server has sent a push, which goes to the disk.
    package mutating func came(push: UInt64, now: MonotonicTime) {
        guard unacknowledged.count < Self.most else { return }
        heldSince = heldSince ?? now
        unacknowledged.insert(push)
    }

    /// The disk has taken a push, and the agent has acknowledged it.
    package mutating func acknowledged(push: UInt64, now: MonotonicTime) -> [Action] {
        guard unacknowledged.remove(push) != nil, unacknowledged.isEmpty else { return [] }
        heldFor += heldSince.map { now - $0 } ?? 0
        heldSince = nil
        guard isTimerDue else { return [] }
        isTimerDue = false
        return setTimer(now: now)
    }

    /// A login succeeded.
    package mutating func loggedIn(as entity: String, now: MonotonicTime) -> [Action] {
        present = ExactName(entity)
        let since = sendingTime(now)
        for (number, entry) in entries {
            entries[number]?.waitsSince = entry.isAcknowledged && entry.entity == present ? since : nil
        }
        return setTimer(now: now)
    }

    /// Until the next login the server can confirm nothing.
    package mutating func linkClosed() {
        present = nil
        for number in entries.keys { entries[number]?.waitsSince = nil }
        // The server sends again what was not acknowledged.
        (unacknowledged, heldSince, heldFor, isTimerDue) = ([], nil, 0, false)
    }

    /// The server has every point of the stream through this one. `isLogin`: as it said at the login; then points of other
    /// streams, and points that the ring has lost, never come.
    package mutating func acknowledged(
        through sequence: UInt64, of stream: StreamID, isLogin: Bool = false, now: MonotonicTime
    ) -> [Action] {
        if isLogin || stored?.stream == stream { stored = Stored(stream: stream, through: sequence) }
        let since = sendingTime(now)
        var isNew = false
        var doubtful: [UInt64] = []
        for (number, entry) in entries
        where !entry.isAcknowledged && entry.cause.stream == stream && entry.cause.sequence <= sequence {
            if entry.isInDoubt {
                // The server has what is behind the point, and perhaps not the point. It knows the alarm if it found it.
                doubtful.append(number)
                continue
            }
            entries[number]?.isAcknowledged = true
            guard entry.entity == present else { continue }
            entries[number]?.waitsSince = since
            isNew = true
        }
        var actions = report(doubtful)
        if isLogin {
            actions += report(entries.filter { !$0.value.isAcknowledged && $0.value.cause.stream != stream }.keys)
            actions += pointsWereLost()
        }
        return isNew ? actions + setTimer(now: now) : actions
    }

    /// The ring has lost points, or a person has cleared some.
    package func pointsWereLost() -> [Action] {
        let waiting = entries.filter { !$0.value.isAcknowledged }.mapValues(\.cause)
        return waiting.isEmpty ? [] : [.look(waiting)]
    }

    /// The answer to `look`. `missing`: the ring does not have their points. `unread`: the disk did not say.
    package mutating func looked(missing: [UInt64], unread: [UInt64]) -> [Action] {
        for (number, entry) in entries where !entry.isAcknowledged {
            entries[number]?.isInDoubt = unread.contains(number)
        }
        return report(
            missing.filter { number in
                guard let entry = entries[number] else { return false }
                return !entry.isAcknowledged
            })
    }

    /// The server has refused points of the stream.
    package mutating func refused(_ sequences: Set<UInt64>, of stream: StreamID) -> [Action] {
        report(entries.filter { $0.value.cause.stream == stream && sequences.contains($0.value.cause.sequence) }.keys)
    }

    package mutating func timerFired(now: MonotonicTime) -> [Action] {
        guard heldSince == nil else {
            isTimerDue = true
            return []
        }
        let sendingTime = sendingTime(now)
        let late = entries.filter { entry in
            entry.value.waitsSince.map { sendingTime - $0 >= Self.timeout } ?? false
        }.keys.sorted()
        overdueCount += UInt64(late.count)
        // Whatever the server judged from, what the vehicle has told belongs into the history.
        return (late.isEmpty ? [] : [.overdue(late)]) + report(late) + setTimer(now: now)
    }

    // MARK: Inside

    private mutating func report(_ numbers: some Collection<UInt64>) -> [Action] {
        guard !numbers.isEmpty else { return [] }
        for number in numbers { entries[number] = nil }
        return [.report(numbers.sorted())]
    }

    private func setTimer(now: MonotonicTime) -> [Action] {
        guard let first = entries.values.compactMap(\.waitsSince).min() else { return [] }
        return [.setTimer(milliseconds: max(0, first + Self.timeout - sendingTime(now)))]
    }

    /// A clock that stands while a push is not acknowledged.
    private func sendingTime(_ now: MonotonicTime) -> MonotonicTime { (heldSince ?? now) + -heldFor }
}
