import Geofencing
import Logging
import Synchronization
package import TrackModel
import TrackStore

// One group of batches after the other, on their way through the fences into the store.
extension IngestWriter {
    func storeAll() async {
        while !Task.isCancelled, let group = state.withLock({ $0.queue.takeGroup(limits) }) {
            let (kept, results) = await ingest(group)
            settle(kept, results)
        }
    }

    /// Stores the batches of a group, as far as they fit into one transaction; the others wait for a later one. Tries only those
    /// batches again whose failure may pass.
    private func ingest(_ group: [IngestJob]) async -> ([IngestJob], [BatchResult]) {
        var group = group
        let mayRetry = !limits.retries.isEmpty
        var results: [BatchResult]
        do throws(TrackStoreError) {
            let rows = SenderRowCounts(group.map(\.owner.sender), most: limits.groupRows)
            var judged = try await fenceJudge.judge(group.map(\.batch), of: rows)
            if let kept = share(of: group, judged) {
                (group, judged) = (kept.map { group[$0] }, kept.map { judged[$0] })
            }
            results = await commit(group.map(\.batch), judged, mayRetry: mayRetry)
        } catch {
            results = failed(error, group.map(\.batch), mayRetry: mayRetry)
        }
        for (index, wait) in limits.retries.enumerated() {
            let failed = Self.worthAnotherTry(group, results.map(\.outcome))
            guard !failed.isEmpty, !Task.isCancelled else { break }
            // When the task is cancelled, the wait ends at once, and the next try is the last.
            await tasks.sleep(wait)
            let again = await commit(failed.map { group[$0].batch }, mayRetry: index + 1 < limits.retries.count)
            for (place, result) in zip(failed, again) { results[place] = result }
        }
        return (group, results)
    }

    /// Which jobs of a group the transaction stores; the others go back into the queue. Nil: all of them.
    private func share(of group: [IngestJob], _ judged: [JudgedBatch]) -> [Int]? {
        let left = Set(judged.indices.filter { judged[$0].isLeft })
        guard !left.isEmpty || judged.contains(where: { !$0.batch.alarms.isEmpty }) else { return nil }
        let works = zip(group, judged).map { (sender: $0.0.owner.sender, rows: $0.1.rows) }
        let share = TransactionShare(works, left: left, most: limits.groupRows)
        guard !share.later.isEmpty else { return nil }
        state.withLock { state in
            for (sender, later) in share.later {
                state.queue.putBack(later.jobs.map { group[$0] }, of: sender, rows: later.rows)
            }
        }
        return share.now
    }

    /// The batches whose failure may pass. A batch that came out of turn behind one of its stream that is not tried again
    /// would be taken for a sign of lost commits.
    private static func worthAnotherTry(_ group: [IngestJob], _ outcomes: [IngestOutcome]) -> [Int] {
        var ended: Set<StreamKey> = []
        return outcomes.indices.filter { index in
            let (stream, outcome) = (StreamKey(group[index].batch), outcomes[index])
            guard stream.stream != nil, !outcome.isKept else { return outcome.isRetriable }
            if !outcome.isRetriable { ended.insert(stream) }
            return outcome.isRetriable && !ended.contains(stream)
        }
    }

    /// Judges the batches by the fences and stores them. When somebody else has changed an entity since its last commit here,
    /// what its batches bring about is worked out anew from what the store has. `judged`: what is worked out already.
    private func commit(
        _ batches: [IngestBatch], _ judged: [JudgedBatch]? = nil, mayRetry: Bool
    ) async -> [BatchResult] {
        var results =
            if let judged { await store(judged, mayRetry: mayRetry) } else {
                await judgeAndStore(batches, mayRetry: mayRetry)
            }
        for _ in 0..<Self.mostJudgings {
            let stale = batches.indices.filter { batches[$0].expectedVersion == nil && results[$0].outcome.isStale }
            guard !stale.isEmpty else { break }
            let streams = Set(stale.map { StreamKey(batches[$0]) })
            let again = batches.indices.filter { index in
                results[index].outcome.isStale && batches[index].expectedVersion == nil
                    || results[index].outcome.isOutOfTurn && streams.contains(StreamKey(batches[index]))
            }
            let anew = await judgeAndStore(again.map { batches[$0] }, mayRetry: mayRetry)
            for (place, result) in zip(again, anew) { results[place] = result }
        }
        return results
    }

    /// So often are batches judged anew before their owners are told to try again.
    private static let mostJudgings = 8

    private struct StreamKey: Hashable {
        let service: ServiceID
        let stream: StreamID?

        init(_ batch: IngestBatch) { (service, stream) = (batch.service, batch.position?.stream) }
    }

    /// What became of a batch.
    struct BatchResult {
        var outcome: IngestOutcome
        /// Rows that it caused beside its points, if it is stored.
        var rows = 0
        /// Of its reported alarms.
        var untold: [AlarmKey] = []
    }

    private func judgeAndStore(_ batches: [IngestBatch], mayRetry: Bool) async -> [BatchResult] {
        do throws(TrackStoreError) {
            return await store(try await fenceJudge.judge(batches), mayRetry: mayRetry)
        } catch {
            return failed(error, batches, mayRetry: mayRetry)
        }
    }

    private func failed(_ error: TrackStoreError, _ batches: [IngestBatch], mayRetry: Bool) -> [BatchResult] {
        note(batches.map { _ in .failed(error) }, of: batches, mayRetry: mayRetry).map { BatchResult(outcome: $0) }
    }

    private func store(_ judged: [JudgedBatch], mayRetry: Bool) async -> [BatchResult] {
        let outcomes = await store(judged.map(\.batch), mayRetry: mayRetry)
        let (alarms, unreadable) = await fenceJudge.settle(judged, outcomes)
        let kept = zip(judged, outcomes).filter { $0.1.isKept }.map(\.0)
        let (late, ahead) = (kept.reduce(0) { $0 + $1.late }, kept.reduce(0) { $0 + $1.ahead })
        let (untold, messages) = (kept.reduce(0) { $0 + $1.untoldAlarms }, kept.reduce(0) { $0 + $1.untoldMessages })
        if alarms + late + ahead + untold + messages > 0 || unreadable != counters.unreadableFences {
            counters.change { counts in
                counts.unreadableFences = unreadable
                counts.alarms &+= UInt64(alarms)
                counts.latePoints &+= UInt64(late)
                counts.pointsAhead &+= UInt64(ahead)
                counts.untoldAlarms &+= UInt64(untold)
                counts.untoldMessages &+= UInt64(messages)
            }
        }
        return zip(judged, outcomes).map { judged, outcome in
            guard outcome.isKept else { return BatchResult(outcome: outcome) }
            return BatchResult(outcome: outcome, rows: judged.rows, untold: judged.untold)
        }
    }
}

// The fences by which the writer judges.
extension IngestWriter {
    /// Most fences over everyone that are read before the first batch comes: those of further services are read with their
    /// first batch.
    private static let mostPrepared = 500_000

    /// Reads the fences over everyone, so that no batch waits for it. Call it before ``run()``. When the store fails, the
    /// batches read them.
    package func prepareFences() async {
        do throws(TrackStoreError) {
            try await fenceJudge.prepare(try await store.services().map(\.id), atMost: Self.mostPrepared)
            let unreadable = await fenceJudge.unreadable
            counters.change { $0.unreadableFences = unreadable }
        } catch {
            logger.error("fences could not be read yet", metadata: ["reason": "\(error.detail)"])
        }
    }

    /// Hears of changed fences when nothing else is to be done, so that a batch that comes late need not hear of many. Call
    /// it now and then.
    /// It also says what was not told of entities that made too many alarms. `now`: by the server's clock.
    package func followFences(at now: Timestamp) {
        state.withLock { $0.wantsNotices = now }
        wake.yield()
    }

    func readChangedFences() async {
        let wanted = state.withLock { state in
            defer { state.wantsNotices = nil }
            return state.wantsNotices
        }
        // What fails here fails again with the next batch, which tells it.
        guard let now = wanted else { return }
        _ = try? await fenceJudge.readChangedFences()
        await fenceJudge.tellUntold(at: now)
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
