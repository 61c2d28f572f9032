package import TrackModel

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
