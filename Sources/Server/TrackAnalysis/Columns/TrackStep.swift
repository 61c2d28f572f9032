/// One step of the analysis: samples go in one by one in the order of time, and those that it keeps come out in the
/// same order, some of them later.
///
/// A step knows no chunks. So its output cannot depend on how the track was cut.
package protocol TrackStep: Sendable {
    /// Takes the next sample; appends to `kept` whatever is decided now.
    mutating func add(_ sample: TrackSample, to kept: inout [TrackSample], _ drops: inout DropLedger)
    /// No sample comes any more; appends to `kept` whatever was held.
    mutating func finish(to kept: inout [TrackSample], _ drops: inout DropLedger)
}

extension TrackStep {
    /// Feeds a whole track.
    package static func apply(
        _ step: consuming Self, to samples: some Sequence<TrackSample>, _ drops: inout DropLedger
    ) -> [TrackSample] {
        var kept: [TrackSample] = []
        for sample in samples { step.add(sample, to: &kept, &drops) }
        step.finish(to: &kept, &drops)
        return kept
    }
}
