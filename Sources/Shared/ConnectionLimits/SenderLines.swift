package import TrackModel

/// Which lines of the journal that senders cause are written: each sender has a budget, and all of them together have one.
/// Knows no logger and no clock.
package struct SenderLines: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Of one sender: lines at once, and milliseconds for one more.
        package var burst: Int64 = 30
        package var interval: Int64 = 2000
        /// The same for all senders together.
        package var burstOfAll: Int64
        package var intervalOfAll: Int64
        /// Senders that are told apart; who has written nothing for the longest is forgotten.
        package var senders = 10_000

        package init(burstOfAll: Int64, intervalOfAll: Int64) {
            (self.burstOfAll, self.intervalOfAll) = (burstOfAll, intervalOfAll)
        }
    }

    private struct Account {
        var budget: LineBudget
        var last: MonotonicTime
        /// Lines that were left out and of which nobody was told.
        var leftOut: Int64 = 0
    }

    /// Milliseconds without a line after which it is said how many were left out.
    static let quietTime: Int64 = 60_000

    private let limits: Limits
    private var all: LineBudget
    private var accounts: [String: Account] = [:]
    /// Left out of senders that are forgotten.
    private var leftOutOfOthers: Int64 = 0

    package init(_ limits: Limits) {
        self.limits = limits
        all = LineBudget(burst: limits.burstOfAll, interval: limits.intervalOfAll)
    }

    package var count: Int { accounts.count }

    /// Nil: the line is not written. Otherwise how many lines of the sender were not written before it. `isCertain`: it is written in
    /// any case, and takes nothing from a budget.
    package mutating func line(of sender: String, at now: MonotonicTime, isCertain: Bool = false) -> Int64? {
        if accounts[sender] == nil, accounts.count >= limits.senders { makeRoom() }
        var account =
            accounts[sender]
            ?? Account(budget: LineBudget(burst: limits.burst, interval: limits.interval), last: now)
        account.last = now
        defer { accounts[sender] = account }
        guard isCertain || account.budget.line(at: now) != nil && all.line(at: now) != nil else {
            account.leftOut += 1
            return nil
        }
        defer { account.leftOut = 0 }
        return account.leftOut
    }

    /// What was left out of senders that have been silent since, and of those that are forgotten (nil); at most `most` of them at
    /// a time. Forgets senders that have been silent for long enough to have their whole budget.
    package mutating func takeLeftOut(at now: MonotonicTime, most: Int = 20) -> [(sender: String?, lines: Int64)] {
        var found: [(sender: String?, lines: Int64)] = []
        let whole = max(Self.quietTime, limits.burst * limits.interval)
        for (sender, account) in accounts where now - account.last >= Self.quietTime {
            if account.leftOut > 0 {
                if found.count < most {
                    found.append((sender, account.leftOut))
                } else {
                    leftOutOfOthers += account.leftOut
                }
                accounts[sender]?.leftOut = 0
            }
            if now - account.last >= whole { accounts[sender] = nil }
        }
        if leftOutOfOthers > 0 { found.append((nil, leftOutOfOthers)) }
        leftOutOfOthers = 0
        return found
    }

    /// A tenth at a time, so that a full table does not cost a search with each line.
    private mutating func makeRoom() {
        let oldest = accounts.sorted { $0.value.last < $1.value.last }.prefix(max(limits.senders / 10, 1))
        for (sender, account) in oldest {
            leftOutOfOthers += account.leftOut
            accounts[sender] = nil
        }
    }
}

/// How many lines something that anybody can cause may write into the journal.
package struct LineBudget: Hashable, Sendable {
    /// Lines at once, and milliseconds for one more.
    private let burst: Int64
    private let interval: Int64
    private var credit: Int64
    private var filled: MonotonicTime?
    private var skipped: Int64 = 0

    package init(burst: Int64 = 30, interval: Int64 = 2000) {
        self.burst = burst
        self.interval = max(1, interval)
        credit = burst
    }

    /// Nil: the line is not written. Otherwise how many lines were not written before it. `isCertain`: it is written in any case.
    package mutating func line(at now: MonotonicTime, isCertain: Bool = false) -> Int64? {
        if let former = filled {
            let lines = max(0, now - former) / interval
            credit = min(burst, credit + lines)
            filled = credit == burst ? now : former + lines * interval
        } else {
            filled = now
        }
        guard credit > 0 || isCertain else {
            skipped += 1
            return nil
        }
        credit = max(0, credit - 1)
        defer { skipped = 0 }
        return skipped
    }
}

/// What a sender has used of an allowance that comes back with time: so many at once, and one more each interval.
package struct RateBucket: Hashable, Sendable {
    /// Milliseconds of the allowance.
    private var used: Int64 = 0
    private var at: Timestamp

    package init(at now: Timestamp) { at = now }

    /// The whole allowance is there.
    package var isWhole: Bool { used == 0 }

    /// A clock that was set back gives nothing, and takes nothing.
    package mutating func pass(to now: Timestamp) {
        used = max(0, used - max(0, now.milliseconds(since: at)))
        at = now
    }

    /// `interval`: milliseconds for one more.
    package func room(of most: Int, each interval: Int64) -> Int {
        max(0, most - Int((used + interval - 1) / interval))
    }

    /// Milliseconds until there is room for one; 0: there is now.
    package func wait(of most: Int, each interval: Int64) -> Int64 { max(0, used - Int64(most - 1) * interval) }

    /// More than there is room for is a debt.
    package mutating func spend(_ count: Int, each interval: Int64) { used += Int64(count) * interval }

    package static func < (left: Self, right: Self) -> Bool { left.used < right.used }
}
