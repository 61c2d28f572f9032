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
