package import TrackModel

/// Jobs that write points into files.
///
/// A job waits, runs, and is done. The worker that writes the file of a job has a *claim* on the job, which ends by itself:
/// when the worker is gone, another one begins the job anew.
package protocol ExportStore: Sendable {
    /// Throws `.unknownService`, and `.tooManyExports` when ``ExportRules/mostUnfinished`` jobs of the service are not done.
    func addExport(
        _ order: ExportOrder, token: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> ExportRecord
    /// Jobs that are not done, and those that were done at that time or later, by their numbers. Throws `.unknownService`.
    func exports(in service: ServiceID, doneSince: Timestamp) async throws(TrackStoreError) -> [ExportRecord]
    /// Nil when no job has this token.
    func export(token: String) async throws(TrackStoreError) -> ExportRecord?
    /// Deletes a job, whatever its state. Throws `.unknownExport`, also for a job of another service.
    func deleteExport(_ number: Int64, in service: ServiceID) async throws(TrackStoreError)
    /// Claims a job that is not done and that nobody else has a claim on, and sets ``ExportRecord/modified``. From then on
    /// the job runs. Nil when there is none. Costs next to nothing then.
    ///
    /// The job comes first that has been due for longest: since it waits, or since a job of its service was last claimed or ended,
    /// whichever is later. So services take turns, however many jobs each has. Of a service the job comes first that has not been
    /// tried for longest: one that fails, or that ends its worker, keeps no other one waiting.
    func claimExport(
        by worker: Int64, at now: Timestamp, through end: Timestamp
    ) async throws(TrackStoreError) -> ExportRecord?
    /// Prolongs a claim. False when the worker does not have it any more, because the job was deleted or another worker
    /// claimed it.
    func keepExport(_ number: Int64, by worker: Int64, through end: Timestamp) async throws(TrackStoreError) -> Bool
    /// Ends a claim: with a result the job is done, without one it waits again. False as in ``keepExport(_:by:through:)``.
    func settleExport(
        _ number: Int64, by worker: Int64, _ result: ExportResult?, at now: Timestamp
    ) async throws(TrackStoreError) -> Bool
    /// Removes jobs that were done before that time. Returns how many.
    func removeExports(doneBefore: Timestamp) async throws(TrackStoreError) -> Int
    /// The tokens of all jobs of all services: other files belong to no job.
    func exportTokens() async throws(TrackStoreError) -> Set<String>
    /// What the files of jobs that are done take, by service; services without one are missing.
    func exportUses() async throws(TrackStoreError) -> [ServiceID: ExportUse]
    /// How many jobs are in each state, of all services.
    func exportCounts() async throws(TrackStoreError) -> [ExportRecord.State: Int]
    /// Entities with a number above `after` that may have points in the range, by their numbers, at most `limit`.
    func exportedEntities(
        in service: ServiceID, from: Timestamp, through: Timestamp, after: Int64, limit: Int
    ) async throws(TrackStoreError) -> [ExportedEntity]
}

/// What the files of a service's finished exports take.
package struct ExportUse: Hashable, Sendable {
    package var files: Int
    package var bytes: Int64

    package init(files: Int, bytes: Int64) {
        self.files = files
        self.bytes = bytes
    }
}

/// The rules of jobs that the published API has.
package enum ExportRules {
    /// Jobs of a service that are not done.
    package static let mostUnfinished = 10
    /// Jobs of a service that are done and kept.
    package static let mostDone = 100
    /// How long a file is kept after its job was done, milliseconds.
    package static let kept: Int64 = 48 * 3_600_000
    /// Of the range, seconds.
    package static let longestRange: Int64 = 86_400
}

/// What an export has: the points of all entities of a service with `from <= time <= through`.
package struct ExportOrder: Hashable, Sendable {
    /// Whole seconds.
    package var from: Timestamp
    package var through: Timestamp
    /// The datum of the coordinates.
    package var coordinateType: CoordinateType

    package init(from: Timestamp, through: Timestamp, coordinateType: CoordinateType) {
        self.from = from
        self.through = through
        self.coordinateType = coordinateType
    }
}

/// What a finished export has.
package struct ExportResult: Hashable, Sendable {
    package var points: Int64
    /// Of the file.
    package var bytes: Int64

    package init(points: Int64, bytes: Int64) {
        self.points = points
        self.bytes = bytes
    }
}

/// A job that writes points of a service into a file.
package struct ExportRecord: Hashable, Sendable {
    package enum State: Int, Hashable, Sendable, CaseIterable {
        case waiting = 0
        case running = 1
        case done = 2
    }

    /// One number in the whole store, never used again.
    package var number: Int64
    package var service: ServiceID
    package var order: ExportOrder
    /// Names the file. Nobody can guess it, see ``ExportToken``.
    package var token: String
    package var created: Timestamp
    /// When the state changed last, or a worker claimed the job last.
    package var modified: Timestamp
    package var state: State
    /// Set when the job is done.
    package var result: ExportResult?

    package init(
        number: Int64, service: ServiceID, order: ExportOrder, token: String, created: Timestamp, modified: Timestamp,
        state: State, result: ExportResult? = nil
    ) {
        self.number = number
        self.service = service
        self.order = order
        self.token = token
        self.created = created
        self.modified = modified
        self.state = state
        self.result = result
    }
}

/// 32 hexadecimal digits.
package enum ExportToken {
    /// From the system's random numbers.
    package static func random() -> String {
        (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }

    /// So a text from outside can be a name in a directory.
    package static func isToken(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 32
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}

/// An entity of which an export has points.
package struct ExportedEntity: Hashable, Sendable {
    /// The store's number of it.
    package var number: Int64
    package var name: String

    package init(number: Int64, name: String) {
        self.number = number
        self.name = name
    }
}
