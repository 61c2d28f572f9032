package import Geodesy

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

/// Who is told what a ``StayWindow`` decides. Each sample is told once, in the order of the track, except that strays
/// are told when the next sample inside shows that they are strays.
protocol StaySink {
    /// The sample belongs to no stay.
    mutating func passed(_ sample: TrackSample)
    /// The sample is inside the stay that is open.
    mutating func entered(_ sample: TrackSample)
    /// The sample is outside for a moment, between samples inside.
    mutating func strayed(_ sample: TrackSample)
    /// The open stay has ended with the last sample that entered; or the track has, when `isOpen`.
    mutating func ended(_ stay: StayRun, isOpen: Bool)
}

/// A stay: samples within reach of their common mean.
package struct StayRun: Hashable, Sendable {
    package let first: TrackSample
    package private(set) var last: TrackSample
    /// Samples inside.
    package private(set) var count: Int
    /// The mean of the samples inside, on the ground.
    package internal(set) var mean: EarthVector
    /// Milliseconds of the longest silence between samples inside.
    package private(set) var longestSilence: Int64

    init(first: TrackSample) {
        self.first = first
        last = first
        count = 0
        mean = first.position
        longestSilence = 0
    }

    mutating func extend(by sample: TrackSample) {
        longestSilence = max(longestSilence, sample.milliseconds(since: last))
        last = sample
        count += 1
    }
}

/// Samples first in, first out; both ends take constant time on average.
struct SampleQueue: Sendable {
    private var storage: [TrackSample] = []
    private var head = 0

    var isEmpty: Bool { head == storage.count }
    var first: TrackSample? { isEmpty ? nil : storage[head] }
    var last: TrackSample? { isEmpty ? nil : storage[storage.count - 1] }
    /// What is in the queue, oldest first.
    var samples: ArraySlice<TrackSample> { storage[head...] }

    mutating func append(_ sample: TrackSample) { storage.append(sample) }

    mutating func removeFirst() {
        head += 1
        // The array moves at most once for each removal.
        if head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
    }

    mutating func removeAll() {
        storage.removeAll(keepingCapacity: true)
        head = 0
    }
}

/// The largest radius of the samples in a queue, in constant time on average.
struct LargestRadius: Sendable {
    /// Descending radii: a sample that is older and smaller than another one never counts again.
    private var candidates: [(index: Int, radius: Int32)] = []
    private var head = 0

    /// Metres; 0 when no sample has a radius.
    var largest: Double { head < candidates.count ? Double(candidates[head].radius) / 10 : 0 }

    mutating func append(_ sample: TrackSample) {
        guard let radius = sample.accuracy else { return }
        while candidates.count > head, let last = candidates.last, last.radius <= radius { candidates.removeLast() }
        candidates.append((sample.index, radius))
    }

    /// The oldest sample leaves.
    mutating func removeFirst(_ sample: TrackSample) {
        guard head < candidates.count, candidates[head].index == sample.index else { return }
        head += 1
        if head * 2 >= candidates.count {
            candidates.removeFirst(head)
            head = 0
        }
    }

    mutating func removeAll() {
        candidates.removeAll(keepingCapacity: true)
        head = 0
    }
}
