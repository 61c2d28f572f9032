package import Geofencing
package import TrackStore

/// Who submits batches. Each source has a number that no other source of the process has.
package enum IngestSource: Hashable, Comparable, Sendable {
    /// A session of an agent. Its batches depend on each other: after a batch that failed, the writer stores no later batch.
    case session(UInt64)
    /// A request of the Web API. Its batches do not depend on each other.
    case request(UInt64)
}

/// The interface through which the writer calls the submitter of batches. The writer calls it from the writer's own task.
package protocol IngestOwner: Sendable {
    var source: IngestSource { get }
    /// Whose turns its jobs take.
    var sender: IngestSender { get }
    /// The transaction of these jobs has ended. The jobs are in the order of their submission.
    func settle(_ jobs: [SettledJob])
    /// There is free memory: a reservation that failed before may succeed now.
    func spaceIsFree()
}

/// One batch on its way to the store.
package struct IngestJob: Sendable {
    package var owner: any IngestOwner
    /// The owner's number for this job. ``SettledJob`` has the same number.
    package var ticket: UInt64
    package var batch: IngestBatch
    /// The bytes of memory that were reserved for this job.
    package var cost: Int
    /// The queue's: jobs that were added later have greater ones.
    var number: UInt64 = 0

    package init(owner: any IngestOwner, ticket: UInt64, batch: IngestBatch, cost: Int) {
        self.owner = owner
        self.ticket = ticket
        self.batch = batch
        self.cost = cost
    }

    /// About how many bytes of memory a batch takes until it is stored.
    package static func cost(payloadBytes: Int, points: Int) -> Int { payloadBytes + points * 200 }

    /// A live hint that is not stored does not fail the session, because the next hint replaces it.
    var isHint: Bool { batch.hint != nil }
}

/// A job whose transaction has ended.
package struct SettledJob: Hashable, Sendable {
    package var ticket: UInt64
    package var result: Result<UInt64, IngestFailure>
    /// Those of its reported alarms that are not stored, because the entity has made too many.
    package var untold: [AlarmKey] = []

    /// A success has the last sequence of the batch's stream that is stored now; 0 for a batch that belongs to no stream.
    package init(ticket: UInt64, result: Result<UInt64, IngestFailure>, untold: [AlarmKey] = []) {
        self.ticket = ticket
        self.result = result
        self.untold = untold
    }
}

/// Why a batch was not stored.
package enum IngestFailure: Error, Hashable, Sendable {
    /// The store or the queue is busy or full. A later try can succeed.
    case busy
    /// The disk of the store is full, or the store's limit is reached. A later try can succeed when somebody has made room.
    case full
    /// The service does not exist any more.
    case unknownService
    /// The claim of the session has ended: see ``IngestOutcome/replaced``.
    case replaced
    /// The store has lost commits that it had confirmed: see ``IngestOutcome/rewound(through:)``.
    case rewound
    /// The store failed; the log says why.
    case failed
    /// The server's clock counts as wrong: see ``ClockRule``. A later try can succeed.
    case clock
}
