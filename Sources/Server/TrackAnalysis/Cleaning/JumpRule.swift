internal import Geodesy

/// Whether the vehicle can have come from one sample to another.
struct JumpRule: Hashable, Sendable {
    /// m/s. Above it a step is a jump.
    var speedCap: Double
    /// Metres taken for the radius of a sample that has none.
    static let usualRadius = 5.0
    /// The most metres of a radius that count. With more, every jump would be possible.
    static let largestRadius = 50.0
    /// Beyond this many seconds the speeds of the ends say little of the way between them.
    static let predictable = 10.0
    /// m/s. Below it a course is noise.
    static let courseSpeed = 2.0

    /// `end` is later than `start`.
    func isJump(from start: TrackSample, to end: TrackSample) -> Bool {
        let seconds = end.seconds(since: start)
        let distance = start.distance(to: end)
        let radius = min(
            max(start.radius ?? Self.usualRadius, end.radius ?? Self.usualRadius), Self.largestRadius)
        if distance > speedCap * seconds, distance > 6 * radius { return true }
        guard seconds <= Self.predictable, let first = start.metresASecond, let last = end.metresASecond else {
            return false
        }
        // Speed and course come from the Doppler shift: they do not share the place's error.
        let tolerance = 3 * 2.0.squareRoot() * radius + 1.5 * seconds * seconds + 5
        // No course puts the prediction farther off than the way and the prediction are long together.
        if distance + (first + last) / 2 * seconds <= tolerance { return false }
        if let from = start.course, let to = end.course, min(first, last) >= Self.courseSpeed {
            let mean =
                start.position.heading(Double(from) / 10) * (first / 2)
                + end.position.heading(Double(to) / 10) * (last / 2)
            return (end.position - start.position - mean * seconds).length > tolerance
        }
        return distance - (first + last) / 2 * seconds > tolerance
    }
}
