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
