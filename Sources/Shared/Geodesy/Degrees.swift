/// A place in degrees, north and east positive. The owner knows the datum.
///
/// Latitudes should be within -90...90 and longitudes within -180...180. No function here traps on other values.
package struct Degrees: Hashable, Sendable {
    package var latitude: Double
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}
