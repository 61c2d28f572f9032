internal import Geodesy
internal import TrackModel

/// A point and the point before it, as one denoise sees them.
struct FenceStep {
    let point: FencePoint
    let previous: FencePoint?
    /// Metres of error that count, of the point and of the one before.
    let error: Double
    let previousError: Double
    /// Both points are slow: the vehicle stands, and the receiver jitters.
    let areSlow: Bool
    /// Nothing contradicts that the entity went from one place to the other.
    let isCredible: Bool
    /// Milliseconds between the points; the largest number when there is no point before.
    let span: Int64

    /// Faster than this nothing travels: the straight way between such points is none.
    private static let fastest = 350.0

    init(from previous: FencePoint?, to point: FencePoint) {
        self.point = point
        self.previous = previous
        error = point.error
        previousError = previous?.error ?? 0
        areSlow = point.isSlow && previous?.isSlow ?? true
        span = previous.map { point.time.milliseconds(since: $0.time) } ?? .max
        isCredible = Self.isCredible(from: previous, to: point, span: span)
    }

    private static func isCredible(from previous: FencePoint?, to point: FencePoint, span: Int64) -> Bool {
        guard point.isFromReceiver else { return true }
        let speeds = (point.speed, previous?.speed)
        guard speeds.0 != nil || speeds.1 != nil else { return true }
        guard let previous else { return false }
        let speed = Double(max(speeds.0 ?? 0, speeds.1 ?? 0)) / 100
        guard span <= 20_000 else { return speed >= 1.5 }
        let way = SurfaceDistance.between(previous.place, point.place)
        return way <= 1.5 * speed * Double(span) / 1000 + point.error + previous.error + 20
    }

    /// The way, when little enough time lies between the points for a fence, and neither is on another floor.
    func way(for plan: FencePlan) -> Way? {
        guard let previous, span <= Int64(plan.crossingGap) * 1000, !plan.isElsewhere(previous) else { return nil }
        return Way(from: previous.place, to: point.place)
    }

    /// The way again, when something can have travelled it in the time: for visits between the points.
    func travelledWay(for plan: FencePlan) -> Way? {
        guard let way = way(for: plan), Self.isTravelled(way, in: span) else { return nil }
        return way
    }

    /// Whether anything can travel a way in so many milliseconds.
    static func isTravelled(_ way: Way, in span: Int64) -> Bool {
        let farthest = fastest * Double(span) / 1000
        return way.longest <= farthest || way.length <= farthest
    }

    /// The crossing at a share of the way.
    func crossing(at share: Double, of way: Way) -> Crossing {
        let start = previous?.time ?? point.time
        let elapsed = (share * Double(point.time.milliseconds(since: start))).rounded()
        return Crossing(at: start.adding(milliseconds: Int64(elapsed)), way.place(at: share))
    }
}
