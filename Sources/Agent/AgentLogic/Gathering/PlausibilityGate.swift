internal import Geodesy
internal import TrackModel

/// Rejects jumps: places that the vehicle cannot have reached from the last point at the activity's speed.
///
/// The last point may be the wrong one, so the gate believes a new place that persists: after ``confirmations``
/// rejected fixes in a row, each plausible from the fix before, over at least ``minimumSpan``.
struct PlausibilityGate: Hashable, Sendable {
    static let confirmations = 5
    /// Milliseconds. A reflection seldom lasts so long, even at ten fixes a second.
    static let minimumSpan: Int64 = 4000
    /// Metres between two fixes of a receiver at rest, whatever errors the fixes claim.
    static let slack = 50.0
    /// The most metres of a fix's error that count. With more, every jump would be plausible.
    static let largestError = 500.0

    private var first: Fix?
    private var last: Fix?
    private var count = 0

    mutating func admits(_ fix: Fix, after point: Fix, activity: Activity) -> Bool {
        if Self.isPlausible(fix, after: point, activity) {
            reset()
            return true
        }
        if let last, fix.time > last.time, Self.isPlausible(fix, after: last, activity) {
            count += 1
        } else {
            first = fix
            count = 1
        }
        last = fix
        guard let first, count >= Self.confirmations,
            fix.time.milliseconds(since: first.time) >= Self.minimumSpan
        else { return false }
        reset()
        return true
    }

    mutating func reset() {
        first = nil
        last = nil
        count = 0
    }

    private static func isPlausible(_ fix: Fix, after start: Fix, _ activity: Activity) -> Bool {
        let seconds = Double(max(fix.time.milliseconds(since: start.time), 0)) / 1000
        let reach = activity.plausibleSpeed * seconds + slack + error(of: fix) + error(of: start)
        return distance(start, fix) <= reach
    }

    private static func error(of fix: Fix) -> Double {
        min(max(Double(fix.accuracy ?? 0) / 10, 0), largestError)
    }

    /// Metres.
    static func distance(_ start: Fix, _ end: Fix) -> Double {
        SurfaceDistance.between(start.coordinate, end.coordinate)
    }
}
