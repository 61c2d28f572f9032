internal import TrackModel
import TrackStore

/// Decides which pushes of one session are sent, sent again, and given up. Knows no channel and no store.
///
/// A push goes out at once, then every ``Limits/interval`` until it is acknowledged, for ``Limits/effort``; then this
/// session gives it up, and the next login begins anew. At most ``Limits/window`` pushes are under way; later ones stay
/// in the store. Do the actions in their order.
struct PushMachine: Hashable {
    enum Action: Hashable {
        /// Ask the store for the pushes that wait after this cursor; `loaded` or `loadFailed` follows.
        case load(after: StoreCursor?, limit: Int)
        case send(PendingPush)
        /// Tell the store, and the entity's other sessions.
        case settle(PendingPush, PushSettlement.Outcome)
        /// Call `timerFired` once after this time; replaces an earlier one.
        case setTimer(milliseconds: Int64)
        case cancelTimer
    }

    struct Limits: Hashable {
        /// Milliseconds between two attempts, also to ask a store that failed.
        var interval: Int64 = 15_000
        /// Milliseconds from the first attempt of a session to its end.
        var effort: Int64 = 600_000
        /// Pushes under way at a time.
        var window = 16
        /// Pushes that ended in this session and are recognised when the store tells of them again.
        var remembered = 256
    }

    private struct Flight: Hashable {
        let push: PendingPush
        /// When this session gives the push up.
        let end: MonotonicTime
        /// When the push is sent again.
        var due: MonotonicTime
    }

    private let limits: Limits
    /// In the order of their messages.
    private var flights: [Flight] = []
    /// How far the store has told of the entity's pushes; nil: the store has told of none.
    private var cursor: StoreCursor?
    /// The pushes that ended last, by their numbers; oldest first.
    private var ended: [UInt64] = []
    /// How many the store was asked for; nil while it is not being asked.
    private var asked: Int?
    /// The store may hold more behind the cursor.
    private var mayBeMore = false
    /// Something was queued while the store was being asked.
    private var isNoticePending = false
    /// When a store that failed is asked again.
    private var nextLoad: MonotonicTime?
    /// What the timer is set to.
    private var timer: MonotonicTime?

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Pushes that were sent and not acknowledged.
    var underWay: Int { flights.count }

    /// The session begins, or something was queued for its entity.
    mutating func mayWait(now: MonotonicTime) -> [Action] {
        if asked != nil { isNoticePending = true }
        mayBeMore = true
        return proceed(now)
    }

    /// The pushes that the store had, in the order of the messages, and the cursor to ask after next. Known pushes are
    /// passed over.
    mutating func loaded(_ pushes: [PendingPush], through cursor: StoreCursor, now: MonotonicTime) -> [Action] {
        guard let asked else { return [] }
        self.asked = nil
        self.cursor = cursor
        // The store had fewer than were asked for. These were all, unless others have come meanwhile.
        mayBeMore = isNoticePending || pushes.count >= asked
        isNoticePending = false
        var actions: [Action] = []
        var known = Set(flights.map(\.push.id)).union(ended)
        for push in pushes where known.insert(push.id).inserted {
            flights.append(Flight(push: push, end: now + limits.effort, due: now + limits.interval))
            actions.append(.send(push))
        }
        return actions + proceed(now)
    }

    mutating func loadFailed(now: MonotonicTime) -> [Action] {
        guard asked != nil else { return [] }
        asked = nil
        isNoticePending = false
        mayBeMore = true
        nextLoad = now + limits.interval
        return proceed(now)
    }

    /// Numbers that this session has not sent mean nothing.
    mutating func acknowledged(_ ids: some Sequence<UInt64>, now: MonotonicTime) -> [Action] {
        remove(ids).map { .settle($0, .acknowledged) } + proceed(now)
    }

    /// Another session of the entity has acknowledged them.
    mutating func settledElsewhere(_ ids: some Sequence<UInt64>, now: MonotonicTime) -> [Action] {
        remove(ids).isEmpty ? [] : proceed(now)
    }

    mutating func timerFired(now: MonotonicTime) -> [Action] {
        timer = nil
        var actions: [Action] = []
        for flight in flights where flight.end <= now { actions.append(.settle(flight.push, .givenUp)) }
        end { $0.end <= now }
        for index in flights.indices where flights[index].due <= now {
            flights[index].due = now + limits.interval
            actions.append(.send(flights[index].push))
        }
        return actions + proceed(now)
    }

    private mutating func remove(_ ids: some Sequence<UInt64>) -> [PendingPush] {
        let ids = Set(ids)
        let found = flights.filter { ids.contains($0.push.id) }.map(\.push)
        end { ids.contains($0.push.id) }
        return found
    }

    private mutating func end(where isOver: (Flight) -> Bool) {
        ended += flights.filter(isOver).map(\.push.id)
        ended.removeFirst(max(0, ended.count - limits.remembered))
        flights.removeAll(where: isOver)
    }

    /// Asks for more where there is room, and keeps the timer at the next moment that matters.
    private mutating func proceed(_ now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if let next = nextLoad, next <= now { nextLoad = nil }
        if mayBeMore, asked == nil, nextLoad == nil, flights.count < limits.window {
            let room = limits.window - flights.count
            asked = room
            actions.append(.load(after: cursor, limit: room))
        }
        let moments = flights.map { min($0.due, $0.end) } + [nextLoad].compactMap(\.self)
        guard let next = moments.min() else {
            if timer != nil { actions.append(.cancelTimer) }
            timer = nil
            return actions
        }
        if next != timer {
            timer = next
            actions.append(.setTimer(milliseconds: max(0, next - now)))
        }
        return actions
    }
}
