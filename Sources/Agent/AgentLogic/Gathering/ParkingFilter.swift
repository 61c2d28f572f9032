internal import TrackModel

/// When a vehicle counts as parked, and how many points it then makes.
package struct ParkingOptions: Hashable, Sendable {
    /// Seconds without movement, ``delays``.
    package var delay: Int
    /// Seconds between two points while parked, ``intervals``.
    package var interval: Int

    package static let delays = 60...86_400
    package static let intervals = 10...86_400
    /// Less than five minutes, because from then on the Web API takes two points for a gap in the track.
    package static let defaultInterval = 240

    package init(delay: Int, interval: Int = Self.defaultInterval) {
        self.delay = delay
        self.interval = interval
    }
}

/// Tells a parked vehicle from a moving one. It uses every good fix and GNSS time. docs/decisions/0008-parking.md has
/// the rules and their reasons.
///
/// A stay begins with a fix. It lasts while all fixes are slow, within reach of the first fix, and not long after the
/// fix before. A stay of ``ParkingOptions/delay`` is parking. Its anchor is the mean place of the stay and does not
/// change any more. Parking ends with several signs of movement in a row: fixes out of reach of the anchor, or fast
/// fixes.
struct ParkingFilter: Hashable, Sendable {
    /// Metres between fixes of a vehicle at rest, whatever errors the fixes claim.
    static let slack = 10.0
    /// The most metres of a fix's error that count. With more, a vehicle between high houses could drive off unseen.
    static let largestError = 30.0
    /// Metres, for a fix without an error.
    static let assumedError = 20.0
    /// cm/s. No receiver at rest tells more for long, and no vehicle that drives off stays below.
    static let movingSpeed: Int32 = 150
    /// After so many milliseconds without a fix nobody knows whether the vehicle stayed.
    static let longestGap: Int64 = 60_000
    /// So many signs in a row, over so many milliseconds, are a departure. One or two reflections are not.
    static let confirmations = 3
    static let confirmationSpan: Int64 = 1900

    /// What a due fix becomes while parked.
    enum Verdict: Hashable {
        /// Not parked: the filter changes nothing.
        case moving
        /// No point, now or ever.
        case withheld
        /// A point at the anchor.
        case parked(Fix)
    }

    private struct Stay: Hashable {
        let first: Fix
        var last: Timestamp
        // Relative to the first fix, in 1e-7 degree.
        var north: Int64 = 0
        var east: Int64 = 0
        var count: Int64 = 1

        /// The first fix, moved to the mean place, with the error of another fix.
        func anchor(accuracy: Int32?) -> Fix {
            let latitude = Int64(first.coordinate.latitudeE7) + north / count
            let longitude = ParkingFilter.wrapped(Int64(first.coordinate.longitudeE7) + east / count)
            var anchor = first
            if let place = Coordinate(latitudeE7: Int32(clamping: latitude), longitudeE7: Int32(clamping: longitude)) {
                anchor.coordinate = place
            }
            anchor.accuracy = accuracy
            return anchor
        }
    }

    private struct Parked: Hashable {
        /// Has the time of the stay's first fix.
        let anchor: Fix
        /// The time of the last point at this anchor.
        var lastPoint: Timestamp?
        /// Signs of movement in a row.
        var signs = 0
        var firstSign: Timestamp?
        /// The due fixes among the signs, one for each due time. They become points if this is a departure.
        var held: [Fix] = []
    }

    private enum State: Hashable {
        /// To `parked`.
        case moving(Stay?)
        /// To `moving`.
        case parked(Parked)
    }

    let options: ParkingOptions
    private var state = State.moving(nil)

    init(_ options: ParkingOptions) {
        self.options = options
    }

    /// When the stay began; nil while not parked.
    var parkedSince: Timestamp? {
        guard case .parked(let parked) = state else { return nil }
        return parked.anchor.time
    }

    /// The due fixes that wait until a departure is confirmed.
    var held: [Fix] {
        guard case .parked(let parked) = state else { return [] }
        return parked.held
    }

    /// Takes every good fix, due or not. Returns the held fixes when this fix confirms a departure.
    mutating func observe(_ fix: Fix) -> [Fix] {
        switch state {
        case .moving(let stay):
            state = .moving(continued(stay, by: fix))
            parkIfDue(by: fix)
            return []
        case .parked(var parked):
            guard isSign(fix, of: parked) else {
                parked.signs = 0
                parked.firstSign = nil
                parked.held = []
                state = .parked(parked)
                return []
            }
            let first = parked.firstSign ?? fix.time
            parked.firstSign = first
            parked.signs += 1
            guard parked.signs >= Self.confirmations,
                fix.time.milliseconds(since: first) >= Self.confirmationSpan
            else {
                state = .parked(parked)
                return []
            }
            state = .moving(continued(nil, by: fix))
            return parked.held
        }
    }

    /// Judges a due fix that `observe` has just taken. `isNewSlot`: no fix is held for its due time.
    mutating func judge(_ fix: Fix, isNewSlot: Bool) -> Verdict {
        guard case .parked(var parked) = state else { return .moving }
        defer { state = .parked(parked) }
        guard parked.signs == 0 else {
            if isNewSlot { parked.held.append(fix) }
            return .withheld
        }
        if let last = parked.lastPoint,
            fix.time.milliseconds(since: last) + Sampler.tolerance < Int64(options.interval) * 1000
        {
            return .withheld
        }
        parked.lastPoint = fix.time
        var point = fix
        point.coordinate = parked.anchor.coordinate
        // Speed and course from a receiver at rest are noise.
        if point.speed != nil { point.speed = 0 }
        point.course = nil
        return .parked(point)
    }

    private func continued(_ stay: Stay?, by fix: Fix) -> Stay? {
        guard !Self.isFast(fix) else { return nil }
        guard var stay, fix.time.milliseconds(since: stay.last) <= Self.longestGap,
            Self.isWithinReach(fix, of: stay.first)
        else { return Stay(first: fix, last: fix.time) }
        stay.last = fix.time
        stay.north += Int64(fix.coordinate.latitudeE7) - Int64(stay.first.coordinate.latitudeE7)
        stay.east += Self.wrapped(Int64(fix.coordinate.longitudeE7) - Int64(stay.first.coordinate.longitudeE7))
        stay.count += 1
        return stay
    }

    private mutating func parkIfDue(by fix: Fix) {
        guard case .moving(let stay?) = state,
            stay.last.milliseconds(since: stay.first.time) >= Int64(options.delay) * 1000
        else { return }
        state = .parked(Parked(anchor: stay.anchor(accuracy: fix.accuracy)))
    }

    private func isSign(_ fix: Fix, of parked: Parked) -> Bool {
        Self.isFast(fix) || !Self.isWithinReach(fix, of: parked.anchor)
    }

    private static func isFast(_ fix: Fix) -> Bool {
        (fix.speed ?? 0) >= movingSpeed
    }

    private static func isWithinReach(_ fix: Fix, of anchor: Fix) -> Bool {
        PlausibilityGate.distance(anchor, fix) <= slack + min(max(error(of: fix), error(of: anchor)), largestError)
    }

    private static func error(of fix: Fix) -> Double {
        fix.accuracy.map { Double($0) / 10 } ?? assumedError
    }

    /// A longitude, or a difference of two, wrapped to the short way round.
    private static func wrapped(_ longitude: Int64) -> Int64 {
        if longitude > 1_800_000_000 { return longitude - 3_600_000_000 }
        if longitude < -1_800_000_000 { return longitude + 3_600_000_000 }
        return longitude
    }
}
