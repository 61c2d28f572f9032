import Geodesy
package import TrackModel

/// Where a point is, in the datum in which its numbers were given.
package struct KnownPlace: Hashable, Sendable {
    package let coordinate: Coordinate
    package let type: CoordinateType

    package init(_ coordinate: Coordinate, _ type: CoordinateType) {
        self.coordinate = coordinate
        self.type = type
    }

    package init(_ point: TrackPoint) {
        self.init(point.fix.coordinate, point.coordinateType)
    }

    /// In WGS 84, rounded to 1e-7 degree. Outside China the given numbers are WGS 84, whatever they were called.
    package var wgs84: Coordinate {
        guard type != .wgs84 else { return coordinate }
        let (place, _) = DatumConversion.wgs84(Degrees(coordinate), givenAs: type.datum)
        return Coordinate(latitude: place.latitude, longitude: place.longitude) ?? coordinate
    }

    /// As answers show it in a datum, rounded to 1e-7 degree. The given numbers come back in their own datum, and outside
    /// China in any.
    package func shown(as wanted: CoordinateType) -> Coordinate {
        guard wanted != type else { return coordinate }
        let given = Degrees(coordinate)
        guard DatumConversion.wgs84(given, givenAs: type.datum).isInChina else { return coordinate }
        let shown = DatumConversion.convert(given, from: type.datum, to: wanted.datum)
        return Coordinate(latitude: shown.latitude, longitude: shown.longitude) ?? coordinate
    }
}
