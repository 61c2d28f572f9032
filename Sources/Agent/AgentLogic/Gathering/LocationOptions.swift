/// Which fixes are good enough to become track points.
package struct LocationOptions: Hashable, Sendable {
    /// Metres, ``accuracies``: a fix whose estimated horizontal error is known and larger makes no point; nil for off.
    package var desiredAccuracy: Double?
    /// Metres, ``distances``: a fix that is less far from the last point makes none; nil for off.
    package var distanceFilter: Double?
    package var activity: Activity
    /// Fewer points while the vehicle is parked; nil for off.
    package var parking: ParkingOptions?

    package static let accuracies: ClosedRange<Double> = 0.1...10_000
    package static let distances: ClosedRange<Double> = 0.1...100_000

    package init(
        desiredAccuracy: Double? = nil, distanceFilter: Double? = nil, activity: Activity = .other,
        parking: ParkingOptions? = nil
    ) {
        self.desiredAccuracy = desiredAccuracy
        self.distanceFilter = distanceFilter
        self.activity = activity
        self.parking = parking
    }
}

/// What carries the box: decides which speeds are plausible.
package enum Activity: String, Hashable, Sendable, CaseIterable {
    case other
    case automotive
    case fitness
    case airborne

    /// m/s from one point to the next that can be real.
    var plausibleSpeed: Double {
        switch self {
        // The fastest trains run at 120 m/s; whoever flies says so.
        case .other: 150
        case .automotive: 90
        // A racing bicycle downhill.
        case .fitness: 35
        // An airliner in the jet stream.
        case .airborne: 400
        }
    }
}
