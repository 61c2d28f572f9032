package import TrackModel

/// Jobs that compute the frequent routes of entities.
///
/// A job waits, runs, and is done. The worker that computes it has a *claim* on it, which ends by itself: when the worker is gone,
/// another one begins the job anew. A job goes with its entity.
package protocol RouteJobStore: Sendable {
    /// The job of an order: a new one, or the one that is there. A job that was done before `renewing` waits again.
    ///
    /// When the service has more than ``RouteJobRules/mostDone`` jobs that are done, the oldest of them go. Throws
    /// `.unknownService`, `.unknownEntity`, and `.tooManyRouteJobs` when ``RouteJobRules/mostUnfinished`` jobs of the
    /// service are not done.
    func addRouteJob(
        _ order: RouteJobOrder, in service: ServiceID, at now: Timestamp, renewing: Timestamp
    ) async throws(TrackStoreError) -> RouteJobRecord
    /// Nil when there is no job of this order. Throws `.unknownService`.
    func routeJob(_ order: RouteJobOrder, in service: ServiceID) async throws(TrackStoreError) -> RouteJobRecord?
    /// Claims a job that is not done and that nobody else has a claim on, and sets ``RouteJobRecord/modified``. From then on
    /// the job runs. Nil when there is none. Costs next to nothing then.
    ///
    /// The job comes first that has been due for longest: since it waits, or since a job of its service was last claimed or ended,
    /// whichever is later. So services take turns, however many jobs each has. Of a service the job comes first that has not been
    /// tried for longest: one that fails, or that ends its worker, keeps no other one waiting.
    func claimRouteJob(
        by worker: Int64, at now: Timestamp, through end: Timestamp
    ) async throws(TrackStoreError) -> RouteJobRecord?
    /// Prolongs a claim. False when the worker does not have it any more, because the job went or another worker claimed it.
    func keepRouteJob(_ number: Int64, by worker: Int64, through end: Timestamp) async throws(TrackStoreError) -> Bool
    /// Ends a claim: with a result the job is done, without one it waits again. False as in ``keepRouteJob(_:by:through:)``.
    func settleRouteJob(
        _ number: Int64, by worker: Int64, _ result: RouteJobResult?, at now: Timestamp
    ) async throws(TrackStoreError) -> Bool
    /// Removes jobs that were done before that time. Returns how many.
    func removeRouteJobs(doneBefore: Timestamp) async throws(TrackStoreError) -> Int
}

/// Bounds of jobs for frequent routes.
package enum RouteJobRules {
    /// Jobs of a service that are not done.
    package static let mostUnfinished = 10
    /// Jobs of a service that are done and kept.
    package static let mostDone = 50
    /// How long a job is kept after it was done, milliseconds.
    package static let kept: Int64 = 48 * 3_600_000
    /// Of the range, seconds: a month.
    package static let longestRange: Int64 = 31 * 86_400
    /// Minutes that an order may name.
    package static let minutes: ClosedRange<Int64> = 1...1440
    /// Bytes of ``RouteJobOrder/processing``.
    package static let mostProcessing = 1024
}

/// What a job for the frequent routes of an entity was asked for. The same order means the same job.
package struct RouteJobOrder: Hashable, Sendable {
    package var entity: ExactName
    /// The points with `from <= time <= through`.
    package var from: Timestamp
    package var through: Timestamp
    /// Minutes of the day within which the trips of a route begin.
    package var minutes: Int64
    /// How the track is processed, in the words of whoever asks. The store does not look into it.
    package var processing: String

    package init(entity: String, from: Timestamp, through: Timestamp, minutes: Int64, processing: String) {
        self.entity = ExactName(entity)
        self.from = from
        self.through = through
        self.minutes = minutes
        self.processing = processing
    }
}

/// What a job has come to.
package enum RouteJobResult: Hashable, Sendable {
    /// The routes, as whoever computed them wrote them.
    case routes([UInt8])
    /// The same would happen again. `status`: of the Web API.
    case refused(status: Int64, reason: String)
}

/// A job that computes the frequent routes of an entity.
package struct RouteJobRecord: Hashable, Sendable {
    package enum State: Int, Hashable, Sendable, CaseIterable {
        case waiting = 0
        case running = 1
        case done = 2
    }

    /// One number in the whole store, never used again.
    package var number: Int64
    package var service: ServiceID
    package var order: RouteJobOrder
    package var created: Timestamp
    /// When the state changed last, or a worker claimed the job last.
    package var modified: Timestamp
    package var state: State
    /// Set when the job is done.
    package var result: RouteJobResult?

    package init(
        number: Int64, service: ServiceID, order: RouteJobOrder, created: Timestamp, modified: Timestamp,
        state: State, result: RouteJobResult? = nil
    ) {
        self.number = number
        self.service = service
        self.order = order
        self.created = created
        self.modified = modified
        self.state = state
        self.result = result
    }
}
