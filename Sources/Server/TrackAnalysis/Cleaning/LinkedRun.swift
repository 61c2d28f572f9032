/// Samples in a row, each of which the vehicle can have reached from the one before: all of them are true, or none is.
struct LinkedRun: Sendable {
    /// How a chain comes to a run.
    struct Entry: Hashable, Sendable {
        /// Seconds of evidence in the chain before it, less what the way from there costs.
        var value = 0.0
        /// Position of the run before it in the chain; nil where the chain begins.
        var before: Int?
        /// The vehicle cannot have come from there: nobody can say which side is false.
        var isBreak = false
        /// The last sample of the run before, or the first of this one, is false too.
        var trimsBefore = false
        var trimsFirst = false
        /// Position of the run before the last break of the chain, or of the best one from which a chain that
        /// begins here cannot have come; and the value of the chain at that break.
        var beforeBreak: Int?
        var valueAtBreak = 0.0
        /// Samples of the chain up to here.
        var count = 0
    }

    /// Number of the first sample in the track, and of the one after the last.
    let start: Int
    private(set) var end: Int
    /// It begins after a silence that the vehicle may have been driving in.
    let followsSilence: Bool
    /// Seconds of its samples' spacings, at most ``most`` for each.
    private(set) var weight = 0.0
    private(set) var first: TrackSample
    private(set) var second: TrackSample?
    private(set) var beforeLast: TrackSample?
    private(set) var last: TrackSample
    /// m/s of its first and its last ``span`` seconds.
    private(set) var startPace = 0.0
    private(set) var endPace = 0.0
    /// Seconds that the first and the last sample add.
    let firstWeight: Double
    private(set) var lastWeight: Double
    private var firstWay = 0.0
    var entry = Entry()

    /// Seconds that one sample counts at most.
    static let most = 10.0
    /// Seconds that tell the pace of a run's end.
    static let span = 30.0

    init(_ sample: TrackSample, number: Int, spacing: Double, followsSilence: Bool) {
        start = number
        end = number + 1
        self.followsSilence = followsSilence
        (first, last) = (sample, sample)
        firstWeight = min(spacing, Self.most)
        lastWeight = firstWeight
        weight = firstWeight
    }

    var count: Int { end - start }
    var isSingle: Bool { end - start == 1 }

    mutating func append(_ step: LinkRule.Step) {
        let spacing = LinkRule.isContradicted(step) ? 0 : min(step.seconds, Self.most)
        weight += spacing
        lastWeight = spacing
        if second == nil { second = step.end }
        (beforeLast, last) = (last, step.end)
        end += 1
        let passed = step.end.seconds(since: first)
        if passed <= Self.span || count == 2 {
            firstWay += step.distance
            startPace = firstWay / max(passed, 0.001)
        }
        // The pace of the last half minute, without remembering its steps: older ones fade.
        let share = min(1, step.seconds / min(max(passed, step.seconds), Self.span))
        endPace += (step.speed - endPace) * share
    }

    /// The pace of a single sample is that of the way to it.
    mutating func tell(pace: Double) { (startPace, endPace) = (pace, pace) }

    /// Seconds of evidence. A sample that no neighbour confirms is none, unless hardly any is confirmed.
    func value(countingSingles: Bool) -> Double {
        entry.value + (isSingle && !countingSingles ? 0 : weight)
    }
}
