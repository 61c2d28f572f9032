internal import TrackModel

/// A movement from one stay to the next.
package struct Trip: Hashable, Sendable {
    /// The last sample of the stay before it, or the first sample after a long silence or of the track.
    package let start: TrackSample
    /// The first sample of the stay after it, or the last sample before a long silence or of the track.
    package let end: TrackSample
    /// Metres between samples, without interruptions.
    package let distance: Double
    /// Metres of straight lines across interruptions.
    package let unrecorded: Double
    /// The greatest uploaded speed, km/h; where none was uploaded, that of the way between places. Nil when nothing tells
    /// it.
    package let maximumSpeed: Double?
    /// The track begins with the trip: it may have begun before.
    package let isOpenAtStart: Bool
    /// The track ends with the trip: it may go on.
    package let isOpenAtEnd: Bool

    /// Seconds between the whole seconds of both ends.
    package var duration: Int64 { end.timestamp.seconds - start.timestamp.seconds }
}

/// What counts as a trip.
package struct TripRule: Hashable, Sendable {
    /// The stays between trips.
    package var stay: StayRule
    /// Metres and milliseconds below which a movement is no trip.
    package var leastDistance: Double
    package var leastDuration: Int64
    /// Milliseconds of silence with movement that end a trip.
    package var silence: Int64

    package init(
        stay: StayRule = .betweenTrips, leastDistance: Double = 300, leastDuration: Int64 = 60_000,
        silence: Int64 = 3_600_000
    ) {
        self.stay = stay
        self.leastDistance = leastDistance
        self.leastDuration = leastDuration
        self.silence = silence
    }
}

/// Cuts a track into trips at stays and at long silences with movement.
///
/// A light is shorter than a stay, and a parked receiver does not leave its place: trips neither split at lights nor
/// last for days.
package struct TripFinder: Sendable {
    private var window: StayWindow
    private var collector: TripCollector

    package init(_ rule: TripRule = TripRule()) {
        window = StayWindow(rule.stay)
        collector = TripCollector(rule)
    }

    /// Takes the next sample of the cleaned track. Fed with collapsed stops, trips add up to the track's distance.
    package mutating func add(_ sample: TrackSample) { window.add(sample, into: &collector) }

    /// No sample comes any more: all trips in their order, the last one open when the track does not end in a stay.
    package mutating func finish() -> [Trip] {
        window.finish(into: &collector)
        collector.finish()
        return collector.trips
    }

    /// The trips of a whole track.
    package static func trips(_ rule: TripRule = TripRule(), in samples: some Sequence<TrackSample>) -> [Trip] {
        var finder = TripFinder(rule)
        for sample in samples { finder.add(sample) }
        return finder.finish()
    }
}

/// Makes trips of what a ``StayWindow`` tells.
struct TripCollector: StaySink, Sendable {
    let rule: TripRule
    private(set) var trips: [Trip] = []
    private var start: TrackSample?
    private var last: TrackSample?
    private var length = LengthMeter()
    private var fastest = FastestSpeed()
    private var isFirst = true
    private var isStaying = false

    init(_ rule: TripRule) { self.rule = rule }

    mutating func passed(_ sample: TrackSample) { move(to: sample) }

    mutating func entered(_ sample: TrackSample) {
        if !isStaying {
            move(to: sample)
            close(isOpen: false)
            isStaying = true
        }
        last = sample
    }

    mutating func strayed(_ sample: TrackSample) {}

    mutating func ended(_ stay: StayRun, isOpen: Bool) {
        isStaying = false
        begin(at: stay.last)
    }

    mutating func finish() { close(isOpen: true) }

    private mutating func move(to sample: TrackSample) {
        if let last, sample.milliseconds(since: last) > rule.silence {
            close(isOpen: false)
        }
        if start == nil {
            begin(at: sample)
        } else {
            length.add(sample)
            fastest.add(sample)
            last = sample
        }
        if let speed = sample.shownSpeed, !sample.isInStop { fastest.add(speed) }
    }

    private mutating func begin(at sample: TrackSample) {
        start = sample
        last = sample
        length = LengthMeter()
        length.add(sample)
        fastest = FastestSpeed()
        fastest.add(sample)
    }

    private mutating func close(isOpen: Bool) {
        defer {
            start = nil
            isFirst = false
        }
        guard let start, let last else { return }
        let unrecorded = length.result.total(.straight).metres - length.result.driven
        guard length.result.driven + unrecorded >= rule.leastDistance,
            last.milliseconds(since: start) >= rule.leastDuration
        else { return }
        let seconds = last.seconds(since: start)
        trips.append(
            Trip(
                start: start, end: last, distance: length.result.driven, unrecorded: unrecorded,
                maximumSpeed: fastest.value(average: seconds > 0 ? length.result.driven / seconds * 3.6 : 0),
                isOpenAtStart: isFirst, isOpenAtEnd: isOpen))
    }
}
