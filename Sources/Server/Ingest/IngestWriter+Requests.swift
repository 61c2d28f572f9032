import Synchronization
package import TrackStore

// The batches of Web API requests. A request waits until its batches have results.
extension IngestWriter {
    /// Stores batches that belong to no stream. Returns after their commit, with one result for each batch, in order.
    ///
    /// The batches use the same queue and the same transactions as the batches of sessions. They may be in more than one
    /// transaction. The failure is `.busy` in three cases: the queue has no room within ``IngestLimits/requestWait``; the
    /// store does not answer within ``IngestLimits/requestAnswer`` (it may still store the batches later); the writer is
    /// finished.
    package func submit(_ batches: [IngestBatch]) async -> [Result<UInt64, IngestFailure>] {
        guard let service = batches.first?.service else { return [] }
        let refusal = Array(repeating: Result<UInt64, IngestFailure>.failure(.busy), count: batches.count)
        let costs = batches.map { IngestJob.cost(payloadBytes: $0.payload?.bytes.count ?? 0, points: $0.points.count) }
        let request = IngestRequest(
            number: requestNumbers.add(1, ordering: .relaxed).newValue, of: .clients(service), jobs: batches.count)
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

    /// Waits for room, at most for ``IngestLimits/requestWait``. True: the memory of the request is reserved.
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
            // The task that ends first cancels the other. If both end at the same moment, a reservation counts.
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

/// The owner of the jobs of one Web API request. Collects the results of these jobs.
final class IngestRequest: IngestOwner {
    let source: IngestSource
    let sender: IngestSender
    /// Gives an element when a reservation may succeed.
    let space: AsyncStream<Void>
    /// Ends when all jobs have a result.
    let end: AsyncStream<Void>
    private let spaceAppears: AsyncStream<Void>.Continuation
    private let ends: AsyncStream<Void>.Continuation
    private let state: Mutex<[Result<UInt64, IngestFailure>?]>

    /// The tickets of its jobs are 0 ..< `jobs`.
    init(number: UInt64, of sender: IngestSender, jobs: Int) {
        source = .request(number)
        self.sender = sender
        state = Mutex(Array(repeating: nil, count: jobs))
        (space, spaceAppears) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (end, ends) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func settle(_ jobs: [SettledJob]) {
        let isWhole = state.withLock { results in
            for job in jobs { results[Int(job.ticket)] = job.result }
            return !results.contains { $0 == nil }
        }
        if isWhole { ends.finish() }
    }

    func spaceIsFree() { spaceAppears.yield() }

    /// The results of all jobs in the order of their tickets. A job without a result has the failure `busy`.
    var results: [Result<UInt64, IngestFailure>] {
        state.withLock { $0.map { $0 ?? .failure(.busy) } }
    }
}
