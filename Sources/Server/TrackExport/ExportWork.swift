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
