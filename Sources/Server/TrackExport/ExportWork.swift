package import TrackAnalysis
package import TrackModel
package import TrackStore

/// Writes the lines of one job: entity by entity, stretch by stretch, so that memory does not grow with the range.
package struct ExportWork: Sendable {
    /// Points that are read at one time, unless a test asks for fewer.
    package static let pointsAtOnce = 20_000
    static let entitiesAtOnce = 256
    /// Points that are text at one time: the text of a point takes more memory than the point.
    private static let pointsOfText = 1000

    /// The points of an entity as lines of text, with the gaps of the track by the times of the points that end them.
    package typealias Lines = @Sendable (ExportedEntity, [StoredPoint], [Timestamp: [TrackGap]]) -> [UInt8]

    /// What a job has come to.
    package struct Progress: Hashable, Sendable {
        package var points: Int64 = 0
        /// Stretches of tracks that the store cannot read.
        package var holes: [TrackHole] = []

        package init() {}
    }

    private let store: any TrackStore
    private let job: ExportRecord
    private let pointsAtOnce: Int
    private let lines: Lines

    package init(
        _ job: ExportRecord, store: any TrackStore, pointsAtOnce: Int = Self.pointsAtOnce, lines: @escaping Lines
    ) {
        self.store = store
        self.job = job
        self.pointsAtOnce = pointsAtOnce
        self.lines = lines
    }

    /// Writes all lines to `file`. Asks `goesOn` before each stretch. False: it was told to stop.
    ///
    /// Throws ``TrackStoreError`` and ``ExportFileError``.
    package func write(
        to file: inout ExportFile, _ progress: inout Progress, while goesOn: () async throws -> Bool
    ) async throws -> Bool {
        var last: Int64 = 0
        while true {
            let entities = try await store.exportedEntities(
                in: job.service, from: job.order.from, through: job.order.through, after: last,
                limit: Self.entitiesAtOnce)
            guard let end = entities.last else { return true }
            for entity in entities {
                guard try await write(entity, to: &file, &progress, while: goesOn) else { return false }
            }
            last = end.number
        }
    }

    private func write(
        _ entity: ExportedEntity, to file: inout ExportFile, _ progress: inout Progress,
        while goesOn: () async throws -> Bool
    ) async throws -> Bool {
        var gaps = ExportGaps(from: job.order.from)
        var from = job.order.from
        var stretch = job.order.through.milliseconds - job.order.from.milliseconds + 1
        while from <= job.order.through {
            guard try await goesOn() else { return false }
            let through = min(job.order.through, from.adding(milliseconds: stretch - 1))
            do {
                let track = try await store.track(
                    of: entity.name, in: job.service, from: from, through: through, limit: pointsAtOnce)
                if !track.holes.isEmpty { gaps = ExportGaps(from: through, isBegun: true) }
                if gaps.needsPointBefore(track.points) {
                    let before = try await store.gatheredPoint(
                        before: job.order.from, of: entity.name, in: job.service, limit: pointsAtOnce)
                    var isNew = false
                    if before.point == nil {
                        isNew = try await !store.hasPoints(before: job.order.from, of: entity.name, in: job.service)
                    }
                    gaps.begin(after: before.point, isNew: isNew)
                }
                let ended = gaps.add(track.points)
                for start in stride(from: 0, to: track.points.count, by: Self.pointsOfText) {
                    let end = min(start + Self.pointsOfText, track.points.count)
                    try file.append(lines(entity, Array(track.points[start..<end]), ended))
                }
                progress.points += Int64(track.points.count)
                progress.holes += track.holes
                from = through.adding(milliseconds: 1)
            } catch let error as TrackStoreError where error.code == .tooManyPoints && stretch > 1 {
                stretch = (stretch + 1) / 2
            } catch let error as TrackStoreError where error.code == .unknownEntity {
                // It was deleted meanwhile, with its points.
                return true
            }
        }
        return true
    }
}

/// The gaps of one track, stretch by stretch.
struct ExportGaps {
    private let start: Timestamp
    private var finder = GapFinder()
    /// Whether the point before these is known, or is not to be asked for.
    private var isBegun: Bool
    /// There is no point before these, however old.
    private var isNew = false

    /// Nothing is told of the time before `start`. `isBegun`: nobody knows the point before.
    init(from start: Timestamp, isBegun: Bool = false) {
        self.start = start
        self.isBegun = isBegun
    }

    /// Whether it must be told of the last gathered point before `start`, before these are added.
    func needsPointBefore(_ points: StoredPoints) -> Bool {
        !isBegun && points.contains { $0.point.continuity != nil }
    }

    /// `isNew`: there is no point before ``start``, so nothing is missing before the first one.
    mutating func begin(after point: TrackPoint?, isNew: Bool = false) {
        (isBegun, self.isNew) = (true, isNew)
        if let point { finder.add(point) }
    }

    /// The gaps that end with these points, by the times of the points. `points`: in the order of time, later than those before.
    mutating func add(_ points: StoredPoints) -> [Timestamp: [TrackGap]] {
        var found: [Timestamp: [TrackGap]] = [:]
        for stored in points where stored.point.continuity != nil {
            let (time, before) = (stored.point.fix.time, finder.gaps.count)
            finder.add(stored.point)
            let told = finder.gaps[before...].filter { !isNew || $0.hasKnownStart }
            let ended = told.compactMap { $0.clipped(from: start, until: time) }
            if !ended.isEmpty { found[time] = ended }
        }
        return found
    }
}
