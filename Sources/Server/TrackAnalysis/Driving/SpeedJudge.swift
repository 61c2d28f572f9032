/// Compares uploaded speeds with places: receivers say 0 while they move.
struct SpeedJudge: Sendable {
    /// Milliseconds between neighbours that can judge each other.
    static let reach: Int64 = 3000
    /// m/s of disagreement that are normal.
    static let tolerance = 5.0

    private var waiting: DrivenSample?

    /// Takes the next sample and returns the one before it, judged.
    mutating func add(_ sample: DrivenSample) -> DrivenSample? {
        var sample = sample
        var judged = waiting
        if let before = judged {
            let (first, second) = Self.disagree(before.sample, sample.sample)
            if first { judged?.isPlausible = false }
            sample.isPlausible = !second
        }
        waiting = sample
        return judged
    }

    /// The last sample, judged.
    mutating func finish() -> DrivenSample? {
        defer { waiting = nil }
        return waiting
    }

    private static func disagree(_ start: TrackSample, _ end: TrackSample) -> (Bool, Bool) {
        guard end.milliseconds(since: start) <= reach, end.time > start.time else { return (false, false) }
        let moved = start.distance(to: end) / end.seconds(since: start)
        func disagrees(_ speed: Double?) -> Bool {
            guard let speed else { return false }
            return (moved - speed).magnitude > max(tolerance, max(moved, speed) / 2)
        }
        return (disagrees(start.metresASecond), disagrees(end.metresASecond))
    }
}
