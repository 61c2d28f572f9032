package import TrackModel
package import TrackStore

/// Who waits for the writer. Each has turns of its own.
package enum IngestSender: Hashable, Sendable {
    /// All sessions of one vehicle: of one device, or of one entity that logs in with an access key.
    case vehicle(EntityKey)
    /// The requests of the Web API to one service.
    case clients(ServiceID)
}

/// What waits for the writer, in fair turns of its senders: a sender that makes much work waits behind those that make little.
/// Knows no store.
///
/// Each sender has a lane. The lanes give one item each in turn, so the order of one sender's items stays. What the items of
/// a sender cost is known only when they are done: then the sender owes what was more than usual, and it has no turn while
/// others without debts wait. Whoever waits alone has every turn. Most senders owe nothing, and cost no more than a look-up.
struct DeficitRoundRobin<Sender: Hashable, Item> {
    /// Rows of one item that are usual: nothing is owed for them.
    static var usual: Int { 64 }
    /// Rows of its debt that a sender is forgiven with each group of others.
    static var forgiven: Int { 256 }

    struct Limits {
        var items: Int
        var bytes: Int
        /// Expected from what the items of the same sender have cost last.
        var rows: Int
    }

    private struct Lane {
        var items: [Item?] = []
        var head = 0

        var first: Item? { head < items.count ? items[head] : nil }
        var isEmpty: Bool { head == items.count }

        mutating func removeFirst() {
            items[head] = nil
            head += 1
            guard head == items.count || head >= 64 else { return }
            items.removeFirst(head)
            head = 0
        }
    }

    private struct Account {
        /// Rows that the sender still owes.
        var debt = 0
        /// Rows of its next item, as the last ones were.
        var expected = 0
    }

    private var lanes: [Sender: Lane] = [:]
    /// The senders with items, in the order of their turns, from `next` on.
    private var turns: [Sender] = []
    private var next = 0
    /// Of those who lately made more than usual.
    private var accounts: [Sender: Account] = [:]
    private(set) var count = 0

    /// The items that each sender gives up next.
    var firsts: some Sequence<Item> { lanes.values.lazy.compactMap(\.first) }

    mutating func add(_ item: Item, of sender: Sender) {
        if lanes[sender] == nil { turns.append(sender) }
        lanes[sender, default: Lane()].items.append(item)
        count += 1
    }

    /// The items of the next group; empty when nothing waits. The first one is taken whatever it costs.
    mutating func take(_ limits: Limits, bytes: (Item) -> Int) -> [Item] {
        if accounts.isEmpty { return take(limits, bytes, among: turns.count - next) }
        forgiveTheLeast()
        let group = take(limits, bytes, among: turns.count - next)
        for (sender, account) in accounts {
            let debt = max(0, account.debt - Self.forgiven)
            accounts[sender]?.debt = debt
            if debt == 0, account.expected <= Self.usual { accounts[sender] = nil }
        }
        return group
    }

    /// Items that were taken and are not done: they are the first of their senders again. In the order in which they were taken.
    /// `rows`: what one of them is now known to cost.
    mutating func putBack(_ items: [Item], of sender: Sender, rows: Int) {
        guard !items.isEmpty else { return }
        if lanes[sender] == nil { turns.append(sender) }
        var lane = Lane()
        lane.items = items
        if let former = lanes[sender] { lane.items += former.items[former.head...] }
        lanes[sender] = lane
        count += items.count
        // Others are served first, if there are any.
        accounts[sender] = Account(debt: max(accounts[sender]?.debt ?? 0, Self.forgiven), expected: rows)
    }

    /// Items of a sender are done, and so many rows were written for them.
    mutating func charge(_ sender: Sender, rows: Int, items: Int) {
        guard items > 0 else { return }
        let extra = rows - items * Self.usual
        guard extra > 0 || accounts[sender] != nil else { return }
        var account = accounts[sender] ?? Account()
        account.debt += max(0, extra)
        account.expected = rows / items
        accounts[sender] = account.debt == 0 && account.expected <= Self.usual ? nil : account
    }

    /// Takes out the items for which this holds.
    mutating func remove(where isRemoved: (Item) -> Bool) -> [Item] {
        var removed: [Item] = []
        for sender in turns[next...] {
            guard var lane = lanes[sender] else { continue }
            let items = lane.items[lane.head...]
            guard items.contains(where: { $0.map(isRemoved) ?? false }) else { continue }
            removed += items.compactMap(\.self).filter(isRemoved)
            lane.items = items.filter { !($0.map(isRemoved) ?? true) }
            lane.head = 0
            lanes[sender] = lane.isEmpty ? nil : lane
        }
        turns = turns[next...].filter { lanes[$0] != nil }
        next = 0
        count -= removed.count
        return removed
    }

    // MARK: Turns

    private mutating func take(_ limits: Limits, _ bytes: (Item) -> Int, among senders: Int) -> [Item] {
        var group: [Item] = []
        var (taken, rows) = (0, 0)
        // A round gives each sender one turn; a round without an item is the last one.
        var (turnsOfRound, itemsBefore) = (senders, 0)
        while next < turns.count {
            if turnsOfRound == 0 {
                guard group.count > itemsBefore else { break }
                (turnsOfRound, itemsBefore) = (turns.count - next, group.count)
            }
            turnsOfRound -= 1
            let sender = turns[next]
            guard let item = lanes[sender]?.first else { break }
            let account = accounts.isEmpty ? nil : accounts[sender]
            let expected = account?.expected ?? 0
            let isLater = (account?.debt ?? 0) > 0 || (!group.isEmpty && rows + expected > limits.rows)
            if !isLater {
                let size = bytes(item)
                guard group.isEmpty || group.count < limits.items && taken + size <= limits.bytes else { break }
                (taken, rows) = (taken + size, rows + expected)
                group.append(item)
                lanes[sender]?.removeFirst()
                count -= 1
            }
            next += 1
            if lanes[sender]?.isEmpty ?? true { lanes[sender] = nil } else { turns.append(sender) }
        }
        if next == turns.count || next >= 4096 {
            turns.removeFirst(next)
            next = 0
        }
        return group
    }

    /// When everybody who waits owes something, the one who owes least has its turn.
    private mutating func forgiveTheLeast() {
        var least = Int.max
        for sender in turns[next...] {
            least = min(least, accounts[sender]?.debt ?? 0)
            if least == 0 { return }
        }
        guard least < Int.max else { return }
        for sender in turns[next...] { accounts[sender]?.debt -= least }
    }
}

/// Which jobs of a group one transaction stores, when together they cause more rows than it may have: those of the senders that
/// cause the fewest. The others wait for a later one.
struct TransactionShare {
    /// Places of the jobs, ascending; never empty for a group that is not.
    private(set) var now: [Int] = []
    /// Of a sender: the places of its jobs that wait, in their order, and how many rows one of them causes.
    private(set) var later: [IngestSender: (jobs: [Int], rows: Int)] = [:]

    /// `left`: jobs that nobody has judged yet, because those of their sender before them are enough.
    init(_ jobs: [(sender: IngestSender, rows: Int)], left: Set<Int> = [], most: Int) {
        guard !left.isEmpty || jobs.reduce(0, { $0 + $1.rows }) > most else {
            now = Array(jobs.indices)
            return
        }
        var totals: [IngestSender: (rows: Int, first: Int)] = [:]
        for (place, job) in jobs.enumerated() {
            totals[job.sender, default: (0, place)].rows += job.rows
        }
        var room = most
        var isOver = false
        let order = totals.sorted { ($0.value.rows, $0.value.first) < ($1.value.rows, $1.value.first) }
        let places = Dictionary(grouping: jobs.indices) { jobs[$0].sender }
        for (sender, _) in order {
            var waits: [Int] = []
            for place in places[sender] ?? [] {
                // The jobs of a sender keep their order. The first of all is stored whatever it causes.
                let fits = jobs[place].rows <= room || now.isEmpty
                if waits.isEmpty, !left.contains(place), !isOver || jobs[place].rows == 0, fits {
                    now.append(place)
                    room -= jobs[place].rows
                } else {
                    waits.append(place)
                    isOver = true
                }
            }
            guard !waits.isEmpty else { continue }
            // What nobody has judged causes as much as what was.
            let judged = (places[sender] ?? []).filter { !left.contains($0) }
            later[sender] = (waits, judged.reduce(0) { $0 + jobs[$1].rows } / max(1, judged.count))
        }
        now.sort()
    }
}

/// How many rows the batches of each sender cause, while one batch of a group after the other is judged.
struct SenderRowCounts: Sendable {
    /// Of each batch.
    let senders: [IngestSender]
    /// Rows of one transaction.
    let most: Int
    private var rows: [IngestSender: Int] = [:]

    init(_ senders: [IngestSender], most: Int) { (self.senders, self.most) = (senders, most) }

    /// The batches of the sender before this one cause more than one transaction stores.
    func isOver(at place: Int) -> Bool { rows[senders[place]].map { $0 > most } ?? false }

    mutating func add(_ rows: Int, at place: Int) {
        if rows > 0 { self.rows[senders[place], default: 0] += rows }
    }
}
