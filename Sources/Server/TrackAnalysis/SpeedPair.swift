/// A sample with what is known of it besides.
struct DrivenSample: Sendable {
    let sample: TrackSample
    /// The road's speed limit, km/h.
    let limit: Double?
    /// Metres of the way from the sample before, when it is known better than by the straight line.
    let path: Double?
    /// The uploaded speed agrees with the places around it.
    var isPlausible = true

    /// km/h, when it is known and plausible.
    var plausibleSpeed: Double? { isPlausible ? sample.shownSpeed : nil }
}

/// Compares uploaded speeds with places: receivers say 0 while they move.
///
/// A speed is wrong when the way before it or after it contradicts it, unless the vehicle can have braked or accelerated
/// so hard between both speeds. It is wrong in any case when the vehicle moved faster both before and after it, or slower
/// both times.
struct SpeedJudge: Sendable {
    /// Milliseconds between neighbours that can judge each other.
    static let reach: Int64 = 10_000
    /// m/s of disagreement that are normal.
    static let tolerance = 5.0
    /// Metres that places are off.
    static let error = 2.5
    /// m/s² with which a vehicle may have gone on accelerating between two points.
    static let usual = 1.0

    /// What the way between neighbours says of the speed of one of them.
    private enum Verdict: Hashable, Sendable {
        case agrees
        case faster
        case slower
    }

    private struct Step: Sendable {
        let verdict: Verdict
        /// The speeds of both ends explain the way.
        let isPossible: Bool
    }

    private var waiting: (sample: DrivenSample, before: Step?)?

    /// Takes the next sample and returns the one before it, judged.
    mutating func add(_ sample: DrivenSample) -> DrivenSample? {
        guard let (last, before) = waiting else {
            waiting = (sample, nil)
            return nil
        }
        waiting = (sample, Self.step(of: sample.sample, between: last.sample, and: sample.sample))
        return Self.judged(last, before, Self.step(of: last.sample, between: last.sample, and: sample.sample))
    }

    /// The last sample, judged.
    mutating func finish() -> DrivenSample? {
        defer { waiting = nil }
        return waiting.map { Self.judged($0.sample, $0.before, nil) }
    }

    private static func judged(_ sample: DrivenSample, _ before: Step?, _ after: Step?) -> DrivenSample {
        var sample = sample
        let steps = [before, after].compactMap(\.self)
        let isContradicted = steps.contains { $0.verdict != .agrees && !$0.isPossible }
        let isAlone = steps.count == 2 && steps[0].verdict != .agrees && steps[0].verdict == steps[1].verdict
        sample.isPlausible = !isContradicted && !isAlone
        return sample
    }

    private static func step(of sample: TrackSample, between start: TrackSample, and end: TrackSample) -> Step? {
        let milliseconds = end.milliseconds(since: start)
        guard let speed = sample.metresASecond, milliseconds > 0, milliseconds <= reach, !end.followsBreak else {
            return nil
        }
        let (distance, seconds) = (start.distance(to: end), end.seconds(since: start))
        let moved = distance / seconds
        if (moved - speed).magnitude <= max(tolerance, max(moved, speed) / 2) {
            return Step(verdict: .agrees, isPossible: true)
        }
        return Step(verdict: moved > speed ? .faster : .slower, isPossible: isPossible(distance, seconds, start, end))
    }

    /// Whether a vehicle that changes its speed as hard as any can have gone so far.
    private static func isPossible(
        _ distance: Double, _ seconds: Double, _ start: TrackSample, _ end: TrackSample
    ) -> Bool {
        guard let first = start.metresASecond, let last = end.metresASecond,
            (last - first).magnitude <= SpeedPair.possible * seconds
        else { return false }
        // It brakes first, perhaps to rest, and accelerates then.
        let slowest = max(0, (first + last - SpeedPair.possible * seconds) / 2)
        let least = (first * first + last * last - 2 * slowest * slowest) / (2 * SpeedPair.possible)
        let most = max(first, last) * seconds + usual * seconds * seconds / 2
        return distance >= least - error && distance <= most + error
    }
}

/// Joins samples to pairs at least 0.95 s apart, each pair beginning where the one before it ends.
struct PairMaker: Sendable {
    /// Whether samples without a plausible speed are left out. Their neighbours may still be close enough.
    let plausibleOnly: Bool
    private var anchor: DrivenSample?

    init(plausibleOnly: Bool) { self.plausibleOnly = plausibleOnly }

    /// Takes the next sample; returns the pair that it ends.
    mutating func add(_ sample: DrivenSample) -> SpeedPair? {
        if plausibleOnly, sample.plausibleSpeed == nil { return nil }
        guard let anchor else {
            self.anchor = sample
            return nil
        }
        let pair = SpeedPair(start: anchor, end: sample)
        guard pair.milliseconds >= SpeedPair.shortest else { return nil }
        self.anchor = sample
        return pair
    }
}

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
