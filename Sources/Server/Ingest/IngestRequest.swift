import Synchronization

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
