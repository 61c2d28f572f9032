/// Rates how a vehicle was driven, in one pass over the denoised track; samples of collapsed stops would brake too
/// hard.
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
    private var behaviour = DrivingBehaviour()

    package init(_ options: DrivingOptions) {
        accelerations = HarshRuns(threshold: options.acceleration)
        brakings = HarshRuns(threshold: options.braking)
        steerings = SteeringRuns(threshold: options.steering)
        speeding = SpeedingEpisodes(threshold: options.speeding)
    }

    /// Takes the next sample. `limit` is the road's speed limit in km/h, `path` the way along roads from the sample
    /// before in metres, each when it is known.
    package mutating func add(_ sample: TrackSample, limit: Double? = nil, path: Double? = nil) {
        if behaviour.start == nil { behaviour.start = sample }
        behaviour.end = sample
        length.add(sample, path: path)
        behaviour.rate.add(sample)
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
        behaviour.accelerations = accelerations.events
        behaviour.brakings = brakings.events
        behaviour.steerings = steerings.events
        behaviour.speeding = speeding.episodes
        return behaviour
    }

    /// A whole track without roads.
    package static func behaviour(_ options: DrivingOptions, in samples: some Sequence<TrackSample>) -> DrivingBehaviour
    {
        var analyzer = DrivingAnalyzer(options)
        for sample in samples { analyzer.add(sample) }
        return analyzer.finish()
    }

    private mutating func rate(_ judged: DrivenSample) {
        if let speed = judged.plausibleSpeed { behaviour.maximumSpeed = max(behaviour.maximumSpeed, speed) }
        speeding.add(judged)
        if let pair = speedPairs.add(judged) {
            behaviour.rate.add(pair)
            accelerations.add(pair)
            brakings.add(pair)
        }
        if let pair = turnPairs.add(judged) { steerings.add(pair) }
    }
}
