/// Adds up the length of a track.
package struct LengthMeter: Hashable, Sendable {
    private var length: TrackLength
    private var previous: TrackSample?

    /// The threshold is in km/h; nil when nobody asks for the distance below it.
    package init(slowBelow threshold: Double? = nil) { length = TrackLength(threshold: threshold) }

    /// The track so far.
    package var result: TrackLength { length }

    /// Takes the next sample. `path` is the length of the way from the sample before it, metres, when it is known
    /// better than by the straight line.
    package mutating func add(_ sample: TrackSample, path: Double? = nil) {
        defer { previous = sample }
        guard let previous else { return }
        guard !sample.followsBreak else { return length.addBreak() }
        let metres = path ?? previous.distance(to: sample)
        if sample.milliseconds(since: previous) >= Interruption.span {
            length.add(Interruption(start: previous, end: sample, straight: metres))
        } else {
            length.add(metres, seconds: sample.seconds(since: previous), speed: sample.shownSpeed)
        }
    }

    /// Takes the next points of a track that is not cleaned; `index`: of the first of them in the track.
    package mutating func add(_ columns: TrackColumns, from index: Int) {
        for position in 0..<columns.count { add(columns.sample(at: position, index: index + position)) }
    }

    /// The length of a whole track.
    package static func length(
        of samples: some Sequence<TrackSample>, slowBelow threshold: Double? = nil
    ) -> TrackLength {
        var meter = LengthMeter(slowBelow: threshold)
        for sample in samples { meter.add(sample) }
        return meter.result
    }
}
