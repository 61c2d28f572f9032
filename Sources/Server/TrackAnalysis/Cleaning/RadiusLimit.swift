/// Drops samples whose own radius is over a limit. A sample without a radius passes.
package struct RadiusLimit: TrackStep {
    /// Metres.
    private let limit: Double

    package init(metres: Double) { limit = metres }

    package mutating func add(_ sample: TrackSample, to kept: inout [TrackSample], _ drops: inout DropLedger) {
        if let radius = sample.radius, radius > limit {
            drops.drop(sample.index, .radius)
        } else {
            kept.append(sample)
        }
    }

    package mutating func finish(to kept: inout [TrackSample], _ drops: inout DropLedger) {}
}
