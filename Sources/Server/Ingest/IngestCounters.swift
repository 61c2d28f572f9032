package import Exposition
import Synchronization

/// What was stored since the server started, whoever submitted it.
package struct IngestCounts: Hashable, Sendable {
    package var storedBatches: UInt64 = 0
    /// Batches that had been stored before.
    package var duplicateBatches: UInt64 = 0
    /// Points of stored batches.
    package var storedPoints: UInt64 = 0
    /// Batches whose claim did not hold any more.
    package var replacedBatches: UInt64 = 0
    /// Batches worked out from a version that was not the entity's any more.
    package var staleBatches: UInt64 = 0
    /// Batches that named more as stored than the store had: it lost commits.
    package var rewoundBatches: UInt64 = 0
    /// Batches given back because the store failed.
    package var failedBatches: UInt64 = 0
    /// Live hints that reached the store.
    package var hints: UInt64 = 0
    /// Transactions that were committed, by the time that the store took.
    package var commits = Histogram()
    /// Transactions that failed. Each try counts.
    package var failedCommits: UInt64 = 0

    package init() {}
}

final class IngestCounters: Sendable {
    private let state = Mutex(IngestCounts())

    var counts: IngestCounts { state.withLock { $0 } }

    func committed(in duration: Duration) {
        state.withLock { $0.commits.record(duration) }
    }

    func change(_ change: (inout IngestCounts) -> Void) {
        state.withLock { change(&$0) }
    }
}
