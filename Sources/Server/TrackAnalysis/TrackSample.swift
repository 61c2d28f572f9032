package import Geodesy
package import TrackModel

/// One point on its way through the steps of the analysis.
package struct TrackSample: Hashable, Sendable {
    /// The point's position in the track as it was fed in, from 0.
    package let index: Int
    /// By GNSS time, milliseconds since 1970.
    package let time: Int64
    /// WGS 84, 1e-7 degree.
    package private(set) var latitudeE7: Int32
    package private(set) var longitudeE7: Int32
    private var speedOrUnknown: Int32
    private var courseOrUnknown: Int32
    private let accuracyOrUnknown: Int32
    /// The agent says that the vehicle was parked.
    package let isParked: Bool
    /// The point stands in a stop, and at the stop's mean place.
    package private(set) var isInStop = false
    /// The vehicle cannot have come here from the sample before: nobody knows which of both is false.
    package internal(set) var followsBreak = false
    /// Thinning keeps the point.
    package var isPinned = false
    /// The place again, for computing.
    package private(set) var position: EarthVector

    private static let unknown = Int32.min

    package init(
        index: Int, time: Int64, latitudeE7: Int32, longitudeE7: Int32, speed: Int32? = nil, course: Int32? = nil,
        accuracy: Int32? = nil, isParked: Bool = false
    ) {
        self.index = index
        self.time = time
        self.latitudeE7 = latitudeE7
        self.longitudeE7 = longitudeE7
        speedOrUnknown = speed ?? Self.unknown
        courseOrUnknown = course ?? Self.unknown
        accuracyOrUnknown = accuracy ?? Self.unknown
        self.isParked = isParked
        position = EarthVector(Degrees(latitude: Double(latitudeE7) / 1e7, longitude: Double(longitudeE7) / 1e7))
    }

    /// As uploaded, cm/s; 0 in a stop.
    package var speed: Int32? { speedOrUnknown == Self.unknown ? nil : speedOrUnknown }
    /// As uploaded, 0.1 degree from true north; unknown in a stop.
    package var course: Int32? { courseOrUnknown == Self.unknown ? nil : courseOrUnknown }
    /// As uploaded, 0.1 m.
    package var accuracy: Int32? { accuracyOrUnknown == Self.unknown ? nil : accuracyOrUnknown }

    /// m/s, when it is known.
    package var metresASecond: Double? { speed.map { Double($0) / 100 } }
    /// km/h, when it is known. Whole values stay whole.
    package var kilometresAnHour: Double? { speed.map { Double($0) * 36 / 1000 } }
    /// km/h as a client reads it, when it is known: with one decimal when that stands for the same stored speed, else with
    /// two. So a speed that was uploaded as 50 km/h is 50 and not 50.004, and is not over a limit of 50.
    package var shownSpeed: Double? {
        speed.map { speed in
            let tenths = (Double(speed) * 0.36).rounded()
            let isWhole = (tenths / 0.36).rounded() == Double(speed)
            return isWhole ? tenths / 10 : (Double(speed) * 3.6).rounded() / 100
        }
    }
    /// Metres, when it is known.
    package var radius: Double? { accuracy.map { Double($0) / 10 } }

    package var place: Degrees {
        Degrees(latitude: Double(latitudeE7) / 1e7, longitude: Double(longitudeE7) / 1e7)
    }

    package var timestamp: Timestamp { Timestamp(milliseconds: time) }

    /// Milliseconds from this sample to `now`.
    func age(at now: Int64) -> Int64 { Timestamp(milliseconds: now).milliseconds(since: timestamp) }

    /// Seconds from another sample to this one.
    package func seconds(since other: TrackSample) -> Double { Double(milliseconds(since: other)) / 1000 }

    /// Clamped: times from outside never trap.
    package func milliseconds(since other: TrackSample) -> Int64 {
        timestamp.milliseconds(since: other.timestamp)
    }

    /// Metres along the ground.
    package func distance(to other: TrackSample) -> Double { position.distance(to: other.position) }

    /// The sample at another place, with all else that it says: where a road is, for example.
    package func moved(to place: Degrees) -> TrackSample {
        var sample = self
        sample.latitudeE7 = Self.tenMillionths(place.latitude, within: 90)
        sample.longitudeE7 = Self.tenMillionths(place.longitude, within: 180)
        sample.position = EarthVector(place)
        return sample
    }

    /// Clamped: a place from outside never traps.
    private static func tenMillionths(_ degrees: Double, within limit: Double) -> Int32 {
        Int32((max(-limit, min(limit, degrees)) * 1e7).rounded())
    }

    /// The sample at a stop's mean place, at rest.
    func standing(at mean: EarthVector, of place: Degrees) -> TrackSample {
        var sample = self
        sample.latitudeE7 = Self.tenMillionths(place.latitude, within: 90)
        sample.longitudeE7 = Self.tenMillionths(place.longitude, within: 180)
        sample.speedOrUnknown = 0
        sample.courseOrUnknown = Self.unknown
        sample.isInStop = true
        sample.position = mean
        return sample
    }
}

/// Points of one entity in columns: 29 bytes a point, places in WGS 84, times ascending.
///
/// Attributes stay with the caller: a sample names its point by index.
package struct TrackColumns: Hashable, Sendable {
    /// Stands for "unknown" in a column of optional values.
    private static let unknown = Int32.min

    private var times: [Int64] = []
    private var latitudes: [Int32] = []
    private var longitudes: [Int32] = []
    private var speeds: [Int32] = []
    private var courses: [Int32] = []
    private var accuracies: [Int32] = []
    private var flags: [UInt8] = []

    package init() {}

    /// The columns of points in their order.
    package init(_ points: some Sequence<TrackPoint>) {
        reserve(points.underestimatedCount)
        for point in points { append(point) }
    }

    package var count: Int { times.count }

    /// For a caller that knows how many points come.
    package mutating func reserve(_ count: Int) {
        times.reserveCapacity(count)
        latitudes.reserveCapacity(count)
        longitudes.reserveCapacity(count)
        speeds.reserveCapacity(count)
        courses.reserveCapacity(count)
        accuracies.reserveCapacity(count)
        flags.reserveCapacity(count)
    }

    /// Adds a point; its place is converted to WGS 84.
    package mutating func append(_ point: TrackPoint) {
        append(point.fix, at: Self.wgs84(point), isParked: point.isParked)
    }

    /// Adds a point whose place in WGS 84 the caller knows.
    package mutating func append(_ fix: Fix, at place: Coordinate, isParked: Bool) {
        times.append(fix.time.milliseconds)
        latitudes.append(place.latitudeE7)
        longitudes.append(place.longitudeE7)
        speeds.append(fix.speed ?? Self.unknown)
        courses.append(fix.course ?? Self.unknown)
        accuracies.append(fix.accuracy ?? Self.unknown)
        flags.append(isParked ? 1 : 0)
    }

    /// The points of a range, as columns.
    package subscript(range: Range<Int>) -> TrackColumns {
        var part = TrackColumns()
        part.times = Array(times[range])
        part.latitudes = Array(latitudes[range])
        part.longitudes = Array(longitudes[range])
        part.speeds = Array(speeds[range])
        part.courses = Array(courses[range])
        part.accuracies = Array(accuracies[range])
        part.flags = Array(flags[range])
        return part
    }

    /// The point at `position` as a sample that calls itself `index`.
    package func sample(at position: Int, index: Int) -> TrackSample {
        func known(_ value: Int32) -> Int32? { value == Self.unknown ? nil : value }
        return TrackSample(
            index: index, time: times[position], latitudeE7: latitudes[position], longitudeE7: longitudes[position],
            speed: known(speeds[position]), course: known(courses[position]), accuracy: known(accuracies[position]),
            isParked: flags[position] & 1 != 0)
    }

    private static func wgs84(_ point: TrackPoint) -> Coordinate {
        let coordinate = point.fix.coordinate
        let datum: Datum
        switch point.coordinateType {
        case .wgs84: return coordinate
        case .gcj02: datum = .gcj02
        case .bd09ll: datum = .bd09
        }
        let place = DatumConversion.convert(
            Degrees(latitude: coordinate.latitude, longitude: coordinate.longitude), from: datum, to: .wgs84)
        // A conversion near the antimeridian or a pole may leave the range by some metres: the point then keeps its
        // place.
        return Coordinate(latitude: place.latitude, longitude: place.longitude) ?? coordinate
    }
}
