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

    package mutating func add(_ sample: TrackSample, to kept: inout [TrackSample], _ drops: inout DropLedger) {
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

    package mutating func finish(to kept: inout [TrackSample], _ drops: inout DropLedger) {
        for zero in zeros { take(zero, &kept, &drops) }
        zeros = []
        while next < end { place() }
        settle(chains.finish(), &kept, &drops)
        self = Denoiser(speedCap: rule.speedCap, believesMotion: rule.believesMotion)
    }

    // MARK: Runs

    /// The number of the sample that comes next.
    private var end: Int { base + samples.count }

    private mutating func take(_ sample: TrackSample, _ kept: inout [TrackSample], _ drops: inout DropLedger) {
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
        _ stretches: [RunChains.Stretch], _ kept: inout [TrackSample], _ drops: inout DropLedger
    ) {
        for stretch in stretches {
            drop(upTo: stretch.numbers.lowerBound, &drops)
            if stretch.followsBreak, undecided < stretch.numbers.upperBound {
                samples[undecided - base].followsBreak = true
            }
            release(upTo: stretch.numbers.upperBound, &kept)
        }
    }

    private mutating func drop(upTo number: Int, _ drops: inout DropLedger) {
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
