internal import Geodesy

/// From the raw track to the cleaned one: radius limit, denoising, collapse of stops. Fed in chunks of any size.
package struct TrackCleaner: Sendable {
    private var limit: RadiusLimit?
    private var denoiser: Denoiser?
    private var collapse: StopCollapse?
    private var count = 0
    /// Reused between chunks.
    private var buffer: [TrackSample] = []

    /// Why points of the track are missing in the result.
    package private(set) var drops = DropReasons()

    package init(_ options: CleaningOptions) {
        limit = options.radiusLimit.map(RadiusLimit.init(metres:))
        denoiser = options.speedCap.map { Denoiser(speedCap: $0, believesMotion: options.believesMotion) }
        collapse = options.collapsesStops ? StopCollapse() : nil
    }

    /// Takes the next points of the track; appends to `kept` those that are decided now.
    package mutating func add(_ chunk: TrackColumns, to kept: inout [TrackSample]) {
        for position in 0..<chunk.count {
            let sample = chunk.sample(at: position, index: count)
            count += 1
            if limit == nil {
                denoise(sample, to: &kept)
            } else {
                limit?.add(sample, to: &buffer, &drops)
                if let sample = buffer.popLast() { denoise(sample, to: &kept) }
            }
        }
    }

    /// No point comes any more; appends to `kept` what was held.
    package mutating func finish(to kept: inout [TrackSample]) {
        denoiser?.finish(to: &buffer, &drops)
        for sample in buffer { settle(sample, to: &kept) }
        buffer.removeAll(keepingCapacity: true)
        collapse?.finish(to: &kept, &drops)
    }

    /// A whole track, and why points are missing.
    package static func clean(
        _ columns: TrackColumns, _ options: CleaningOptions
    ) -> (samples: [TrackSample], drops: DropReasons) {
        var cleaner = TrackCleaner(options)
        var kept: [TrackSample] = []
        kept.reserveCapacity(columns.count)
        cleaner.add(columns, to: &kept)
        cleaner.finish(to: &kept)
        return (kept, cleaner.drops)
    }

    private mutating func denoise(_ sample: TrackSample, to kept: inout [TrackSample]) {
        guard denoiser != nil else { return settle(sample, to: &kept) }
        denoiser?.add(sample, to: &buffer, &drops)
        for sample in buffer { settle(sample, to: &kept) }
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func settle(_ sample: TrackSample, to kept: inout [TrackSample]) {
        guard collapse != nil else { return kept.append(sample) }
        collapse?.add(sample, to: &kept, &drops)
    }
}

/// How a track is cleaned.
package struct CleaningOptions: Hashable, Sendable {
    /// Samples with a larger radius are dropped, metres; nil for no limit.
    package var radiusLimit: Double?
    /// m/s; nil to leave excursions in.
    package var speedCap: Double?
    /// Whether steps that are one motion may be faster than the cap. Not where the client has named a slow mode.
    package var believesMotion: Bool
    /// Whether the drift of stops is taken out.
    package var collapsesStops: Bool

    package init(
        radiusLimit: Double? = nil, speedCap: Double? = nil, believesMotion: Bool = true, collapsesStops: Bool = false
    ) {
        self.radiusLimit = radiusLimit
        self.speedCap = speedCap
        self.believesMotion = believesMotion
        self.collapsesStops = collapsesStops
    }

    /// The Web API's `denoise_grade` 0 ... 5; other numbers count as the nearest.
    ///
    /// Grade 0 leaves every point where it is, in stops too: a client that turns denoising off wants its points. The
    /// grades above 1 also limit the radius. A limit that was given besides counts when it is stricter.
    package init(
        denoiseGrade grade: Int, radiusLimit given: Double? = nil, speedCap: Double, believesMotion: Bool = true
    ) {
        let ofGrade: Double? =
            switch grade {
            case ...1: nil
            case 2: 500
            case 3: 100
            case 4: 50
            default: 20
            }
        radiusLimit = [ofGrade, given].compactMap { $0 }.min()
        self.speedCap = grade > 0 ? speedCap : nil
        self.believesMotion = believesMotion
        collapsesStops = grade > 0
    }
}

/// Drops samples whose own radius is over a limit. A sample without a radius passes.
package struct RadiusLimit: TrackStep {
    /// Metres.
    private let limit: Double

    package init(metres: Double) { limit = metres }

    package mutating func add(_ sample: TrackSample, to kept: inout [TrackSample], _ drops: inout DropReasons) {
        if let radius = sample.radius, radius > limit {
            drops.drop(sample.index, .radius)
        } else {
            kept.append(sample)
        }
    }

    package mutating func finish(to kept: inout [TrackSample], _ drops: inout DropReasons) {}
}

/// Replaces the drift of a stop by a few samples at one place: the first, the last, and one in at most 240 s between
/// them, all at the stop's mean and at rest.
///
/// Samples that the agent made while parked pass unchanged: they are such a stop already.
package struct StopCollapse: TrackStep {
    /// Milliseconds between the samples that stand for a stop: less than an interruption takes.
    static let interval: Int64 = 240_000

    private var window: StayWindow
    private var collector = StopCollector()

    package init(_ rule: StayRule = .stop) { window = StayWindow(rule) }

    package mutating func add(_ sample: TrackSample, to kept: inout [TrackSample], _ drops: inout DropReasons) {
        if sample.isParked {
            window.finish(into: &collector)
            collector.passed(sample)
        } else {
            window.add(sample, into: &collector)
        }
        collector.drain(to: &kept, &drops)
    }

    package mutating func finish(to kept: inout [TrackSample], _ drops: inout DropReasons) {
        window.finish(into: &collector)
        collector.drain(to: &kept, &drops)
    }
}

/// Chooses the samples that stand for a stop.
struct StopCollector: StaySink, Sendable {
    private var kept: [TrackSample] = []
    private var dropped: [Int] = []
    /// What stands for the open stop, without its last sample.
    private var chosen: [TrackSample] = []
    /// The last sample inside, unless it is chosen.
    private var newest: TrackSample?

    mutating func passed(_ sample: TrackSample) { kept.append(sample) }

    mutating func entered(_ sample: TrackSample) {
        guard let last = chosen.last else { return chosen.append(sample) }
        if let newest {
            // Without it the next one would be too far from the last that is chosen.
            if sample.milliseconds(since: last) > StopCollapse.interval {
                chosen.append(newest)
            } else {
                dropped.append(newest.index)
            }
        }
        newest = sample
    }

    mutating func strayed(_ sample: TrackSample) { dropped.append(sample.index) }

    mutating func ended(_ stay: StayRun, isOpen: Bool) {
        if let newest { chosen.append(newest) }
        let place = stay.mean.degrees
        for (position, sample) in chosen.enumerated() {
            var standing = sample.standing(at: stay.mean, of: place)
            standing.isPinned = position == 0 || position == chosen.count - 1
            kept.append(standing)
        }
        chosen.removeAll(keepingCapacity: true)
        newest = nil
    }

    mutating func drain(to kept: inout [TrackSample], _ drops: inout DropReasons) {
        guard !self.kept.isEmpty || !dropped.isEmpty else { return }
        kept += self.kept
        for index in dropped { drops.drop(index, .stop) }
        self.kept.removeAll(keepingCapacity: true)
        dropped.removeAll(keepingCapacity: true)
    }
}

/// Which point of a track's end is shown as the latest.
package enum LatestPoint {
    /// Milliseconds after which a jump at the very end is shown although no later point confirms it.
    package static let undecided: Int64 = 60_000

    /// The index of the point to show, nil for an empty tail.
    ///
    /// It is the last point that cleaning keeps. A jump at the end is undecided: it is shown when the next point confirms
    /// it, or when it is over a minute old and nothing came after it. When nothing is kept, the newest point is shown. `now` is in milliseconds
    /// since 1970.
    package static func index(in tail: TrackColumns, _ options: CleaningOptions, now: Int64) -> Int? {
        guard tail.count > 0 else { return nil }
        var options = options
        options.collapsesStops = false
        let (kept, drops) = TrackCleaner.clean(tail, options)
        guard let last = kept.last else { return tail.count - 1 }
        let newest = (last.index..<tail.count).last { drops[$0] == nil || drops[$0] == .excursion } ?? last.index
        guard drops[newest] == .excursion else { return last.index }
        if let cap = options.speedCap, let before = (last.index + 1..<newest).last(where: { drops[$0] == .excursion }) {
            let rule = LinkRule(speedCap: cap)
            let step = LinkRule.Step(
                from: tail.sample(at: before, index: before), to: tail.sample(at: newest, index: newest))
            if rule.agrees(step) ?? (rule.isBelowCap(step) && rule.spans(step, pace: 0)) { return newest }
        }
        let age = tail.sample(at: newest, index: newest).age(at: now)
        return age > undecided ? newest : last.index
    }
}
