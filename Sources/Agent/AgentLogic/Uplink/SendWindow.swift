internal import TrackModel

/// The batches that were sent and not yet acknowledged, oldest first; at most 16.
struct SendWindow: Hashable, Sendable {
    struct Batch: Hashable, Sendable {
        let last: UInt64
        let points: Int
        let bytes: Int
        let sentAt: MonotonicTime
    }

    let limits: UplinkLimits
    private(set) var batches: [Batch] = []
    private(set) var bytes = 0
    /// When the newest acknowledgement that released something came.
    private(set) var progressAt: MonotonicTime?

    init(limits: UplinkLimits) {
        self.limits = limits
    }

    var isEmpty: Bool { batches.isEmpty }
    var points: Int { batches.reduce(0) { $0 + $1.points } }

    /// Room for one more batch of some size.
    var isOpen: Bool { batches.count < limits.windowBatches && bytes < limits.windowBytes }

    /// An empty window takes a batch of any size: otherwise it would never go.
    func admits(bytes count: Int) -> Bool {
        isEmpty || (batches.count < limits.windowBatches && count <= limits.windowBytes - bytes)
    }

    mutating func sent(through last: UInt64, points: Int, bytes count: Int, now: MonotonicTime) {
        batches.append(Batch(last: last, points: points, bytes: count, sentAt: now))
        bytes += count
    }

    /// Whether the acknowledgement released a batch.
    mutating func acknowledged(through sequence: UInt64, now: MonotonicTime) -> Bool {
        let released = batches.prefix { $0.last <= sequence }
        guard !released.isEmpty else { return false }
        bytes -= released.reduce(0) { $0 + $1.bytes }
        batches.removeFirst(released.count)
        progressAt = now
        return true
    }

    /// Since when the server owes an answer: the sending of the oldest batch, or the last sign that the server works
    /// through the batches. Nil when it owes none.
    var waitingSince: MonotonicTime? {
        guard let oldest = batches.first else { return nil }
        return max(oldest.sentAt, progressAt ?? oldest.sentAt)
    }
}

/// Decides when a pack of points is due. It counts points, so that it needs no timer while points come.
struct PackSchedule: Hashable, Sendable {
    /// Milliseconds.
    private(set) var gatherInterval: Int64
    private(set) var packInterval: Int64
    /// Every point up to this sequence number is due now, whatever the pack interval.
    private(set) var flushThrough: UInt64 = 0

    /// Seconds, as ``Settings`` has checked them; less than one counts as one.
    init(gather: Int, pack: Int) {
        gatherInterval = Int64(clamping: max(gather, 1)).multipliedClamped(by: 1000)
        packInterval = max(Int64(clamping: max(pack, 1)).multipliedClamped(by: 1000), gatherInterval)
    }

    mutating func setIntervals(gather: Int, pack: Int) {
        let changed = PackSchedule(gather: gather, pack: pack)
        gatherInterval = changed.gatherInterval
        packInterval = changed.packInterval
    }

    var pointsPerPack: UInt64 { UInt64(packInterval / gatherInterval) }

    /// Milliseconds after which a waiting point is due in any case, because points may stop coming.
    var longestWait: Int64 { packInterval.addingClamped(gatherInterval) }

    mutating func flush(through sequence: UInt64) {
        flushThrough = max(flushThrough, sequence)
    }

    /// The numbers begin anew.
    mutating func reset() { flushThrough = 0 }

    /// `sent`: the last sequence sent or known not to be there. `next`: the sequence the next point will get.
    func isDue(sent: UInt64, next: UInt64) -> Bool {
        let newest = next == 0 ? 0 : next - 1
        guard newest > sent else { return false }
        return sent < flushThrough || newest - sent >= pointsPerPack
    }
}

extension Int64 {
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func multipliedClamped(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
