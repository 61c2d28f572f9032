internal import Geodesy
package import TrackModel

/// A point as fences see it. The place is WGS 84.
package struct FencePoint: Hashable, Sendable {
    /// When the entity was there, by GNSS time.
    package var time: Timestamp
    package var place: Coordinate
    /// Estimated error, 0.1 m; nil when unknown.
    package var accuracy: Int32?
    /// cm/s; nil when unknown.
    package var speed: Int32?
    /// False for a point that a program uploaded.
    package var isFromReceiver: Bool
    package var floor: FloorCode?
    /// 0.1 m above mean sea level.
    package var altitude: Int32?

    package init(
        time: Timestamp, place: Coordinate, accuracy: Int32? = nil, speed: Int32? = nil, isFromReceiver: Bool = true,
        floor: FloorCode? = nil, altitude: Int32? = nil
    ) {
        self.time = time
        self.place = place
        self.accuracy = accuracy
        self.speed = speed
        self.isFromReceiver = isFromReceiver
        self.floor = floor
        self.altitude = altitude
    }

    /// A fix with what its track attribute `floor` says.
    package init(_ fix: Fix, floor: FloorCode? = nil) {
        self.init(
            time: fix.time, place: fix.coordinate, accuracy: fix.accuracy, speed: fix.speed,
            isFromReceiver: fix.mode != nil, floor: floor, altitude: fix.altitude)
    }

    /// A stored or gathered point: agent and server judge the same. A place in another datum is converted.
    package init(_ point: TrackPoint) {
        self.init(point.fix, floor: FloorCode(of: point))
        if point.coordinateType != .wgs84 { place = Self.wgs84(point) }
    }

    private static func wgs84(_ point: TrackPoint) -> Coordinate {
        let coordinate = point.fix.coordinate
        let given = Degrees(latitude: coordinate.latitude, longitude: coordinate.longitude)
        let place = DatumConversion.wgs84(given, givenAs: point.coordinateType.datum).place
        return place == given
            ? coordinate : Coordinate(latitude: place.latitude, longitude: place.longitude) ?? coordinate
    }

    /// Metres of error that count: a receiver that is always bad must still leave, so at most 50.
    @inline(__always)
    var error: Double {
        guard let accuracy else { return isFromReceiver ? 10 : 0 }
        return Double(min(max(accuracy, 0), 500)) / 10
    }

    /// Below 1.5 m/s, as a parked vehicle is.
    @inline(__always)
    var isSlow: Bool {
        guard let speed else { return false }
        return speed < 150
    }

    /// Whether the point is good enough for a fence with this denoise, in metres.
    @inline(__always)
    func passes(denoise: Int32) -> Bool {
        guard denoise > 0, let accuracy else { return true }
        return Int64(accuracy) <= Int64(denoise) * 10
    }
}

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
