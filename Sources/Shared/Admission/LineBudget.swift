package import TrackModel

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
