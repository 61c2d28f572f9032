package import TrackModel

extension DatumConversion {
    /// A place whose numbers were given in a datum, in WGS 84. Outside China there is no other datum: there the numbers are
    /// WGS 84 whatever they were called, and they come back as they are.
    package static func wgs84(_ given: Degrees, givenAs datum: Datum) -> (place: Degrees, isInChina: Bool) {
        let converted = convert(given, from: datum, to: .wgs84)
        let isInside = isInChina(latitude: converted.latitude, longitude: converted.longitude)
        return (isInside ? converted : given, isInside)
    }
}

extension CoordinateType {
    /// What the Web API's name stands for.
    package var datum: Datum {
        switch self {
        case .wgs84: .wgs84
        case .gcj02: .gcj02
        case .bd09ll: .bd09
        }
    }
}
