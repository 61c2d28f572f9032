package import TrackStore

/// Who submits batches. Two sources are never the same within one process.
package enum IngestSource: Hashable, Comparable, Sendable {
    /// A device's session, by its number. Its batches depend on each other: behind one that failed none is stored.
    case session(UInt64)
    /// A request of the Web API. Its batches stand each for itself.
    case request(UInt64)
}

/// Whoever submits batches, as the writer sees it. The writer calls it from a task of its own.
package protocol IngestOwner: Sendable {
    var source: IngestSource { get }
    /// Takes jobs of one transaction that has ended, in the order of their submission.
    func settle(_ jobs: [SettledJob])
    /// A reservation that failed before may succeed now.
    func spaceIsFree()
}

/// One batch on its way to the store.
package struct IngestJob: Sendable {
    package var owner: any IngestOwner
    /// The owner's name for this job, which comes back with its end.
    package var ticket: UInt64
    package var batch: IngestBatch
    /// Memory in bytes, as it was reserved.
    package var cost: Int

    package init(owner: any IngestOwner, ticket: UInt64, batch: IngestBatch, cost: Int) {
        self.owner = owner
        self.ticket = ticket
        self.batch = batch
        self.cost = cost
    }

    /// About how much memory a batch takes until it is stored, bytes.
    package static func cost(payloadBytes: Int, points: Int) -> Int { payloadBytes + points * 200 }

    /// Nothing fails with a live hint: the next one replaces it.
    var isHint: Bool { batch.hint != nil }
}

/// A job whose transaction has ended.
package struct SettledJob: Hashable, Sendable {
    package var ticket: UInt64
    package var result: Result<UInt64, IngestFailure>

    /// A success says through which sequence the batch's stream is stored now; 0 for a batch that belongs to no stream.
    package init(ticket: UInt64, result: Result<UInt64, IngestFailure>) {
        self.ticket = ticket
        self.result = result
    }
}

/// Why a batch was not stored.
package enum IngestFailure: Error, Hashable, Sendable {
    /// The reason passes: the store is busy or full, or the queue is. A later try can help.
    case busy
    /// The service does not exist any more.
    case unknownService
    /// The claim by which the session stores does not hold any more: see ``IngestOutcome/replaced``.
    case replaced
    /// The store has lost commits that it had confirmed: see ``IngestOutcome/rewound(through:)``.
    case rewound
    /// The store failed; the log says why.
    case failed
    /// The server's clock cannot be right: see ``ClockRule``. A later try can help.
    case clock
}
