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
        var (kept, drops) = ([TrackSample](), DropLedger())
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
