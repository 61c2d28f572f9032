internal import Geodesy

/// Drops excursions: samples that the vehicle cannot have reached, and from which it cannot have come back.
///
/// Samples that the vehicle can have reached one after the other form a ``LinkedRun``. ``RunChains`` finds the
/// runs that fit together best, and the others go, however long they are. A sample is decided when every chain
/// that can still win agrees on it: at once in an honest track.
package struct Denoiser: TrackStep {
    /// Steps before and after a step that tell the pace of the vehicle.
    static let around = 8
    /// The most samples that wait for a decision.
    static let mostWaiting = 4096
    /// Seconds without a sample, and times the spacing before it, that begin a new run.
    static let silence = (seconds: 60.0, spacings: 4.0)
    /// Samples between two attempts to decide.
    private static let rhythm = 64
    /// Metres from 0° N 0° E within which a sample at exactly that place may be true.
    static let zeroReach = 100_000.0
    /// Samples at exactly 0° N 0° E that are held at the begin of a track, until another place tells whether they are
    /// true.
    static let mostZeros = 1024

    private let rule: LinkRule
    /// Samples that are not out yet, and some before them for the steps around; `base`: the number of the first one.
    private var samples: [TrackSample] = []
    private var base = 0
    /// The number of the next sample that is put into a run.
    private var next = 0
    /// The number of the first sample that is not decided.
    private var undecided = 0
    private var chains: RunChains
    /// Samples at 0° N 0° E before any other.
    private var zeros: [TrackSample] = []

    /// The cap is in m/s: a step that needs more is a jump, unless its speeds agree with it, or the steps around do and
    /// `believesMotion` says that they may.
    package init(speedCap: Double, believesMotion: Bool = true) {
        rule = LinkRule(speedCap: speedCap, believesMotion: believesMotion)
        chains = RunChains(rule: rule)
    }

    package mutating func add(_ sample: TrackSample, to kept: inout [TrackSample], _ drops: inout DropReasons) {
        let isZero = sample.latitudeE7 == 0 && sample.longitudeE7 == 0
        if isZero, samples.isEmpty, zeros.count < Self.mostZeros { return zeros.append(sample) }
        if isZero, let last = samples.last, last.position.distance(to: sample.position) > Self.zeroReach {
            return drops.drop(sample.index, .zero)
        }
        if let zero = zeros.first {
            let areTrue = isZero || zero.position.distance(to: sample.position) <= Self.zeroReach
            let waiting = zeros
            zeros = []
            for zero in waiting {
                if areTrue { take(zero, &kept, &drops) } else { drops.drop(zero.index, .zero) }
            }
        }
        take(sample, &kept, &drops)
    }

    package mutating func finish(to kept: inout [TrackSample], _ drops: inout DropReasons) {
        for zero in zeros { take(zero, &kept, &drops) }
        zeros = []
        while next < end { place() }
        settle(chains.finish(), &kept, &drops)
        self = Denoiser(speedCap: rule.speedCap, believesMotion: rule.believesMotion)
    }

    // MARK: Runs

    /// The number of the sample that comes next.
    private var end: Int { base + samples.count }

    private mutating func take(_ sample: TrackSample, _ kept: inout [TrackSample], _ drops: inout DropReasons) {
        samples.append(sample)
        guard end - next > Self.around else { return }
        place()
        if let number = chains.certain {
            // One run, which every chain has: the usual case.
            release(upTo: number, &kept)
        } else if next % Self.rhythm == 0 {
            let isFull = next - undecided >= Self.mostWaiting
            settle(isFull ? chains.force() : chains.decide(), &kept, &drops)
        }
        compact()
    }

    /// Puts the next sample into the open run, or begins a new one.
    private mutating func place() {
        let position = next - base
        let sample = samples[position]
        defer { next += 1 }
        guard position > 0 else {
            let following = samples.count > 1 ? samples[1].seconds(since: sample) : 0
            return chains.begin(LinkedRun(sample, number: next, spacing: following, followsSilence: false))
        }
        let step = LinkRule.Step(from: samples[position - 1], to: sample)
        let before = position > 1 ? samples[position - 1].seconds(since: samples[position - 2]) : step.seconds
        let isSilence = step.seconds > Self.silence.seconds && step.seconds > Self.silence.spacings * before
        if !isSilence, links(step, position) { return chains.append(step) }
        chains.begin(LinkedRun(sample, number: next, spacing: step.seconds, followsSilence: isSilence))
    }

    /// Whether the vehicle can have made the step that ends at a position.
    private func links(_ step: LinkRule.Step, _ position: Int) -> Bool {
        if let agrees = rule.agrees(step) { return agrees }
        guard rule.isBelowCap(step) else { return continuesMotion(step, position) }
        if step.hasSpeeds || step.seconds > LinkRule.paced || rule.keepsPace(step, 0) { return true }
        return rule.keepsPace(step, pace(around: position))
    }

    /// Whether a step over the cap is the motion of the steps next to it.
    private func continuesMotion(_ step: LinkRule.Step, _ position: Int) -> Bool {
        if position > 1, rule.isSameMotion(step, LinkRule.Step(from: samples[position - 2], to: step.start)) {
            return true
        }
        guard position + 1 < samples.count else { return false }
        return rule.isSameMotion(step, LinkRule.Step(from: step.end, to: samples[position + 1]))
    }

    /// m/s: two of three of the steps around are slower.
    private func pace(around position: Int) -> Double {
        let range = max(1, position - Self.around)..<min(samples.count, position + Self.around + 1)
        var speeds: [Double] = []
        speeds.reserveCapacity(2 * Self.around)
        for other in range where other != position {
            speeds.append(LinkRule.Step(from: samples[other - 1], to: samples[other]).speed)
        }
        guard !speeds.isEmpty else { return 0 }
        speeds.sort()
        return speeds[min(speeds.count * 2 / 3, speeds.count - 1)]
    }

    // MARK: Decisions

    /// Gives out the samples of a run that every chain has.
    private mutating func release(upTo number: Int, _ kept: inout [TrackSample]) {
        guard number > undecided else { return }
        for position in undecided - base..<number - base { kept.append(samples[position]) }
        undecided = number
    }

    private mutating func settle(
        _ stretches: [RunChains.Stretch], _ kept: inout [TrackSample], _ drops: inout DropReasons
    ) {
        for stretch in stretches {
            drop(upTo: stretch.numbers.lowerBound, &drops)
            if stretch.followsBreak, undecided < stretch.numbers.upperBound {
                samples[undecided - base].followsBreak = true
            }
            release(upTo: stretch.numbers.upperBound, &kept)
        }
    }

    private mutating func drop(upTo number: Int, _ drops: inout DropReasons) {
        while undecided < number {
            drops.drop(samples[undecided - base].index, .excursion)
            undecided += 1
        }
    }

    /// Forgets samples that are out, but for those that tell the pace.
    private mutating func compact() {
        let spare = min(undecided, next - Self.around) - base - 1
        guard spare > 512 else { return }
        samples.removeFirst(spare)
        base += spare
    }
}

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
