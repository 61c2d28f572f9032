package import TrackModel

/// Makes one fix of each epoch: gpsd tells an epoch in one or several reports, some of them incomplete.
///
/// Reports whose times differ by at most 1 ms are of one epoch (times are rounded to milliseconds twice on their way).
/// The fix is the most complete report as it was, never a mixture: three dimensions before two, then the number of known
/// details, then the later one. It comes out when the epoch is over: with the first report of another epoch, with a report
/// that says "no fix", or with ``flush()``. What still comes of an epoch that is out is counted and dropped.
package struct EpochAssembler: Hashable, Sendable {
    /// Reports of one epoch differ by at most this, milliseconds.
    package static let tolerance: Int64 = 1

    package private(set) var counters = EpochCounters()
    private var pending: Fix?
    /// The epoch that is pending or came out last.
    private var epoch: Timestamp?

    package init() {}

    /// Takes a report; returns the fix of the epoch that it ended.
    package mutating func report(_ report: GNSSReport) -> Fix? {
        counters.reports &+= 1
        guard let fix = Fix(report) else {
            counters.unusable &+= 1
            // "No fix" ends the epoch, as another time does. Mode 0 says nothing: what the one before said still holds.
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

    /// The epoch is over: nothing has come for a while, the connection is gone, or nobody wants fixes any more.
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

/// What passed an ``EpochAssembler``. Only grow.
package struct EpochCounters: Hashable, Sendable {
    /// Reports taken.
    package internal(set) var reports: UInt64 = 0
    /// Of these, without time, place or solution, or out of range.
    package internal(set) var unusable: UInt64 = 0
    /// Of these, of an epoch that an earlier report had begun.
    package internal(set) var merged: UInt64 = 0
    /// Fixes that came out.
    package internal(set) var fixes: UInt64 = 0
}
