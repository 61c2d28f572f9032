import Synchronization
package import TrackStore

// Batches of a request, which waits for their end.
extension IngestWriter {
    /// Stores batches that belong to no stream, and returns after their commit with one result a batch, in order.
    ///
    /// The batches go through the same queue and the same transactions as those of the sessions, but not necessarily
    /// into one transaction. Fails with `.busy` when a full queue has no room within ``IngestLimits/requestWait``, when
    /// the store has not answered within ``IngestLimits/requestAnswer`` (what was submitted may still be stored), and
    /// once the writer is finished.
    package func submit(_ batches: [IngestBatch]) async -> [Result<UInt64, IngestFailure>] {
        guard !batches.isEmpty else { return [] }
        let refusal = Array(repeating: Result<UInt64, IngestFailure>.failure(.busy), count: batches.count)
        let costs = batches.map { IngestJob.cost(payloadBytes: $0.payload?.bytes.count ?? 0, points: $0.points.count) }
        let request = IngestRequest(
            number: requestNumbers.add(1, ordering: .relaxed).newValue, jobs: batches.count)
        guard await waitForRoom(costs.reduce(0, +), for: request) else {
            forget(request.source)
            return refusal
        }
        let jobs = zip(batches, costs).enumerated().map { index, job in
            IngestJob(owner: request, ticket: UInt64(index), batch: job.0, cost: job.1)
        }
        guard submit(jobs) else { return refusal }
        await waitForEnd(of: request)
        return request.results
    }

    /// Waits for room, within the bound. The request's memory is reserved when it returns true.
    private func waitForRoom(_ cost: Int, for request: IngestRequest) async -> Bool {
        guard !reserve(cost, for: request) else { return true }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in request.space where self.reserve(cost, for: request) { return true }
                return false
            }
            group.addTask {
                await self.tasks.sleep(self.limits.requestWait)
                return false
            }
            // Whoever ends first ends the other; a reservation that came in the same moment counts.
            var isReserved = false
            for await result in group {
                isReserved = isReserved || result
                group.cancelAll()
            }
            return isReserved
        }
    }

    private func waitForEnd(of request: IngestRequest) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in request.end {} }
            group.addTask { await self.tasks.sleep(self.limits.requestAnswer) }
            await group.next()
            group.cancelAll()
        }
    }
}
