import Geodesy
import JSON
import TrackModel

/// Writes places that were computed, in the datum that the client asked for.
struct PlaceWriter {
    let coordinateType: CoordinateType

    /// When a place says its datum.
    enum Naming {
        /// As in tracks: only outside China, where it is not the one asked for.
        case outsideChina
        /// As in driving behaviour.
        case always
    }

    /// Members `longitude` and `latitude`, and `coord_type`.
    func write(_ place: Degrees, naming: Naming = .outsideChina, to object: inout JSONWriter) {
        guard let coordinate = Coordinate(latitude: place.latitude, longitude: place.longitude) else { return }
        let place = Place(wgs84: coordinate)
        place.write(as: coordinateType, to: &object)
        if !place.isInChina {
            object.member("coord_type", CoordinateType.wgs84.rawValue)
        } else if naming == .always {
            object.member("coord_type", coordinateType.rawValue)
        }
    }
}
