package import Exposition
import Synchronization

/// Counts since the start of the server, of batches from sessions and from the Web API.
package struct IngestCounts: Hashable, Sendable {
    package var storedBatches: UInt64 = 0
    /// Batches that the store already had.
    package var duplicateBatches: UInt64 = 0
    /// Points of stored batches.
    package var storedPoints: UInt64 = 0
    /// Batches whose claim had ended: a newer login made another claim, or the entity was deleted.
    package var replacedBatches: UInt64 = 0
    /// Batches that were computed from an older version of the entity.
    package var staleBatches: UInt64 = 0
    /// Batches whose session believed more to be stored than the store had: the store lost commits.
    package var rewoundBatches: UInt64 = 0
    /// Batches that were not stored because the store failed.
    package var failedBatches: UInt64 = 0
    /// Alarms of fences of stored batches.
    package var alarms: UInt64 = 0
    /// Alarms and messages to other entities that were not stored, because their entity made too many: ``OutputAllowance``.
    package var untoldAlarms: UInt64 = 0
    package var untoldMessages: UInt64 = 0
    /// Points of stored batches that came too late for the fences that watch their entity: a later one was judged before.
    package var latePoints: UInt64 = 0
    /// Points of stored batches that are dated too far ahead of the server's clock for the fences.
    package var pointsAhead: UInt64 = 0
    /// Fences that cannot be read and so are not judged, as far as the points of some entity asked for them: a number of now.
    package var unreadableFences = 0
    /// Live hints that reached the store.
    package var hints: UInt64 = 0
    /// The time that the store took for each committed transaction.
    package var commits = Histogram()
    /// Transactions that failed. A repeated transaction counts again.
    package var failedCommits: UInt64 = 0

    package init() {}
}

final class IngestCounters: Sendable {
    private let state = Mutex(IngestCounts())

    var counts: IngestCounts { state.withLock { $0 } }
    var unreadableFences: Int { state.withLock { $0.unreadableFences } }

    func committed(in duration: Duration) {
        state.withLock { $0.commits.record(duration) }
    }

    func change(_ change: (inout IngestCounts) -> Void) {
        state.withLock { change(&$0) }
    }
}
