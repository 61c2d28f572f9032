import Logging
import Synchronization
package import TrackModel
import TrackStore

// The fences by which the writer judges.
extension IngestWriter {
    /// Most fences over everyone that are read before the first batch comes: those of further services are read with their
    /// first batch.
    private static let mostPrepared = 500_000

    /// Reads the fences over everyone, so that no batch waits for it. Call it before ``run()``. When the store fails, the
    /// batches read them.
    package func prepareFences() async {
        do throws(TrackStoreError) {
            try await desk.prepare(try await store.services().map(\.id), atMost: Self.mostPrepared)
            let unreadable = await desk.unreadable
            counters.change { $0.unreadableFences = unreadable }
        } catch {
            logger.error("fences could not be read yet", metadata: ["reason": "\(error.detail)"])
        }
    }

    /// Hears of changed fences when nothing else is to be done, so that a batch that comes late need not hear of many. Call
    /// it now and then.
    /// It also says what was not told of entities that made too many alarms. `now`: by the server's clock.
    package func followFences(at now: Timestamp) {
        state.withLock { $0.wantsNews = now }
        wake.yield()
    }

    func hearOfFences() async {
        let wanted = state.withLock { state in
            defer { state.wantsNews = nil }
            return state.wantsNews
        }
        // What fails here fails again with the next batch, which tells it.
        guard let now = wanted else { return }
        _ = try? await desk.hear()
        await desk.tellUntold(at: now)
    }
}

extension IngestBatch {
    /// Those uses of fences that some point of the batch falls into.
    var fencesThatCount: [FencesUsed] {
        guard !fencesUsed.isEmpty, let first = points.lazy.map(\.fix.time).min(),
            let last = points.lazy.map(\.fix.time).max()
        else { return [] }
        let begin = fencesUsed.lastIndex { $0.after < first } ?? 0
        return fencesUsed[begin...].filter { $0.after < last }
    }

    /// Who says what a batch brings about has judged it.
    var isToBeJudged: Bool {
        !points.isEmpty && expectedVersion == nil && !followsBatch && fences == nil
    }
}
