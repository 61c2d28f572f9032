package import TrackModel
import TrackWire

/// A batch with all the work done that needs no store.
package struct PreparedBatch: Sendable {
    package let service: ServiceID
    package let entity: EntityKey
    /// Nil for points of no stream. Trustworthy when there is no ``problem``.
    package let position: StreamPosition?
    /// See ``IngestBatch/heldClaim``.
    package let heldClaim: HeldClaim?
    package let received: Timestamp
    package let content: Content
    /// The live hint.
    package let hint: (point: TrackPoint, record: [UInt8])?
    /// Nil: any.
    package let expectedVersion: Int64?
    /// See ``IngestBatch/followsBatch``.
    package let followsBatch: Bool
    /// Nil: stays.
    package let fences: [UInt8]?
    /// Why the form of the batch forbids storing it.
    package let problem: TrackStoreError?
    private let pushes: [CausedPush]
    package let alarms: [CausedAlarm]

    private let points: [TrackPoint]
    private let sequences: [UInt64]

    /// What a batch adds to its entity.
    package struct Content: Sendable {
        package var chunks: [NewChunk]
        /// The latest point by ``Recency``, of several the last.
        package var latest: TrackPoint?
        package var record: [UInt8]
    }

    package init(_ batch: IngestBatch) {
        service = batch.service
        entity = EntityKey(service: batch.service, name: batch.entity)
        heldClaim = batch.heldClaim
        received = batch.received
        points = batch.points
        sequences = batch.sequences
        hint = batch.hint.map { ($0, PointRecord.encode($0)) }
        expectedVersion = batch.expectedVersion
        fences = batch.fences
        followsBatch = batch.followsBatch
        pushes = batch.pushes
        alarms = batch.alarms
        position = batch.position
        let pushProblem = batch.pushProblem.map { TrackStoreError(.failed, $0) }
        content = Self.content(batch.points, payload: batch.payload, received: batch.received)
        guard let position = batch.position else {
            problem = pushProblem
            return
        }
        let (_, overflow) = position.first.addingReportingOverflow(UInt64(position.count) &- 1)
        if position.count == 0 || overflow {
            problem = TrackStoreError(
                .failed, "a streamed batch needs at least one sequence and none beyond 64 bits")
        } else if batch.sequences.count != batch.points.count {
            problem = TrackStoreError(
                .failed,
                "a streamed batch needs one sequence a point, this one has \(batch.sequences.count) "
                    + "for \(batch.points.count)")
        } else {
            problem = pushProblem
        }
    }

    /// The pushes that the points after a sequence number cause; nil: those of all points.
    package func pushes(after stored: UInt64?) -> [NewPush] {
        pushes.filter { caused in
            guard let stored, let sequence = caused.sequence else { return true }
            return sequence > stored
        }.map(\.push)
    }

    /// The part of the batch that remains when everything up to a sequence number is stored already.
    package func content(after stored: UInt64) -> Content {
        Self.content(zip(points, sequences).filter { $0.1 > stored }.map(\.0), payload: nil, received: received)
    }

    private static func content(_ points: [TrackPoint], payload: EncodedPoints?, received: Timestamp) -> Content {
        guard let latest = Recency.latest(of: points, received: received) else {
            return Content(chunks: [], latest: nil, record: [])
        }
        let chunks: [NewChunk]
        if let payload, let chunk = NewChunk(points, payload: payload, received: received) {
            chunks = [chunk]
        } else {
            // Of two points with the same time the later one stays the later one.
            let inOrder = points.enumerated().sorted {
                ($0.element.fix.time, $0.offset) < ($1.element.fix.time, $1.offset)
            }
            chunks = NewChunk.cut(inOrder.map { StoredPoint($0.element, received: received) })
        }
        return Content(chunks: chunks, latest: latest, record: PointRecord.encode(latest))
    }
}

/// A batch payload of any format that this program reads, see docs/formats/batch-payload.md.
package struct EncodedPoints: Hashable, Sendable {
    package var isCompressed: Bool
    package var bytes: [UInt8]

    package init(isCompressed: Bool, bytes: [UInt8]) {
        self.isCompressed = isCompressed
        self.bytes = bytes
    }
}

/// When a stored point can have been made, to tell which point of an entity is the latest.
///
/// Nobody has points of the future: a point that is dated ahead of the server's clock was made when it was received, at the
/// latest. So a wrong date hides no newer point, neither for minutes nor for years.
package struct Recency: Hashable, Comparable, Sendable {
    private let made: Timestamp
    private let time: Timestamp

    package init(_ point: StoredPoint) {
        time = point.point.fix.time
        made = min(time, point.received)
    }

    package static func < (left: Self, right: Self) -> Bool { (left.made, left.time) < (right.made, right.time) }

    /// The latest of the points of one batch, of several the last; nil when there is none.
    ///
    /// A point that is dated ahead gives way to one behind it in the batch that is not, unless that one is older than another.
    package static func latest(of points: [TrackPoint], received: Timestamp) -> TrackPoint? {
        var (past, ahead): (TrackPoint?, TrackPoint?)
        for point in points {
            let time = point.fix.time
            if time > received {
                if ahead.map({ time >= $0.fix.time }) ?? true { ahead = point }
            } else if past.map({ time >= $0.fix.time }) ?? true {
                (past, ahead) = (point, nil)
            }
        }
        return ahead ?? past
    }
}

/// To which versions the batches of one call bring their entities, for those batches that follow others
/// (``IngestBatch/followsBatch``).
package struct ReachedVersions: Sendable {
    private var versions: [EntityKey: Int64] = [:]
    /// Entities of which a batch was not stored: what was worked out from it must not be stored either, whatever is stored
    /// between the two.
    private var broken: Set<EntityKey> = []

    package init() {}

    /// The version that a batch which follows must find; nil: there is none, it must not be stored.
    package func version(of entity: EntityKey) -> Int64? { broken.contains(entity) ? nil : versions[entity] }

    /// `isChecked`: the batch named the version that it needs (``IngestBatch/expectedVersion``), so it builds on nothing that
    /// came before it in the call.
    package mutating func ended(_ outcome: IngestOutcome, of entity: EntityKey, isChecked: Bool) {
        guard case .stored(_, let version) = outcome else {
            broken.insert(entity)
            return
        }
        versions[entity] = version
        if isChecked { broken.remove(entity) }
    }
}
