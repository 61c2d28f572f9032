import SQLDatabase
import Synchronization
package import TrackStore

extension SQLiteTrackStore {
    package func ingest(_ batches: [IngestBatch]) async -> [IngestOutcome] {
        guard !batches.isEmpty else { return [] }
        // Encoding happens here, before the one writer is asked for.
        let prepared = batches.map(PreparedBatch.init)
        do throws(TrackStoreError) {
            let (outcomes, leftOut) = try await writing { database in
                var transaction = try IngestTransaction(database, self)
                let outcomes = try prepared.map { try transaction.store($0) }
                try transaction.save()
                return (outcomes, transaction.leftOut)
            }
            if leftOut > 0 { self.leftOut.withLock { $0 += leftOut } }
            return outcomes
        } catch {
            // One file, one transaction: none of them is stored.
            return batches.map { _ in .failed(error) }
        }
    }
}
