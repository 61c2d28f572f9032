/// How much of the drive could be rated at all.
package struct HarshRate: Hashable, Sendable {
    /// m/s above which the vehicle counts as moving.
    static let moving = 10 / 3.6
    /// The share below which empty lists of events say nothing.
    package static let sufficient = 0.5

    /// Seconds of movement.
    private var moved = 0.0
    private var rated = 0.0
    private var previous: TrackSample?

    /// The share of the moving time that is in rated pairs, 0 ... 1; nil when the vehicle did not move.
    package var share: Double? { moved > 0 ? min(rated / moved, 1) : nil }

    /// Points are so far apart, or so many have no speed, that events may be missing for lack of data.
    package var isInsufficient: Bool { share.map { $0 < Self.sufficient } ?? false }

    /// Takes the next sample of the cleaned track, with or without a speed.
    mutating func add(_ sample: TrackSample) {
        defer { previous = sample }
        guard let previous, sample.milliseconds(since: previous) < Interruption.span, !sample.followsBreak
        else { return }
        let seconds = sample.seconds(since: previous)
        let uploaded = previous.metresASecond.flatMap { first in sample.metresASecond.map { (first + $0) / 2 } }
        // A receiver that says 0 while it moves does not hide the movement.
        let speed = max(uploaded ?? 0, seconds > 0 ? previous.distance(to: sample) / seconds : 0)
        if speed > Self.moving { moved += seconds }
    }

    /// Takes the next pair of samples with plausible speeds.
    mutating func add(_ pair: SpeedPair) {
        if pair.isRated, let speed = pair.meanSpeed, speed > Self.moving { rated += pair.seconds }
    }
}
