import TrackStore

/// One batch on its way to the store, and what its sender is to be told after the commit.
struct IngestJob: Sendable {
    enum Ticket: Hashable, Sendable {
        case upload(refusals: [PointRefusal])
        case points(id: UInt64, stored: Int, refusals: [PointRefusal])
        /// Nobody is told what became of it, and nothing fails with it.
        case hint
    }

    var owner: any IngestOwner
    var ticket: Ticket
    var batch: IngestBatch
    /// Bytes of the payload as received: what the sender's window counts.
    var payloadBytes: Int
    /// Memory, as it was reserved.
    var cost: Int

    /// About what a message of so many points takes in memory until it is stored.
    static func cost(payloadBytes: Int, points: Int) -> Int { payloadBytes + points * 200 }
}

/// A job whose transaction has ended.
struct SettledJob: Sendable {
    var ticket: IngestJob.Ticket
    var payloadBytes: Int
    var result: Result<IngestOutcome, IngestFailure>
}

enum IngestFailure: Error, Hashable, Sendable {
    /// For a passing reason, and all tries are used up.
    case busy
    /// The service is gone.
    case unknownService
    case failed
}

/// A session as the writer sees it; called from the writer's task.
protocol IngestOwner: Sendable {
    /// Unique among all sessions of the process.
    var number: UInt64 { get }
    /// Jobs of one transaction, in the order of their submission. After a failure no later job is stored any more.
    func settle(_ jobs: [SettledJob])
    /// A reservation that failed before may succeed now.
    func spaceIsFree()
}
