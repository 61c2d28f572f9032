import Geodesy
import JSON
import TrackModel

/// Places as `latitude,longitude` pairs joined by semicolons.
enum PlaceList {
    /// Throws when a pair is malformed or out of its ranges, or when there are more than `most`. `name`: the parameter.
    static func parse(_ text: String, _ name: String, most: Int) throws(APIFailure) -> [Degrees] {
        var places: [Degrees] = []
        for pair in TextParts.split(text, at: ";") where !TextParts.isBlank(pair) {
            guard places.count < most else {
                throw APIFailure(.parameter, "\(name) has at most \(most) pairs latitude,longitude")
            }
            let numbers = TextParts.split(pair, at: ",", keepsEmpty: true)
            guard numbers.count == 2, let latitude = Double(decimal: Parameters.trimmed(numbers[0])),
                let longitude = Double(decimal: Parameters.trimmed(numbers[1]))
            else {
                throw APIFailure(
                    .parameter, "\(name): pair \(places.count + 1) must be latitude,longitude, and a ; ends a pair")
            }
            guard (-90...90).contains(latitude) else {
                throw APIFailure(.parameter, "\(name): the latitude of pair \(places.count + 1) must be -90 to 90")
            }
            guard (-180...180).contains(longitude) else {
                throw APIFailure(.parameter, "\(name): the longitude of pair \(places.count + 1) must be -180 to 180")
            }
            places.append(Degrees(latitude: latitude, longitude: longitude))
        }
        return places
    }

    /// The same, rounded to 1e-7 degree.
    static func coordinates(_ text: String, _ name: String, most: Int) throws(APIFailure) -> [Coordinate] {
        try parse(text, name, most: most).compactMap { Coordinate(latitude: $0.latitude, longitude: $0.longitude) }
    }
}
