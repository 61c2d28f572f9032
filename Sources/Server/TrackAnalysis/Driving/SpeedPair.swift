/// Two samples between which acceleration can be told: about a second apart, or a few seconds when their mean alone is
/// beyond a threshold.
struct SpeedPair: Sendable {
    /// Milliseconds. Differences over less are noise.
    static let shortest: Int64 = 950
    /// Milliseconds. Differences over more hide most events.
    static let longest: Int64 = 3000
    /// Milliseconds. A mean over so long proves an event when it is beyond a threshold, and says nothing otherwise.
    static let longestProof: Int64 = 10_000
    /// m/s² that no vehicle reaches: an error of the speeds. Cars brake with 10.
    static let possible = 13.0
    /// m/s. Below it a course is noise.
    static let turning = 5.0

    let start: DrivenSample
    let end: DrivenSample

    var milliseconds: Int64 { end.sample.milliseconds(since: start.sample) }
    var seconds: Double { Double(milliseconds) / 1000 }
    private var isTelling: Bool { (Self.shortest...Self.longestProof).contains(milliseconds) }

    /// No event is hidden between the samples.
    var isRated: Bool { milliseconds <= Self.longest && acceleration != nil }

    /// m/s² along the way; nil when the pair tells nothing.
    var acceleration: Double? {
        guard isTelling, let value = Self.acceleration(from: start.sample, to: end.sample),
            value.magnitude <= Self.possible
        else { return nil }
        return value
    }

    /// The turn from the start's course to the end's the short way, degrees, positive to the right; nil when the pair
    /// tells nothing.
    var turn: Double? {
        guard isTelling, let first = start.sample.metresASecond, let last = end.sample.metresASecond,
            min(first, last) >= Self.turning,
            let from = start.sample.course, let to = end.sample.course
        else { return nil }
        var turn = (Double(to) - Double(from)) / 10
        if turn > 180 { turn -= 360 }
        if turn <= -180 { turn += 360 }
        return turn
    }

    /// The mean of both speeds, m/s.
    var meanSpeed: Double? {
        guard let first = start.sample.metresASecond, let last = end.sample.metresASecond else { return nil }
        return (first + last) / 2
    }

    /// m/s² from the uploaded speeds. Speeds are whole cm/s and times whole milliseconds: the one division makes the
    /// value the nearest to the true one, so that it compares with a threshold as it does on paper.
    static func acceleration(from start: TrackSample, to end: TrackSample) -> Double? {
        guard let first = start.speed, let last = end.speed, end.time > start.time else { return nil }
        return Double((Int64(last) - Int64(first)) * 10) / Double(end.milliseconds(since: start))
    }
}
