/// Which fixes are good enough to become track points.
package struct LocationOptions: Hashable, Sendable {
    /// Metres, ``accuracies``. A fix with a known and larger horizontal error makes no point. Nil turns this off.
    package var desiredAccuracy: Double?
    /// Metres, ``distances``. A fix that is nearer to the last point makes no point. Nil turns this off.
    package var distanceFilter: Double?
    package var activity: Activity
    /// Makes fewer points while the vehicle is parked. Nil turns this off.
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

    /// Throws what breaks its rule.
    func check() throws(SettingsError) {
        try SettingsError.check(desiredAccuracy, .desiredAccuracy, "desired accuracy", Self.accuracies)
        try SettingsError.check(distanceFilter, .distanceFilter, "distance filter", Self.distances)
        guard let parking else { return }
        try SettingsError.check(parking.delay, .parkingDelay, "parking delay", ParkingOptions.delays, ", or 0 for off")
        try SettingsError.check(parking.interval, .parkingInterval, "parking interval", ParkingOptions.intervals)
    }
}

/// How the agent travels. It decides which speeds are plausible.
package enum Activity: String, Hashable, Sendable, CaseIterable {
    case other
    case automotive
    case fitness
    case airborne

    /// Throws when there is no such activity.
    init(named name: String) throws(SettingsError) {
        guard let activity = Activity(rawValue: name) else {
            let names = Activity.allCases.map(\.rawValue).joined(separator: ", ")
            throw SettingsError(.activity, "there is no activity \"\(name)\": use one of \(names)")
        }
        self = activity
    }

    /// The highest speed in m/s between two points that can be real.
    var plausibleSpeed: Double {
        switch self {
        // The fastest trains run at 120 m/s. A person who flies sets `airborne`.
        case .other: 150
        case .automotive: 90
        // A racing bicycle downhill.
        case .fitness: 35
        // An airliner in the jet stream.
        case .airborne: 400
        }
    }
}
