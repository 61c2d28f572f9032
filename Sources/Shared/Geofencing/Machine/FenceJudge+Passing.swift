internal import Geodesy
internal import TrackModel

// Most points of most entities are far from every fence. What one question to the index says of many of them need not be
// asked for each.
extension FenceJudge {
    /// Passes over points that surely change nothing but the last point: the entity is in no fence, and none is near its way.
    ///
    /// `points` ascend in time. Returns how many of those from `start` on were judged so, the earliest ones; 0 says nothing.
    /// What is remembered is the same as if each of them had been judged alone.
    package mutating func passOver(
        _ points: ArraySlice<FencePoint>, of fenceState: inout EntityFenceState, by fences: FenceSet,
        own: FenceSet? = nil
    ) -> Int {
        guard fenceState.pairs.isEmpty, fenceState.overspeed == nil, let first = points.first else { return 0 }
        if let last = fenceState.lastTime, first.time <= last { return 0 }
        guard passing.isWorthIt() else { return 0 }
        let margin = max(
            FenceSearch.margin(of: fences.traits, fenceState),
            own.map { FenceSearch.margin(of: $0.traits, fenceState) } ?? 0)
        var count = min(passing.length, points.count)
        while count >= PassingLength.least {
            let run = points.prefix(count)
            guard let box = PassedWay(run, after: fenceState)?.box(grownBy: margin) else { break }
            if !fences.meets(box), own.map({ !$0.meets(box) }) ?? true {
                passing.succeeded(count)
                remember(run, in: &fenceState, fences, own)
                return count
            }
            count /= 4
        }
        passing.failed()
        return 0
    }

    private func remember(
        _ run: ArraySlice<FencePoint>, in fenceState: inout EntityFenceState, _ fences: FenceSet, _ own: FenceSet?
    ) {
        let denoises = Self.denoises(fences, own)
        if denoises.isEmpty, let last = run.last {
            fenceState.remember(last, denoises: [])
        } else {
            for point in run { fenceState.remember(point, denoises: denoises) }
        }
    }
}

/// How many points are asked for at once: more while it succeeds, fewer, and none for a while, when it does not.
struct PassingLength {
    static let least = 4
    private static let most = 64
    private static let longestPause = 32

    private(set) var length = 16
    private var pause = 0
    private var nextPause = 1

    mutating func isWorthIt() -> Bool {
        guard pause > 0 else { return true }
        pause -= 1
        return false
    }

    mutating func succeeded(_ count: Int) {
        length = min(2 * count, Self.most)
        nextPause = 1
    }

    mutating func failed() {
        length = Self.least
        pause = nextPause
        nextPause = min(2 * nextPause, Self.longestPause)
    }
}

/// The box of the way through some points, from where the entity was before: every question to the index that judging these
/// points one by one would ask lies in it.
private struct PassedWay {
    private var (south, north) = (Int32.max, Int32.min)
    private var (west, east) = (Int32.max, Int32.min)

    /// Nil when the points are not in the order of their times, or too far apart.
    init?(_ run: ArraySlice<FencePoint>, after fenceState: EntityFenceState) {
        for point in fenceState.points { add(point.place) }
        var last: Timestamp?
        for point in run {
            if let last, point.time <= last { return nil }
            last = point.time
            add(point.place)
        }
        // No way between two of the places goes around the other side of the earth.
        guard Int64(east) - Int64(west) < 1_800_000_000 else { return nil }
    }

    private mutating func add(_ place: Coordinate) {
        (south, north) = (min(south, place.latitudeE7), max(north, place.latitudeE7))
        (west, east) = (min(west, place.longitudeE7), max(east, place.longitudeE7))
    }

    /// Grown as ``FenceSearch`` grows the boxes of single points.
    func box(grownBy metres: Double) -> ShapeBox? {
        guard let start = Coordinate(latitudeE7: south, longitudeE7: west),
            let end = Coordinate(latitudeE7: north, longitudeE7: east)
        else { return nil }
        return ShapeBox(from: start, to: end, grownBy: metres)
    }
}
