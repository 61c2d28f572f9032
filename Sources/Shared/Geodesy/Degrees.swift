/// A place as degrees, north and east positive; the datum is the holder's to say.
///
/// Latitudes are meant to be within -90...90 and longitudes within -180...180; nothing here traps on others.
package struct Degrees: Hashable, Sendable {
    package var latitude: Double
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}
