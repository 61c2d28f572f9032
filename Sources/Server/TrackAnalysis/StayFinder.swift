package import Geodesy
package import TrackModel

/// A place at which the vehicle stayed.
package struct StayPoint: Hashable, Sendable {
    /// Of the first and the last sample inside.
    package let start: Timestamp
    package let end: Timestamp
    /// The mean place of the samples inside, WGS 84.
    package let place: Degrees
    /// Samples inside.
    package let count: Int
    /// Milliseconds of the longest silence between samples inside.
    package let longestSilence: Int64
    /// The stay begins with the first sample of the track: it may have begun before.
    package let isOpenAtStart: Bool
    /// The track ends with the stay: it may go on.
    package let isOpenAtEnd: Bool

    init(_ run: StayRun, isOpenAtStart: Bool, isOpenAtEnd: Bool) {
        start = Timestamp(milliseconds: run.first.time)
        end = Timestamp(milliseconds: run.last.time)
        place = run.mean.degrees
        count = run.count
        longestSilence = run.longestSilence
        self.isOpenAtStart = isOpenAtStart
        self.isOpenAtEnd = isOpenAtEnd
    }

    /// Seconds between the whole seconds of both ends, as the Web API tells it.
    package var duration: Int64 { end.seconds - start.seconds }
}

/// What counts as staying at one place.
package struct StayRule: Hashable, Sendable {
    /// Metres: of a stay, the radius of the circle that its samples fit; of a ``StayWindow``, the distance from the mean of
    /// the samples within which the next one is inside.
    package var reach: Double
    /// Metres up to which the largest radius of the samples inside may extend ``reach``; 0 for a fixed reach.
    package var reachOfRadius: Double
    /// Milliseconds from the first sample inside to the last that make a stay.
    package var span: Int64
    /// Metres up to which the radius of the first fix after ``coldSilence`` counts instead of ``reach``: a receiver
    /// that has just been switched on is off. 0 for no allowance.
    package var coldReach: Double

    /// Milliseconds without a sample after which the next one is a cold start.
    package static let coldSilence: Int64 = 300_000

    package init(reach: Double, reachOfRadius: Double = 0, span: Int64, coldReach: Double = 50) {
        self.reach = reach
        self.reachOfRadius = reachOfRadius
        self.span = span
        self.coldReach = coldReach
    }

    /// A stay point of the Web API: metres and seconds.
    package static func stay(radius: Double, seconds: Int64) -> StayRule {
        StayRule(reach: radius, span: seconds * 1000)
    }

    /// A stop whose drift is not travelled: 15 m and a minute.
    package static let stop = StayRule(reach: 15, reachOfRadius: 30, span: 60_000)
    /// A stay that ends a trip: 50 m and five minutes, so that no traffic light ends one.
    package static let betweenTrips = StayRule(reach: 50, span: 300_000)
}

/// Finds the places at which a vehicle stayed; silence at one place belongs to the stay.
///
/// A stay is a stretch of samples that fit a circle, single strays aside. Of stretches that overlap, the longest is a stay.
package struct StayFinder: Sendable {
    private var search: StaySearch

    /// For a whole denoised track.
    package init(_ rule: StayRule, in samples: [TrackSample]) { search = StaySearch(samples, rule) }

    /// Looks at one more stretch: a track of a month has many. False when there is none any more.
    package mutating func step() -> Bool { search.step() }

    /// The stays of a whole denoised track, in their order.
    package static func stays(_ rule: StayRule, in samples: [TrackSample]) -> [StayPoint] {
        var finder = StayFinder(rule, in: samples)
        while finder.step() {}
        return finder.stays()
    }

    /// The stays in their order, after the last step.
    package func stays() -> [StayPoint] {
        let (samples, rule) = (search.samples, search.rule)
        return search.places().compactMap { place in
            var run = StayRun(first: samples[place.first])
            var sum = EarthVector.zero
            for number in place.first...place.last where search.isInside(number, place) {
                run.extend(by: samples[number])
                // A sum of small numbers keeps its digits.
                sum += samples[number].position - place.center
            }
            guard run.last.milliseconds(since: run.first) >= rule.span else { return nil }
            run.mean = place.center + sum * (1 / Double(max(run.count, 1)))
            // A last sample that is outside alone may be a stray.
            return StayPoint(
                run, isOpenAtStart: place.first == 0, isOpenAtEnd: place.last >= samples.count - 2)
        }
    }
}

/// Finds the places of a whole track: the longest stretch of samples that fits a circle first, then the longest of what is
/// left, and so on. How long a stay must be is asked afterwards, so that a longer time never finds other stays.
struct StaySearch: Sendable {
    /// Numbers of the first and the last sample, and the centre of the circle.
    struct Place: Hashable, Sendable {
        var first: Int
        var last: Int
        let center: EarthVector
    }

    /// Milliseconds, and milliseconds for each metre of the radius, below which no place is sought for longer stays.
    private static let shortest: Int64 = 60_000
    private static let shortestOfMetre = 600.0

    let samples: [TrackSample]
    let rule: StayRule
    /// Milliseconds that a place lasts at least.
    private let span: Int64
    /// The longest stretch from each sample, without those that are part of another one: of the samples before `first`.
    private var stretches: [Place] = []
    private var first = 0
    /// The first sample for which the least time has passed since then.
    private var later = 0

    init(_ samples: [TrackSample], _ rule: StayRule) {
        (self.samples, self.rule) = (samples, rule)
        span = min(rule.span, max(Self.shortest, Int64(min(rule.reach, 1e6) * Self.shortestOfMetre)))
    }

    /// The places, in the order of the track, when all stretches are known.
    func places() -> [Place] {
        let all = stretches
        var chosen: [Place] = []
        var parts = [(0..<samples.count, all.indices)]
        while let (numbers, range) = parts.popLast() {
            guard let place = longest(all[range], in: numbers) else { continue }
            chosen.append(place)
            // Stretches begin and end in the same order.
            parts.append(
                (place.last + 1..<numbers.upperBound, range.partition { all[$0].last > place.last }..<range.upperBound))
            parts.append(
                (numbers.lowerBound..<place.first, range.lowerBound..<range.partition { all[$0].first >= place.first }))
        }
        return chosen.sorted { $0.first < $1.first }
    }

    /// The longest of the stretches, as far as they are within some samples; of equal ones the first.
    private func longest(_ stretches: ArraySlice<Place>, in numbers: Range<Int>) -> Place? {
        var (best, most) = (Place?.none, span - 1)
        func consider(_ place: Place) {
            if time(place) > most { (best, most) = (place, time(place)) }
        }
        // What is cut at its begin is a stretch from there, or from the next sample when the first is a stray.
        if let first = stretches.first, first.first < numbers.lowerBound {
            for number in numbers.prefix(2) { consider(place(from: number, before: numbers.upperBound)) }
        }
        var isCut = false
        for place in stretches where place.first >= numbers.lowerBound {
            if place.last < numbers.upperBound {
                consider(place)
            } else if !isCut {
                // Those after it have the same end, and begin later.
                isCut = true
                consider(self.place(from: place.first, before: numbers.upperBound))
            }
        }
        return best
    }

    /// Metres from the centre within which a sample is inside.
    func reach(of number: Int) -> Double {
        guard rule.coldReach > 0, number > 0, let radius = samples[number].radius,
            samples[number].milliseconds(since: samples[number - 1]) >= StayRule.coldSilence
        else { return rule.reach }
        return max(rule.reach, min(radius, rule.coldReach))
    }

    func isInside(_ number: Int, _ place: Place) -> Bool {
        // A millimetre for the rounding, as in the stretch.
        let reach = reach(of: number) + 0.001
        return (samples[number].position - place.center).squaredLength <= reach * reach
    }

    private func time(_ place: Place) -> Int64 { samples[place.last].milliseconds(since: samples[place.first]) }

    // MARK: Stretches

    /// Finds the next stretch. False when no sample is left.
    mutating func step() -> Bool {
        while first < samples.count, !canLast() { first += 1 }
        guard first < samples.count else { return false }
        let place = place(from: first, before: samples.count)
        if time(place) >= span { stretches.append(place) }
        first = next(after: place)
        return true
    }

    /// Whether the vehicle may still be near the first sample when the least time has passed.
    private mutating func canLast() -> Bool {
        later = max(later, first)
        while later < samples.count, samples[later].milliseconds(since: samples[first]) < span { later += 1 }
        let width = rule.reach + max(rule.reach, rule.coldReach) + 0.01
        // One of two neighbours is inside, the other may be a stray.
        return (later..<min(later + 2, samples.count)).contains {
            (samples[$0].position - samples[first].position).squaredLength <= width * width
        }
    }

    private func place(from first: Int, before end: Int) -> Place {
        let stretch = stretch(from: first, before: end)
        return Place(first: first, last: stretch.last, center: stretch.middle)
    }

    /// The stretch from a sample within those before `limit`; until it is known to go beyond `end`, when that is all that is
    /// asked.
    private func stretch(from first: Int, before limit: Int, beyond end: Int = .max) -> StayStretch {
        var stretch = StayStretch(from: first, at: samples[first].position, radius: rule.reach)
        for number in first + 1..<max(limit, first + 1) {
            guard stretch.last <= end else { return stretch }
            guard stretch.add(at: samples[number].position, reach: reach(of: number)) else { return stretch }
        }
        stretch.finish()
        return stretch
    }

    /// The first sample from which a stretch goes on beyond the end of a place.
    private func next(after place: Place) -> Int {
        /// From a stray no stretch goes far: then one goes on from its neighbour.
        func goesOn(_ number: Int) -> Bool {
            [number, number - 1].contains { other in
                other > place.first
                    && (other > place.last
                        || stretch(from: other, before: samples.count, beyond: place.last).last > place.last)
            }
        }
        var (low, high, step) = (place.first, place.last + 1, 1)
        while high - step > low, goesOn(high - step) {
            high -= step
            step *= 2
        }
        low = max(low, high - step)
        while high - low > 1 {
            let middle = (low + high) / 2
            if goesOn(middle) { high = middle } else { low = middle }
        }
        return high
    }
}

extension Range<Int> {
    /// The first element for which a condition holds that holds for all after it.
    fileprivate func partition(_ holds: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
