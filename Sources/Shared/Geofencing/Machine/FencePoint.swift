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
