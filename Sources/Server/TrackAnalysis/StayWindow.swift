internal import Geodesy

/// Finds stays: runs of samples that last, each within reach of the mean of those before it.
///
/// While a run is shorter than the rule's span, its oldest samples leave until the newest is within reach. So no sample
/// at which the vehicle was still rolling anchors the stay. When the run lasts long enough it is a stay, and two
/// samples outside in a row end it. Silence ends nothing: where the vehicle is afterwards decides. Each sample enters
/// once and leaves once.
struct StayWindow: Sendable {
    /// Samples outside, in a row, that end a stay.
    static let departure = 2

    private let rule: StayRule
    /// The samples of a run that is no stay yet.
    private var samples = SampleQueue()
    private var radii = LargestRadius()
    /// The stay, when the run has become one.
    private var stay: StayRun?
    /// The mean is this place and the sum over the count: a sum of small numbers keeps its digits.
    private var origin = EarthVector.zero
    private var sum = EarthVector.zero
    private var count = 0
    private var held: [TrackSample] = []
    private var previous: TrackSample?

    init(_ rule: StayRule) { self.rule = rule }

    /// The stay that goes on, as far as it is known.
    var current: StayRun? {
        guard var stay else { return nil }
        stay.mean = mean.onGround
        return stay
    }

    mutating func add(_ sample: TrackSample, into sink: inout some StaySink) {
        let reach = reach(of: sample)
        previous = sample
        if stay != nil {
            if isInside(sample, reach) {
                for stray in held { sink.strayed(stray) }
                held.removeAll(keepingCapacity: true)
                enterStay(sample, &sink)
            } else {
                held.append(sample)
                if held.count >= Self.departure { end(isOpen: false, &sink) }
            }
        } else {
            gather(sample, reach, &sink)
        }
    }

    /// Ends the run here, as if no sample came any more.
    mutating func finish(isOpen: Bool = true, into sink: inout some StaySink) {
        // What is held may be a stay itself when the rule's span is 0.
        while stay != nil { end(isOpen: isOpen, &sink) }
        while let sample = samples.first {
            sink.passed(sample)
            removeOldest()
        }
        empty()
        previous = nil
    }

    // MARK: The run

    /// A sample outside the open stay, or of a run that is no stay yet.
    private mutating func gather(_ sample: TrackSample, _ reach: Double, _ sink: inout some StaySink) {
        while let oldest = samples.first, !isInside(sample, reach) {
            sink.passed(oldest)
            removeOldest()
        }
        if samples.isEmpty {
            empty()
            origin = sample.position
        }
        samples.append(sample)
        radii.append(sample)
        include(sample)
        guard let first = samples.first, sample.milliseconds(since: first) >= rule.span else { return }
        settle(first, &sink)
    }

    /// The run has become a stay.
    private mutating func settle(_ first: TrackSample, _ sink: inout some StaySink) {
        var stay = StayRun(first: first)
        for sample in samples.samples {
            stay.extend(by: sample)
            sink.entered(sample)
        }
        samples.removeAll()
        self.stay = stay
    }

    private mutating func enterStay(_ sample: TrackSample, _ sink: inout some StaySink) {
        include(sample)
        radii.append(sample)
        stay?.extend(by: sample)
        sink.entered(sample)
    }

    private mutating func end(isOpen: Bool, _ sink: inout some StaySink) {
        if let stay = current { sink.ended(stay, isOpen: isOpen) }
        stay = nil
        empty()
        let outside = held
        held = []
        for sample in outside { gather(sample, rule.reach, &sink) }
    }

    // MARK: The mean

    private var mean: EarthVector { origin + sum * (1 / Double(max(count, 1))) }

    private mutating func include(_ sample: TrackSample) {
        sum += sample.position - origin
        count += 1
    }

    private mutating func removeOldest() {
        guard let oldest = samples.first else { return }
        sum -= oldest.position - origin
        count -= 1
        samples.removeFirst()
        radii.removeFirst(oldest)
    }

    private mutating func empty() {
        samples.removeAll()
        radii.removeAll()
        sum = .zero
        count = 0
    }

    // MARK: Reach

    private func reach(of sample: TrackSample) -> Double {
        guard rule.coldReach > 0, let previous, sample.milliseconds(since: previous) >= StayRule.coldSilence,
            let radius = sample.radius
        else { return rule.reach }
        return max(rule.reach, min(radius, rule.coldReach))
    }

    private func isInside(_ sample: TrackSample, _ reach: Double) -> Bool {
        var reach = reach
        if rule.reachOfRadius > 0 {
            reach = max(reach, min(max(radii.largest, sample.radius ?? 0), rule.reachOfRadius))
        }
        // A stay's reach is so small that its mean is as good as on the ground.
        return (sample.position - mean).squaredLength <= reach * reach
    }
}
