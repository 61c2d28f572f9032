internal import Geodesy

/// Where the vehicle really was, epoch by epoch, and how far at most a point of this time may lie beside it.
///
/// One of a history: whoever checks alarms looks here.
final class TrueWay {
    struct Place {
        let place: Degrees
        /// Metres.
        var error: Double
    }

    private var places: [Int64: Place] = [:]

    /// Metres. The receiver's noise is 300 units of 1e-7 degree at most, north and east.
    static let noise = 5.0
    /// A reflection puts 3,000 of these on top, north.
    static let reflection = 39.0
    /// A parked vehicle is told at its place until fixes lie farther away than this, with the largest error that counts.
    static let parking = 40.0

    func note(_ place: Degrees, at time: Int64, isReflected: Bool) {
        places[time] = Place(place: place, error: isReflected ? Self.reflection : Self.noise)
    }

    /// The point of this time tells the place where the vehicle parked.
    func parked(at time: Int64) {
        let key = places[time] == nil ? time + 1 : time
        // The fix of this time was found near the place.
        places[key]?.error += Self.parking
    }

    /// Reports of one epoch differ by a millisecond.
    subscript(time: Int64) -> Place? { places[time] ?? places[time + 1] }
}
