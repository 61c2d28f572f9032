internal import TrackAnalysis
internal import TrackModel
internal import TrackStore

/// The gaps of one track, stretch by stretch.
struct ExportGaps {
    private let start: Timestamp
    private var finder = GapFinder()

    /// Nothing is told of the time before `start`.
    init(from start: Timestamp) { self.start = start }

    /// The gaps that end with these points, by the times of the points. `points`: in the order of time, later than those before.
    mutating func add(_ points: StoredPoints) -> [Timestamp: [TrackGap]] {
        var found: [Timestamp: [TrackGap]] = [:]
        for stored in points where stored.point.continuity != nil {
            let (time, before) = (stored.point.fix.time, finder.gaps.count)
            finder.add(stored.point)
            let ended = finder.gaps[before...].compactMap { $0.clipped(from: start, until: time) }
            if !ended.isEmpty { found[time] = ended }
        }
        return found
    }
}
