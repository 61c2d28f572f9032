internal import TrackModel

/// The thresholds of driving behaviour; the defaults are the Web API's.
package struct DrivingOptions: Hashable, Sendable {
    /// km/h; 0 for the limits of the roads.
    package var speeding: Double
    /// m/s², positive.
    package var acceleration: Double
    /// m/s², negative.
    package var braking: Double
    /// m/s² towards the centre of the curve, positive.
    package var steering: Double

    package init(
        speeding: Double = 0, acceleration: Double = 1.67, braking: Double = -1.67, steering: Double = 5
    ) {
        self.speeding = speeding
        self.acceleration = acceleration
        self.braking = braking
        self.steering = steering
    }
}

/// Rates how a vehicle was driven, in one pass over the denoised track, whose speeds and courses tell the events: samples
/// of collapsed stops would brake too hard. Distance, duration and movement are those of the track with collapsed stops,
/// as everywhere: a parked vehicle does not travel.
package struct DrivingAnalyzer: Sendable {
    private var judge = SpeedJudge()
    /// Speeds decide an acceleration, so only good ones count. In a curve the courses decide, and a speed that is
    /// wrongly 0 is too slow to be rated.
    private var speedPairs = PairMaker(plausibleOnly: true)
    private var turnPairs = PairMaker(plausibleOnly: false)
    private var accelerations: HarshRuns
    private var brakings: HarshRuns
    private var steerings: SteeringRuns
    private var speeding: SpeedingEpisodes
    private var length = LengthMeter()
    private var fastest = FastestSpeed()
    private var behaviour = DrivingBehaviour()

    package init(_ options: DrivingOptions) {
        accelerations = HarshRuns(threshold: options.acceleration)
        brakings = HarshRuns(threshold: options.braking)
        steerings = SteeringRuns(threshold: options.steering)
        speeding = SpeedingEpisodes(threshold: options.speeding)
    }

    /// Takes the next sample of the track with collapsed stops. `path` is the way along roads from the sample before in
    /// metres, when it is known.
    package mutating func travel(to sample: TrackSample, path: Double? = nil) {
        length.add(sample, path: path)
        behaviour.rate.add(sample)
        fastest.add(sample)
    }

    /// Takes the next sample of the denoised track. `limit` is the road's speed limit in km/h, `path` the way along roads
    /// from the sample before in metres, each when it is known.
    package mutating func add(_ sample: TrackSample, limit: Double? = nil, path: Double? = nil) {
        if behaviour.start == nil { behaviour.start = sample }
        behaviour.end = sample
        if let judged = judge.add(DrivenSample(sample: sample, limit: limit, path: path)) { rate(judged) }
    }

    /// No sample comes any more.
    package mutating func finish() -> DrivingBehaviour {
        if let judged = judge.finish() { rate(judged) }
        accelerations.close()
        brakings.close()
        steerings.close()
        speeding.close()
        behaviour.distance = length.result.driven
        behaviour.breaks = length.result.breaks
        if let start = behaviour.start, let end = behaviour.end {
            let seconds = end.seconds(since: start)
            behaviour.maximumSpeed = fastest.value(average: seconds > 0 ? behaviour.distance / seconds * 3.6 : 0)
        }
        behaviour.accelerations = accelerations.events
        behaviour.brakings = brakings.events
        behaviour.steerings = steerings.events
        behaviour.speeding = speeding.episodes
        return behaviour
    }

    /// A whole denoised track without roads.
    package static func behaviour(_ options: DrivingOptions, in samples: some Sequence<TrackSample>) -> DrivingBehaviour
    {
        var analyzer = DrivingAnalyzer(options)
        var collapse = StopCollapse()
        var (kept, drops) = ([TrackSample](), DropReasons())
        for sample in samples {
            analyzer.add(sample)
            collapse.add(sample, to: &kept, &drops)
            for sample in kept { analyzer.travel(to: sample) }
            kept.removeAll(keepingCapacity: true)
        }
        collapse.finish(to: &kept, &drops)
        for sample in kept { analyzer.travel(to: sample) }
        return analyzer.finish()
    }

    private mutating func rate(_ judged: DrivenSample) {
        if let speed = judged.plausibleSpeed { fastest.add(speed) }
        speeding.add(judged)
        if let pair = speedPairs.add(judged) {
            behaviour.rate.add(pair)
            accelerations.add(pair)
            brakings.add(pair)
        }
        if let pair = turnPairs.add(judged) { steerings.add(pair) }
    }
}

/// How a vehicle was driven.
package struct DrivingBehaviour: Hashable, Sendable {
    /// The first and the last sample; nil for an empty track.
    package internal(set) var start: TrackSample?
    package internal(set) var end: TrackSample?
    /// Metres, without interruptions.
    package internal(set) var distance = 0.0
    /// The greatest plausible speed, km/h; where none was uploaded, that of the way between places. Nil when nothing
    /// tells it.
    package internal(set) var maximumSpeed: Double?
    /// Neighbours between which the vehicle cannot have driven.
    package internal(set) var breaks = 0
    package internal(set) var speeding: [SpeedingEpisode] = []
    package internal(set) var accelerations: [HarshEvent] = []
    package internal(set) var brakings: [HarshEvent] = []
    package internal(set) var steerings: [SteeringEvent] = []
    package internal(set) var rate = HarshRate()

    /// Whole seconds from the first sample to the last.
    package var duration: Int64 {
        guard let start, let end else { return 0 }
        return end.timestamp.seconds - start.timestamp.seconds
    }

    /// km/h; 0 for a track without duration.
    package var averageSpeed: Double { duration > 0 ? distance / Double(duration) * 3.6 : 0 }
}

/// How much of the drive could be rated at all.
package struct HarshRate: Hashable, Sendable {
    /// m/s above which the vehicle counts as moving.
    static let moving = 10 / 3.6
    /// The share below which empty lists of events say nothing.
    package static let sufficient = 0.5

    /// Seconds of movement.
    private var moved = 0.0
    private var rated = 0.0
    private var previous: TrackSample?

    /// The share of the moving time that is in rated pairs, 0 ... 1; nil when the vehicle did not move.
    package var share: Double? { moved > 0 ? min(rated / moved, 1) : nil }

    /// Points are so far apart, or so many have no speed, that events may be missing for lack of data.
    package var isInsufficient: Bool { share.map { $0 < Self.sufficient } ?? false }

    /// Takes the next sample of the cleaned track, with or without a speed.
    mutating func add(_ sample: TrackSample) {
        defer { previous = sample }
        guard let previous, sample.milliseconds(since: previous) < Interruption.span, !sample.followsBreak
        else { return }
        let seconds = sample.seconds(since: previous)
        let uploaded = previous.metresASecond.flatMap { first in sample.metresASecond.map { (first + $0) / 2 } }
        // A receiver that says 0 while it moves does not hide the movement.
        let speed = max(uploaded ?? 0, seconds > 0 ? previous.distance(to: sample) / seconds : 0)
        if speed > Self.moving { moved += seconds }
    }

    /// Takes the next pair of samples with plausible speeds.
    mutating func add(_ pair: SpeedPair) {
        if pair.isRated, let speed = pair.meanSpeed, speed > Self.moving { rated += pair.seconds }
    }
}
