internal import Geodesy

/// Whether the vehicle can have come from one sample to another.
struct LinkRule: Hashable, Sendable {
    /// m/s that the vehicle hardly exceeds. What agrees with it beats it: speeds and courses, or the steps around.
    var speedCap: Double
    /// Whether steps that are one motion may be faster.
    var believesMotion = true
    /// m/s. Beyond it nothing agrees.
    static let fastest = 340.0
    /// Metres taken for the radius of a sample that has none.
    static let usualRadius = 5.0
    /// The most metres of a radius that count. With more, every jump would be possible.
    static let largestRadius = 50.0
    /// Beyond this many seconds the speeds of the ends say little of the way between them.
    static let predictable = 10.0
    /// m/s. Below it a course is noise.
    static let courseSpeed = 2.0
    /// Times the greater speed of both ends that a longer step may have and still agree with them.
    static let uneven = 1.2
    /// Seconds up to which the pace of the steps around tells how long a step can be.
    static let paced = 15.0
    /// m/s² that a vehicle changes its speed by at most for a while.
    static let change = 1.5

    /// A step between two samples, `end` later than `start`.
    struct Step: Hashable, Sendable {
        let start: TrackSample
        let end: TrackSample
        let seconds: Double
        let distance: Double
        /// Metres that each end may be off.
        let radius: Double

        init(from start: TrackSample, to end: TrackSample) {
            (self.start, self.end) = (start, end)
            seconds = max(end.seconds(since: start), 0.001)
            distance = start.distance(to: end)
            radius = min(
                max(start.radius ?? LinkRule.usualRadius, end.radius ?? LinkRule.usualRadius), LinkRule.largestRadius)
        }

        /// m/s.
        var speed: Double { distance / seconds }
        var velocity: EarthVector { (end.position - start.position) * (1 / seconds) }
        /// The error of the places alone may explain it.
        var isWithinError: Bool { distance <= 6 * radius }
        /// Metres that the places of both ends may disagree with a prediction.
        var error: Double { 3 * 2.0.squareRoot() * radius }
        var hasSpeeds: Bool { start.speed != nil && end.speed != nil }
    }

    /// Whether the speeds of both ends say that the vehicle moved far less, or far more: as evidence the step is worth
    /// nothing. A receiver that repeats a false place while its speeds go on makes many of them.
    static func isContradicted(_ step: Step) -> Bool {
        guard step.seconds <= predictable, let first = step.start.metresASecond, let last = step.end.metresASecond
        else { return false }
        let driven = (first + last) / 2
        return (step.speed - driven).magnitude > max(5, max(step.speed, driven) / 2)
    }

    /// What the speeds of both ends say; nil when they say nothing.
    func agrees(_ step: Step) -> Bool? {
        guard step.seconds <= Self.predictable, let first = step.start.metresASecond, let last = step.end.metresASecond
        else { return nil }
        // Speed and course come from the Doppler shift: they do not share the place's error.
        let tolerance = step.error + Self.change * step.seconds * step.seconds + 5
        let driven = (first + last) / 2 * step.seconds
        guard step.isWithinError || step.speed <= Self.fastest else { return false }
        // No course puts the prediction farther off than the way and the prediction are long together.
        if step.distance + driven <= tolerance { return true }
        if let from = step.start.course, let to = step.end.course, min(first, last) >= Self.courseSpeed {
            let mean =
                step.start.position.heading(Double(from) / 10) * (first / 2)
                + step.end.position.heading(Double(to) / 10) * (last / 2)
            return (step.end.position - step.start.position - mean * step.seconds).length <= tolerance
        }
        return step.distance - driven <= tolerance
    }

    /// Whether the cap, or the speeds of a longer step, allow it.
    func isBelowCap(_ step: Step) -> Bool {
        if step.isWithinError || step.distance <= speedCap * step.seconds { return true }
        guard let first = step.start.metresASecond, let last = step.end.metresASecond else { return false }
        return step.speed <= min(Self.uneven * max(first, last), Self.fastest)
    }

    /// Whether two steps, one next to the other, are one motion.
    func isSameMotion(_ step: Step, _ other: Step) -> Bool {
        guard believesMotion, step.speed <= Self.fastest, other.speed <= Self.fastest else { return false }
        let tolerance =
            Self.change * min(step.seconds + other.seconds, Self.predictable)
            + max(step.error, other.error) / min(step.seconds, other.seconds)
        return (step.velocity - other.velocity).length <= tolerance
    }

    /// Whether a step without speeds is one of those around it, the pace of which is in m/s.
    func keepsPace(_ step: Step, _ pace: Double) -> Bool {
        step.distance <= 6 * step.radius + step.seconds * (1.5 * pace + 2 * step.seconds + 5)
    }

    /// Whether the vehicle can have come over what lies between, at a pace of `pace` m/s before or after it.
    func spans(_ step: Step, pace: Double) -> Bool {
        step.distance
            <= 6 * step.radius + step.seconds * (1.3 * pace + 5 + min(step.seconds, 30) / 2)
    }
}
