import Synchronization

/// A request of the Web API as the writer sees it: collects the results of its jobs.
final class IngestRequest: IngestOwner {
    let source: IngestSource
    /// One element whenever a reservation may succeed.
    let space: AsyncStream<Void>
    /// Ends when all jobs are settled.
    let end: AsyncStream<Void>
    private let spaceAppears: AsyncStream<Void>.Continuation
    private let ends: AsyncStream<Void>.Continuation
    private let state: Mutex<[Result<UInt64, IngestFailure>?]>

    /// The tickets of its jobs are 0 ..< `jobs`.
    init(number: UInt64, jobs: Int) {
        source = .request(number)
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

    /// The results of all jobs in the order of their tickets; what is not settled yet counts as busy.
    var results: [Result<UInt64, IngestFailure>] {
        state.withLock { $0.map { $0 ?? .failure(.busy) } }
    }
}
