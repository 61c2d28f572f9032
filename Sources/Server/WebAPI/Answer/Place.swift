import Geodesy
import JSON
import TrackModel

/// Where a stored point is, in every datum.
struct Place {
    private let stored: Coordinate
    private let storedType: CoordinateType
    /// WGS 84. Outside China there is no other datum: there the stored numbers are WGS 84, whatever they were called.
    let wgs84: Degrees
    let isInChina: Bool

    init(_ point: TrackPoint) { self.init(point.fix.coordinate, point.coordinateType) }

    /// A place that was computed.
    init(wgs84 place: Coordinate) { self.init(place, .wgs84) }

    private init(_ coordinate: Coordinate, _ type: CoordinateType) {
        stored = coordinate
        storedType = type
        let given = Degrees(latitude: stored.latitude, longitude: stored.longitude)
        (wgs84, isInChina) = DatumConversion.wgs84(given, givenAs: storedType.datum)
    }

    /// Members `longitude` and `latitude`: the stored numbers themselves when no conversion is needed.
    func write(as type: CoordinateType, to object: inout JSONWriter) {
        guard isInChina, type != storedType else {
            object.name("longitude")
            object.decimal(Int64(stored.longitudeE7), digits: 7)
            object.name("latitude")
            object.decimal(Int64(stored.latitudeE7), digits: 7)
            return
        }
        let given = Degrees(latitude: stored.latitude, longitude: stored.longitude)
        let converted = DatumConversion.convert(given, from: storedType.datum, to: type.datum)
        object.name("longitude")
        object.rounded(converted.longitude, digits: 10)
        object.name("latitude")
        object.rounded(converted.latitude, digits: 10)
    }
}
