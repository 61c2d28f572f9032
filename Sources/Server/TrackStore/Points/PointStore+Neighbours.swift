package import TrackModel

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
