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
