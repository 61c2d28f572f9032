internal import Geodesy
package import TrackModel

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
