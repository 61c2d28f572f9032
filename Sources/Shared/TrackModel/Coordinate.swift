/// A place on the earth in units of 1e-7 degree: exact, comparable, eight bytes (the resolution is about 1.1 cm).
///
/// The datum is the holder's to say: see ``CoordinateType``.
package struct Coordinate: Hashable, Sendable {
    /// Latitude, north positive, -900,000,000 ... 900,000,000.
    package let latitudeE7: Int32
    /// Longitude, east positive, -1,800,000,000 ... 1,800,000,000.
    package let longitudeE7: Int32

    /// Nil when either number is outside its range.
    package init?(latitudeE7: Int32, longitudeE7: Int32) {
        guard (-900_000_000...900_000_000).contains(latitudeE7),
            (-1_800_000_000...1_800_000_000).contains(longitudeE7)
        else { return nil }
        self.latitudeE7 = latitudeE7
        self.longitudeE7 = longitudeE7
    }

    /// Degrees, rounded to the nearest 1e-7; nil when not finite or outside [-90, 90] and [-180, 180].
    package init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        latitudeE7 = Int32((latitude * 1e7).rounded())
        longitudeE7 = Int32((longitude * 1e7).rounded())
    }

    /// Degrees, north positive.
    package var latitude: Double { Double(latitudeE7) / 1e7 }
    /// Degrees, east positive.
    package var longitude: Double { Double(longitudeE7) / 1e7 }
}

/// The datum of a pair of degrees, with the Web API's names.
package enum CoordinateType: String, Hashable, Sendable, CaseIterable {
    /// WGS 84: what GNSS receivers give; the only datum outside China.
    case wgs84
    /// GCJ-02: the national datum of maps published in China.
    case gcj02
    /// BD-09 latitude and longitude: GCJ-02 with a further offset.
    case bd09ll
}
