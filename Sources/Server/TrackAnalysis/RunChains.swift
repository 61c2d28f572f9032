/// Finds the runs of a track that fit together: the chain with the most evidence.
///
/// The evidence of a run is its time. A chain may leave runs out when the vehicle can have come over what lies
/// between. Where it cannot have come from anywhere, a chain may break, which costs much: then both sides stay, unless
/// the track comes back to where it broke, because then what lies between was false.
struct RunChains: Sendable {
    /// Samples that are kept. What lies before them and is not decided goes.
    struct Stretch: Hashable, Sendable {
        let numbers: Range<Int>
        let followsBreak: Bool
    }

    /// Seconds of evidence that it costs to leave something out, and to break.
    static let skipCost = 1.0
    static let breakCost = 150.0
    /// Samples of a run that can show that another one is false, and milliseconds after which it cannot: by then the
    /// vehicle can be back in many ways.
    static let leastRefuting = 3
    static let refutable: Int64 = 900_000
    /// Seconds between two runs within which a sample at the end of one of them may be false too.
    static let trimmed = 60.0
    /// Runs back that a run is compared with.
    static let reach = 256

    private let rule: LinkRule
    /// In the order of the track; the last one is open. The first one begins every chain when it ``isRooted``.
    private var runs: [LinkedRun] = []
    /// Every chain has the first run, and its first samples are out.
    private var isRooted = false
    /// The last sample of the first run is out too.
    private var isRootClosed = false
    /// Samples of the decided part that are kept.
    private var keptBefore = 0
    /// Most samples would go: so a sample that no neighbour confirms counts too. Two receivers under one name do that.
    private var countsSingles = false

    init(rule: LinkRule) { self.rule = rule }

    // MARK: The track

    mutating func begin(_ run: LinkedRun) {
        if !runs.isEmpty { enter(runs.count - 1) }
        runs.append(run)
    }

    /// The next sample belongs to the open run.
    mutating func append(_ step: LinkRule.Step) { runs[runs.count - 1].append(step) }

    /// The number up to which every chain has all samples, as long as there is one run; nil when it must be found out.
    var certain: Int? { isRooted && runs.count == 1 ? runs[0].end - 1 : nil }

    // MARK: Decisions

    /// What every chain has that can still win.
    mutating func decide() -> [Stretch] {
        guard let last = runs.indices.last, !(isRooted && last == 0) else { return [] }
        enter(last)
        let most = value(best)
        guard most >= Self.breakCost else { return [] }
        var chains = [Int](repeating: 0, count: runs.count)
        for position in runs.indices where position == last || value(position) > most - Self.breakCost {
            chains[position] = 1
        }
        for position in runs.indices where chains[position] == 1 {
            guard let before = runs[position].entry.beforeBreak,
                runs[last].last.milliseconds(since: runs[before].last) <= Self.refutable
            else { continue }
            chains[before] = 1
        }
        let count = chains.reduce(0, +)
        for position in runs.indices.reversed() where chains[position] > 0 {
            if let before = runs[position].entry.before { chains[before] += chains[position] }
        }
        let alive = runs.indices.filter { chains[$0] > 0 }
        // Too much would go: wait for more.
        guard keepsHalf(alive) else { return [] }
        let common = alive.filter { chains[$0] == count }
        guard let root = common.last else { return [] }
        return settle(common, alive.filter { $0 > root }, isClosed: false)
    }

    /// The chain that is best now, for a track that leaves the decision open for too long.
    mutating func force() -> [Stretch] {
        guard let last = runs.indices.last else { return [] }
        enter(last)
        judgeSingles()
        var end = best
        if runs[last].count >= Denoiser.mostWaiting { end = last }
        let chain = chain(to: end)
        let open = runs[last].start
        let stretches = settle(chain, end == last ? [] : [last], isClosed: end != last)
        countsSingles = false
        // What lies between the chain and the open run is in neither.
        return stretches + (end == last ? [] : [Stretch(numbers: open..<open, followsBreak: false)])
    }

    /// The best chain of the whole track.
    mutating func finish() -> [Stretch] {
        guard let last = runs.indices.last else { return [] }
        enter(last)
        judgeSingles()
        let end = runs[last].end
        return settle(chain(to: lasting), [], isClosed: true) + [Stretch(numbers: end..<end, followsBreak: false)]
    }

    private mutating func judgeSingles() {
        guard !keepsHalf(chain(to: lasting)) else { return }
        countsSingles = true
        for position in runs.indices { enter(position) }
    }

    /// Whether these runs keep at least half of the track.
    private func keepsHalf(_ positions: [Int]) -> Bool {
        let kept = positions.reduce(keptBefore) { $0 + runs[$1].count }
        return 2 * kept >= (runs.last?.end ?? 0)
    }

    /// Keeps the runs of a chain; `others` go on beside the last of them.
    private mutating func settle(_ chain: [Int], _ others: [Int], isClosed: Bool) -> [Stretch] {
        guard let root = chain.last else { return [] }
        var stretches: [Stretch] = []
        for (place, position) in chain.enumerated() {
            let run = runs[position]
            let isLast = place == chain.count - 1
            let trims = isLast ? !isClosed : runs[chain[place + 1]].entry.trimsBefore
            let start = run.start + (run.entry.trimsFirst ? 1 : 0)
            let stretch = Stretch(
                numbers: start..<max(start, run.end - (trims ? 1 : 0)), followsBreak: run.entry.isBreak)
            if !isLast { keptBefore += run.count }
            // A root of which nothing is out yet keeps what its entry says.
            if isLast, stretch.numbers.isEmpty, !isClosed {
                isRooted = false
            } else {
                stretches.append(stretch)
                if isLast { isRooted = true }
            }
        }
        isRootClosed = isClosed
        let value = runs[root].entry
        restart([root] + others)
        runs[0].entry = LinkedRun.Entry(
            value: value.value, isBreak: isRooted ? false : value.isBreak,
            trimsFirst: isRooted ? false : value.trimsFirst, count: 0)
        return stretches
    }

    /// Forgets all runs but these, the first of which begins every chain from now on.
    private mutating func restart(_ positions: [Int]) {
        var places = [Int?](repeating: nil, count: runs.count)
        for (place, position) in positions.enumerated() { places[position] = place }
        runs = positions.map { position in
            var run = runs[position]
            run.entry.before = run.entry.before.flatMap { places[$0] }
            run.entry.beforeBreak = run.entry.beforeBreak.flatMap { places[$0] }
            return run
        }
    }

    // MARK: Chains

    private func value(_ position: Int) -> Double { runs[position].value(countingSingles: countsSingles) }

    private func samples(_ position: Int) -> Int { runs[position].entry.count + runs[position].count }

    /// The end of the best chain; of equal ones, the one with more samples, then the earlier.
    private var best: Int { best { _ in true } }

    /// The end of the best chain of a track that is over: a chain that later runs show to be false is not the best.
    private var lasting: Int {
        best { position in
            guard let broken = runs[position].entry.beforeBreak else { return true }
            return !runs[(position + 1)...].prefix(Self.reach).contains {
                $0.entry.before == broken && isRefuted(position, by: $0)
            }
        }
    }

    private func best(where isPossible: (Int) -> Bool) -> Int {
        var best = 0
        for position in runs.indices.dropFirst()
        where (value(position), samples(position)) > (value(best), samples(best)) && isPossible(position) {
            best = position
        }
        return best
    }

    /// The positions of the chain that ends with a run, in the order of the track.
    private func chain(to end: Int) -> [Int] {
        var chain = [end]
        while let before = runs[chain[chain.count - 1]].entry.before { chain.append(before) }
        return chain.reversed()
    }

    /// Finds the best way into a run.
    private mutating func enter(_ position: Int) {
        guard position > 0 else { return }
        let run = runs[position]
        var best = LinkedRun.Entry()
        var breaking: (value: Double, from: Int)?
        for before in stride(from: position - 1, through: max(0, position - Self.reach), by: -1) {
            let known = value(before)
            let most = LinkedRun.Entry(value: known, count: samples(before))
            if Self.isBetter(most, best),
                let entry = link(from: before, to: run, isNeighbour: before == position - 1),
                Self.isBetter(entry, best)
            {
                best = entry
            } else if known > breaking?.value ?? 0 {
                breaking = (known, before)
            }
        }
        if let (value, before) = breaking, value - Self.breakCost > best.value, !isRefuted(before, by: run) {
            best = LinkedRun.Entry(
                value: value - Self.breakCost, before: before, isBreak: true, beforeBreak: before,
                valueAtBreak: value - Self.breakCost, count: samples(before))
        }
        if best.before == nil { best.beforeBreak = breaking?.from }
        runs[position].entry = best
        if run.isSingle, let before = best.before, !best.isBreak {
            runs[position].tell(pace: LinkRule.Step(from: runs[before].last, to: run.first).speed)
        }
    }

    private static func isBetter(_ entry: LinkedRun.Entry, _ other: LinkedRun.Entry) -> Bool {
        (entry.value, entry.count) > (other.value, other.count)
    }

    /// Whether a run shows that the chain of another one is false since its last break: the vehicle is back where it
    /// broke, and both sides of it together have more evidence.
    private func isRefuted(_ position: Int, by run: LinkedRun) -> Bool {
        let entry = runs[position].entry
        guard let broken = entry.beforeBreak, run.count >= Self.leastRefuting,
            value(broken) + run.weight > value(position) - entry.valueAtBreak,
            run.first.milliseconds(since: runs[broken].last) <= Self.refutable
        else { return false }
        return link(from: broken, to: run, isNeighbour: false) != nil
    }

    private func link(from position: Int, to run: LinkedRun, isNeighbour: Bool) -> LinkedRun.Entry? {
        let before = runs[position]
        var entry = LinkedRun.Entry(
            value: value(position), before: position, beforeBreak: before.entry.beforeBreak,
            valueAtBreak: before.entry.valueAtBreak, count: samples(position))
        let step = LinkRule.Step(from: before.last, to: run.first)
        let isAdjacent = isNeighbour && before.end == run.start
        if isAdjacent, run.followsSilence, rule.isBelowCap(step) { return entry }
        entry.value -= countsSingles ? 0 : Self.skipCost
        let pace = max(before.endPace, run.startPace)
        if !isAdjacent || run.followsSilence, spans(step, before, run, pace) { return entry }
        guard step.seconds <= Self.trimmed else { return nil }
        if let beforeLast = before.beforeLast, position > 0 || !isRootClosed,
            spans(LinkRule.Step(from: beforeLast, to: run.first), before, run, pace)
        {
            entry.value -= before.lastWeight
            entry.trimsBefore = true
            return entry
        }
        if let second = run.second, spans(LinkRule.Step(from: before.last, to: second), before, run, pace) {
            entry.value -= run.firstWeight
            entry.trimsFirst = true
            return entry
        }
        return nil
    }

    /// Whether the vehicle can have made a step over what lies between two runs.
    private func spans(_ step: LinkRule.Step, _ before: LinkedRun, _ after: LinkedRun, _ pace: Double) -> Bool {
        guard rule.agrees(step) ?? (rule.isBelowCap(step) || continuesMotion(step, before, after)) else { return false }
        return countsSingles || rule.spans(step, pace: pace)
    }

    private func continuesMotion(_ step: LinkRule.Step, _ before: LinkedRun, _ after: LinkedRun) -> Bool {
        if let start = before.beforeLast, rule.isSameMotion(step, LinkRule.Step(from: start, to: before.last)) {
            return true
        }
        return after.second.map { rule.isSameMotion(step, LinkRule.Step(from: after.first, to: $0)) } ?? false
    }
}

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
