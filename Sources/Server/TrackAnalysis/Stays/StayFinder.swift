/// Finds the places at which a vehicle stayed; silence at one place belongs to the stay.
package struct StayFinder: Sendable {
    private var window: StayWindow
    private var collector = StayCollector()

    package init(_ rule: StayRule) { window = StayWindow(rule) }

    /// Stays that have ended, in their order.
    package var stays: [StayPoint] { collector.stays }

    /// The stay that goes on with the last sample, if there is one.
    package var current: StayPoint? { window.current.map { collector.point($0, isOpenAtEnd: true) } }

    /// Takes the next sample of the denoised track.
    package mutating func add(_ sample: TrackSample) {
        collector.begin(sample)
        window.add(sample, into: &collector)
    }

    /// No sample comes any more: an open stay is one of ``stays`` now.
    package mutating func finish() { window.finish(into: &collector) }

    /// The stays of a whole track.
    package static func stays(_ rule: StayRule, in samples: some Sequence<TrackSample>) -> [StayPoint] {
        var finder = StayFinder(rule)
        for sample in samples { finder.add(sample) }
        finder.finish()
        return finder.stays
    }
}
