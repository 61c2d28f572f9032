/// Replaces the drift of a stop by a few samples at one place: the first, the last, and one in at most 240 s between
/// them, all at the stop's mean and at rest.
///
/// Samples that the agent made while parked pass unchanged: they are such a stop already.
package struct StopCollapse: TrackStep {
    /// Milliseconds between the samples that stand for a stop: less than an interruption takes.
    static let interval: Int64 = 240_000

    private var window: StayWindow
    private var collector = StopCollector()

    package init(_ rule: StayRule = .stop) { window = StayWindow(rule) }

    package mutating func add(_ sample: TrackSample, to kept: inout [TrackSample], _ drops: inout DropLedger) {
        if sample.isParked {
            window.finish(into: &collector)
            collector.passed(sample)
        } else {
            window.add(sample, into: &collector)
        }
        collector.drain(to: &kept, &drops)
    }

    package mutating func finish(to kept: inout [TrackSample], _ drops: inout DropLedger) {
        window.finish(into: &collector)
        collector.drain(to: &kept, &drops)
    }
}
