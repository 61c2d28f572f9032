internal import TrackModel

/// When a vehicle counts as parked, and how many points it makes then.
package struct ParkingOptions: Hashable, Sendable {
    /// Seconds without movement, ``delays``.
    package var delay: Int
    /// Seconds from one point to the next while parked, ``intervals``.
    package var interval: Int

    package static let delays = 60...86_400
    package static let intervals = 10...86_400
    /// Under the five minutes from which on the Web API takes two points for a gap in the track.
    package static let defaultInterval = 240

    package init(delay: Int, interval: Int = Self.defaultInterval) {
        self.delay = delay
        self.interval = interval
    }
}

/// Tells a parked vehicle from one that moves, by every good fix and by GNSS time; the rules and their reasons are in
/// docs/decisions/0008-parking.md.
///
/// A stay begins at a fix and lasts while all fixes are slow and within their reach of it, none of them long after the one
/// before. A stay of ``ParkingOptions/delay`` is parking; its anchor is the mean place of the stay and does not move any more.
/// Parking ends with signs of movement in a row: fixes out of reach of the anchor, or fast ones.
struct ParkingFilter: Hashable, Sendable {
    /// Metres that fixes of a vehicle at rest lie apart, whatever errors they claim.
    static let slack = 10.0
    /// Metres of a fix's error that count: more, and a vehicle in a tunnel of houses would drive off unseen.
    static let largestError = 30.0
    /// Metres for a fix that does not tell its error.
    static let assumedError = 20.0
    /// cm/s: no receiver at rest says so for long, and no vehicle that drives off stays below.
    static let movingSpeed: Int32 = 150
    /// Milliseconds without a fix after which nobody knows that the vehicle stayed.
    static let longestGap: Int64 = 60_000
    /// Fixes in a row, and milliseconds from the first to the last of them: one reflection is no departure, nor are two.
    static let confirmations = 3
    static let confirmationSpan: Int64 = 1900

    /// What a due fix becomes while parked.
    enum Verdict: Hashable {
        /// Not parked: as without this filter.
        case moving
        /// Nothing, for now or for good.
        case withheld
        /// A point at the anchor.
        case parked(Fix)
    }

    private struct Stay: Hashable {
        let first: Fix
        var last: Timestamp
        // Relative to the first fix, 1e-7 degree.
        var north: Int64 = 0
        var east: Int64 = 0
        var count: Int64 = 1

        /// The first fix at the mean place, with the error of another.
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
        /// Its time is that of the first fix of the stay.
        let anchor: Fix
        /// Of the last point made here.
        var lastPoint: Timestamp?
        /// Signs of movement in a row.
        var signs = 0
        var firstSign: Timestamp?
        /// The due fixes among them, one a due time: points if this is a departure.
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

    /// When the stay began, while parked.
    var parkedSince: Timestamp? {
        guard case .parked(let parked) = state else { return nil }
        return parked.anchor.time
    }

    /// The due fixes that wait for a departure to be confirmed.
    var held: [Fix] {
        guard case .parked(let parked) = state else { return [] }
        return parked.held
    }

    /// Takes every good fix, due or not. Returns what was held when this one confirms a departure.
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

    /// Judges a fix that is due and was just observed. `isNewSlot`: none is held for its due time.
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
        // What a receiver at rest says of them is noise.
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

    /// A longitude, or a difference of two, the short way round.
    private static func wrapped(_ longitude: Int64) -> Int64 {
        if longitude > 1_800_000_000 { return longitude - 3_600_000_000 }
        if longitude < -1_800_000_000 { return longitude + 3_600_000_000 }
        return longitude
    }
}
