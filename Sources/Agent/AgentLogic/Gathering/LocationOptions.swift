internal import Geodesy
package import TrackModel

/// Which fixes are good enough to become track points.
package struct LocationOptions: Hashable, Sendable {
    /// Metres, ``accuracies``. A fix with a known and larger horizontal error makes no point. Nil turns this off.
    package var desiredAccuracy: Double?
    /// Metres, ``distances``. A fix that is nearer to the last point makes no point. Nil turns this off.
    package var distanceFilter: Double?
    package var activity: TravelActivity
    /// Makes fewer points while the vehicle is parked. Nil turns this off.
    package var parking: ParkingOptions?

    package static let accuracies: ClosedRange<Double> = 0.1...10_000
    package static let distances: ClosedRange<Double> = 0.1...100_000

    package init(
        desiredAccuracy: Double? = nil, distanceFilter: Double? = nil, activity: TravelActivity = .other,
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
package enum TravelActivity: String, Hashable, Sendable, CaseIterable {
    case other
    case automotive
    case fitness
    case airborne

    /// Throws when there is no such activity.
    init(named name: String) throws(SettingsError) {
        guard let activity = TravelActivity(rawValue: name) else {
            let names = TravelActivity.allCases.map(\.rawValue).joined(separator: ", ")
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

/// Rejects jumps: places that the vehicle cannot have reached from the last point at the activity's speed.
///
/// The last point may be the wrong one, so the gate believes a new place that persists: after ``confirmations``
/// rejected fixes in a row, each plausible from the fix before, over at least ``minimumSpan``.
struct PlausibilityGate: Hashable, Sendable {
    static let confirmations = 5
    /// Milliseconds. A reflection seldom lasts so long, even at ten fixes a second.
    static let minimumSpan: Int64 = 4000
    /// Metres between two fixes of a receiver at rest, whatever errors the fixes claim.
    static let slack = 50.0
    /// The most metres of a fix's error that count. With more, every jump would be plausible.
    static let largestError = 500.0

    private var first: Fix?
    private var last: Fix?
    private var count = 0

    mutating func admits(_ fix: Fix, after point: Fix, activity: TravelActivity) -> Bool {
        if Self.isPlausible(fix, after: point, activity) {
            reset()
            return true
        }
        if let last, fix.time > last.time, Self.isPlausible(fix, after: last, activity) {
            count += 1
        } else {
            first = fix
            count = 1
        }
        last = fix
        guard let first, count >= Self.confirmations,
            fix.time.milliseconds(since: first.time) >= Self.minimumSpan
        else { return false }
        reset()
        return true
    }

    mutating func reset() {
        first = nil
        last = nil
        count = 0
    }

    private static func isPlausible(_ fix: Fix, after start: Fix, _ activity: TravelActivity) -> Bool {
        let seconds = Double(max(fix.time.milliseconds(since: start.time), 0)) / 1000
        let reach = activity.plausibleSpeed * seconds + slack + error(of: fix) + error(of: start)
        return distance(start, fix) <= reach
    }

    private static func error(of fix: Fix) -> Double {
        min(max(Double(fix.accuracy ?? 0) / 10, 0), largestError)
    }

    /// Metres.
    static func distance(_ start: Fix, _ end: Fix) -> Double {
        SurfaceDistance.between(start.coordinate, end.coordinate)
    }
}

/// Chooses the fixes that local fences judge: every fix that seems right, at the receiver's own pace.
///
/// The gates are those of ``Sampler``, and each compares a fix with the fix that passed before it, not with the last
/// point. So a fence knows where the vehicle is each second, whatever the gather interval is. Knows no clock.
package struct FixGates: Hashable, Sendable {
    private var options: LocationOptions
    private var plausibility = PlausibilityGate()
    /// The last fix that passed. ``restart()`` keeps it, because time must not go back before it.
    private var last: Fix?
    /// The vehicle may have been carried anywhere since ``last``.
    private var isFirst = true

    package init(options: LocationOptions = LocationOptions()) {
        self.options = options
    }

    /// Takes the next fix of the receiver, with a time that ``TimeGuard`` believes. False: it is not later than the one that
    /// passed before, its error is larger than the desired accuracy, or the vehicle cannot have come there.
    package mutating func admits(_ fix: Fix) -> Bool {
        if let last, fix.time <= last.time { return false }
        if let limit = options.desiredAccuracy, let error = fix.accuracy, Double(error) / 10 > limit { return false }
        if !isFirst, let last, !plausibility.admits(fix, after: last, activity: options.activity) { return false }
        last = fix
        isFirst = false
        return true
    }

    /// The dates up to now were wrong: time goes back to the next fix.
    package mutating func beginAnew() {
        last = nil
        restart()
    }

    package mutating func setOptions(_ options: LocationOptions) {
        self.options = options
        plausibility.reset()
    }

    /// Gathering begins again.
    package mutating func restart() {
        isFirst = true
        plausibility.reset()
    }
}
