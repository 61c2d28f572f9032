package import TrackModel

/// The tracks: points on their way in, and ranges of them on their way out.
///
/// An agent numbers the points of all its entities in one sequence space, its *stream*. The store keeps how far a stream
/// is stored for each entity apart, which makes storing exactly once:
///
/// - A session *opens* the stream for an entity before it stores points of it: the login for the entity of its Hello, a
///   batch of another entity before the first of them. Opening ends every earlier claim of that stream and entity.
/// - A batch names its claim's epoch and what the session believes to be stored. So a session that was replaced stores
///   nothing more, and what a claim says is final: nothing that an older session sent can be stored after it.
/// - Of one stream a session has one call at a time under way, with its batches in the order of their sequences. Then an
///   acknowledgement of any entity's batch covers every earlier batch of the session, and a claim's `storedThrough`, which
///   knows the batches of its own entity alone, is never beyond what is stored.
package protocol PointStore: Sendable {
    /// Ends every earlier claim on the stream for this entity and makes a new one. Writes: the entity is made when the
    /// service does not have it. Forgets the oldest claim of an entity that has more than ``StreamClaim/mostStreams``. Throws
    /// `.unknownService`.
    func openStream(
        _ stream: StreamID, of entity: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> StreamClaim
    /// Stores batches and returns after their commit, one outcome a batch, in order.
    ///
    /// Each batch is stored whole or not at all. A call may commit several transactions: the failure of one batch leaves the
    /// others, and a failure of the store, of which nothing is thrown, is the outcome of each batch that it concerns. A batch
    /// of a stream is not tried after one of the same stream in the call that was not stored: it fails with `.outOfTurn`. A
    /// batch that failed may be given again whatever became of it: what its sequences say is stored already is left out.
    ///
    /// A hint becomes the entity's latest point when it is later than both the latest stored one and an earlier hint, until a
    /// point as late is stored. It is no point of the track: no range, count, stream or version knows it. It makes no entity:
    /// without one it fails with `.unknownEntity`.
    func ingest(_ batches: [IngestBatch]) async -> [IngestOutcome]
    /// When the points that were stored last were received, by the server's clock of that time; nil: there are none.
    func lastReceived() async throws(TrackStoreError) -> Timestamp?
    /// The entity's version, see ``IngestBatch/expectedVersion``: as long as it is the same, so is the entity's track. Throws
    /// `.unknownEntity`.
    func version(of entity: String, in service: ServiceID) async throws(TrackStoreError) -> Int64
    /// The points with `from <= time <= through`. Points that cannot be read leave a hole, and the answer has the rest.
    /// Throws `.unknownEntity`, `.tooManyPoints` when there are more than `limit`.
    func track(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> StoredTrack
    /// The last `count` points of the track, or all of them when it has fewer, however old they are. A hole among them, or
    /// just before them, is told. Reads a few chunks more than these points are in, whatever else the track has. Throws
    /// `.unknownEntity`.
    func lastPoints(
        of entity: String, in service: ServiceID, count: Int
    ) async throws(TrackStoreError) -> StoredTrack
}

extension PointStore {
    /// As ``track(of:in:from:through:limit:)`` for a caller who needs all or nothing: throws `.corrupt` for a hole.
    package func points(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> [StoredPoint] {
        let track = try await self.track(of: entity, in: service, from: from, through: through, limit: limit)
        if let hole = track.holes.first { throw TrackStoreError(.corrupt, hole.reason) }
        return Array(track.points)
    }
}

/// Milliseconds. A search for a neighbour of a range begins with so much, and doubles it while it finds nothing.
private let firstStep: Int64 = 600_000

/// Nothing is before the first time and after the last one: a search that comes there is at its end, because sums of times stay there.
private let (firstTime, lastTime) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))

extension PointStore {
    /// So many milliseconds before a range are searched for the point before. Afterwards nothing is said of the time before
    /// the first point.
    private static var longestSearchBack: Int64 { 8 * 86_400_000 }

    /// The last gathered point before a time (`TrackPoint.continuity`): only this one tells where a gap without a known
    /// beginning begins. Nil when there is none, or when it is longer ago than eight days.
    ///
    /// `limit`: points of one reading. `holes`: what could not be read on the way. Throws `.unknownEntity`.
    package func gatheredPoint(
        before time: Timestamp, of entity: String, in service: ServiceID, limit: Int
    ) async throws(TrackStoreError) -> (point: TrackPoint?, holes: [TrackHole]) {
        guard time > firstTime else { return (nil, []) }
        let earliest = time.adding(milliseconds: -Self.longestSearchBack)
        var (end, step, holes) = (time.adding(milliseconds: -1), firstStep, [TrackHole]())
        while end >= earliest {
            let start = end.adding(milliseconds: 1 - step)
            guard let part = try await some(of: entity, in: service, from: start, through: end, limit: limit) else {
                // So many points of programs in so short a time.
                guard step > 1000 else { break }
                step /= 2
                continue
            }
            holes += part.holes
            if let found = part.points.last(where: { $0.point.continuity != nil }) { return (found.point, holes) }
            guard start > firstTime else { break }
            end = start.adding(milliseconds: -1)
            step = Self.doubled(step)
        }
        return (nil, holes)
    }

    /// Whether the entity has any point before a time, however old. Without one it is new, and nothing is missing before its
    /// first point. Throws `.unknownEntity`.
    package func hasPoints(
        before time: Timestamp, of entity: String, in service: ServiceID
    ) async throws(TrackStoreError) -> Bool {
        guard time > firstTime else { return false }
        let first = try await some(
            of: entity, in: service, from: firstTime, through: time.adding(milliseconds: -1), limit: 1)
        return first.map { !$0.points.isEmpty || !$0.holes.isEmpty } ?? true
    }

    /// The first gathered point from a time up to another; nil when there is none. `limit` and `holes` as in
    /// ``gatheredPoint(before:of:in:limit:)``.
    package func gatheredPoint(
        from time: Timestamp, through end: Timestamp, of entity: String, in service: ServiceID, limit: Int
    ) async throws(TrackStoreError) -> (point: TrackPoint?, holes: [TrackHole]) {
        var (start, step, holes) = (time, firstStep, [TrackHole]())
        while start <= end {
            let last = min(start.adding(milliseconds: step - 1), end)
            guard let part = try await some(of: entity, in: service, from: start, through: last, limit: limit) else {
                guard step > 1000 else { break }
                step /= 2
                continue
            }
            holes += part.holes
            if let found = part.points.first(where: { $0.point.continuity != nil }) { return (found.point, holes) }
            guard last < lastTime else { break }
            start = last.adding(milliseconds: 1)
            // Without a bound: the range may lie ages before the points.
            step = Self.doubled(step)
        }
        return (nil, holes)
    }

    private static func doubled(_ step: Int64) -> Int64 { min(step, .max / 4) * 2 }

    /// Nil for too many points.
    private func some(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> StoredTrack? {
        do throws(TrackStoreError) {
            return try await track(of: entity, in: service, from: from, through: through, limit: limit)
        } catch  where error.code == .tooManyPoints {
            return nil
        }
    }
}
