internal import AgentControl
internal import TrackModel

/// What kept points away: what the world did to the vehicle, noted once a second. ``GapJudge`` compares it with what the points say.
struct GapModel {
    enum Cause: Hashable {
        case off, stopped, noReceiver, noFix, parked
        /// The receiver tells fixes: only the sampler can keep points away.
        case fixes

        /// The reasons that may be told of a time that has nothing but this cause.
        var reasons: Set<GapReason> {
            switch self {
            case .off: [.off, .stopped, .notStarted, .otherEntity]
            case .stopped: [.stopped, .notStarted, .otherEntity]
            case .noReceiver: [.noReceiver]
            case .noFix: [.noFix]
            case .parked, .fixes: [.parked, .inaccurate, .unmoved, .implausible, .doubtfulTime]
            }
        }
    }

    /// Times are milliseconds since 1970 by a clock that is right.
    struct Stretch: Hashable {
        var since: Int64
        var cause: Cause
        /// Whose points are made, and as whom the service was told to run.
        var gathers: String?
        var ranAs: String
        /// The agent can write what it remembers.
        var isDiskWell: Bool
    }

    /// One process of the agent.
    struct Life: Hashable {
        let start: Int64
        /// Nil: it lives.
        var end: Int64?
        var how: AgentEnd?
        /// It was told to stop before it ended, and may have written that it did.
        var wasStopping = false
        /// It made a point, so it knows the receiver's time.
        var madePoint = false
        /// What it had remembered went with the disk.
        var isForgotten = false
    }

    /// The vehicle ran as an entity, or remembered that it had, at a moment that the log may not show.
    private struct Run: Hashable {
        let time: Int64
        let entity: String
    }

    private(set) var log: [Stretch] = []
    private var runs: [Run] = []
    private(set) var lives: [Life] = []
    private(set) var intervals: Set<Int32> = [5]
    /// What people asked to clear.
    private(set) var clears: [CacheSelection] = []
    /// The receiver told wrong times: nobody knows what was when.
    var isTimeWrong = false
    /// Both programs know of reasons, and the server keeps what it stores.
    var areReasonsTold = true
    /// Gaps of tracks, by reason; known at the end.
    private(set) var found: [String: Int] = [:]

    mutating func observe(_ stretch: Stretch) {
        if var last = log.last {
            last.since = stretch.since
            if last == stretch { return }
        }
        log.append(stretch)
    }

    /// The vehicle begins to gather for this entity, comes back with it, or remembers that it ran as it last, also if the
    /// service was stopped since. The log has one moment a second, and no start of which the answer never came.
    mutating func mayRun(as entity: String, at time: Int64) {
        runs.append(Run(time: time, entity: entity))
    }

    mutating func cleared(_ selection: CacheSelection) { clears.append(selection) }

    mutating func intervalIs(_ seconds: Int32) { intervals.insert(seconds) }

    mutating func processStarted(at time: Int64) { lives.append(Life(start: time)) }

    mutating func pointMade() {
        if !lives.isEmpty { lives[lives.count - 1].madePoint = true }
    }

    mutating func processEnded(at time: Int64, _ how: AgentEnd, wasStopping: Bool = false) {
        guard !lives.isEmpty else { return }
        lives[lives.count - 1].wasStopping = wasStopping
        lives[lives.count - 1].end = time
        lives[lives.count - 1].how = how
    }

    /// What the processes before had remembered went with the disk.
    mutating func diskReplaced() {
        for index in lives.indices { (lives[index].madePoint, lives[index].isForgotten) = (false, true) }
    }

    // MARK: The end

    mutating func judge(_ tracks: [String: [TrackPoint]], _ ledger: PointModel) throws(Violation) {
        guard !isTimeWrong, areReasonsTold else { return }
        for (entity, points) in tracks.sorted(by: { $0.key < $1.key }) {
            var latest: [Timestamp: TrackPoint] = [:]
            for point in points { latest[point.fix.time] = point }
            let track = latest.values.sorted { $0.fix.time < $1.fix.time }
            let gathered = ledger.entries.filter { $0.entity == entity }
                .sorted { $0.fix.time < $1.fix.time }
            let judge = GapJudge(model: self, entity: entity, gathered: gathered)
            for (reason, count) in try judge.judge(track) { found[reason, default: 0] += count }
        }
    }

    // MARK: What was when

    /// The causes between two times, for the points of an entity, each with its beginning and end.
    func causes(_ from: Int64, _ until: Int64, for entity: String) -> [(cause: Cause, from: Int64, until: Int64)] {
        var causes: [(cause: Cause, from: Int64, until: Int64)] = []
        for (stretch, start, end) in stretches(from, until) {
            // A process that is off gathers for nobody.
            let isAnothers = stretch.cause != .off && stretch.gathers.map { $0 != entity } ?? false
            let cause = isAnothers ? .stopped : stretch.cause
            if causes.last?.cause == cause {
                causes[causes.count - 1].until = end
            } else {
                causes.append((cause, start, end))
            }
        }
        return causes
    }

    func ranAsAnother(than entity: String, _ from: Int64, _ until: Int64) -> Bool {
        runs.contains { $0.entity != entity && $0.time >= from && $0.time <= until }
            || stretches(from, until).contains { stretch, _, _ in
                stretch.ranAs != entity || stretch.gathers.map { $0 != entity } ?? false
            }
    }

    func isDiskWell(_ from: Int64, _ until: Int64) -> Bool {
        stretches(from, until).allSatisfy { stretch, _, _ in stretch.isDiskWell }
    }

    private func stretches(_ from: Int64, _ until: Int64) -> [(Stretch, Int64, Int64)] {
        log.indices.compactMap { index in
            let end = min(index + 1 < log.count ? log[index + 1].since : .max, until)
            let start = max(log[index].since, from)
            return start < end ? (log[index], start, end) : nil
        }
    }
}
