internal import TrackAnalysis
internal import TrackModel
internal import TrackStore

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
