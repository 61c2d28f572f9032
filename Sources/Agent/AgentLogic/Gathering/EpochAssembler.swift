package import TrackModel

/// Makes one fix of each epoch. gpsd describes an epoch in one or several reports, and some reports are incomplete.
///
/// Reports whose times differ by at most 1 ms belong to one epoch (times are rounded to milliseconds twice on their
/// way). The fix is the most complete report, unchanged, never a mixture. Three dimensions win over two, then the
/// larger number of known details wins, then the later report. The fix comes out when the epoch is over: with the first
/// report of another epoch, with a report that says "no fix", or with ``flush()``. A report of an epoch whose fix has
/// come out is counted and dropped.
package struct EpochAssembler: Hashable, Sendable {
    /// The most milliseconds between two reports of one epoch.
    package static let tolerance: Int64 = 1

    package private(set) var counters = EpochCounters()
    private var pending: Fix?
    /// The epoch that is pending, or the last one that came out.
    private var epoch: Timestamp?

    package init() {}

    /// Takes a report. Returns the fix of the epoch that the report ends.
    package mutating func report(_ report: GNSSReport) -> Fix? {
        counters.reports &+= 1
        guard let fix = Fix(report) else {
            counters.unusable &+= 1
            // "No fix" ends the epoch, like another time. Mode 0 says nothing, so the report before still counts.
            let isOver = report.mode == 1 || report.time.map { !isOfCurrentEpoch($0) } ?? false
            return isOver ? flush() : nil
        }
        guard isOfCurrentEpoch(fix.time) else {
            let finished = flush()
            pending = fix
            epoch = fix.time
            return finished
        }
        counters.merged &+= 1
        if let best = pending, !isMoreComplete(best, than: fix) { pending = fix }
        return nil
    }

    /// The epoch is over: no report came for a while, the connection is lost, or nobody wants fixes any more.
    package mutating func flush() -> Fix? {
        defer { pending = nil }
        if pending != nil { counters.fixes &+= 1 }
        return pending
    }

    private func isOfCurrentEpoch(_ time: Timestamp) -> Bool {
        guard let epoch else { return false }
        return (-Self.tolerance...Self.tolerance).contains(time.milliseconds(since: epoch))
    }

    private func isMoreComplete(_ left: Fix, than right: Fix) -> Bool {
        let dimensions = (left.mode?.rawValue ?? 0, right.mode?.rawValue ?? 0)
        return dimensions.0 == dimensions.1
            ? left.knownDetails > right.knownDetails : dimensions.0 > dimensions.1
    }
}

/// Counts of an ``EpochAssembler``. They only grow.
package struct EpochCounters: Hashable, Sendable {
    /// Reports taken.
    package internal(set) var reports: UInt64 = 0
    /// Reports without time, place or solution, or with values out of range.
    package internal(set) var unusable: UInt64 = 0
    /// Reports of an epoch that an earlier report had begun.
    package internal(set) var merged: UInt64 = 0
    /// Fixes that came out.
    package internal(set) var fixes: UInt64 = 0
}
