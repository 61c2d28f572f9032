internal import AgentControl
internal import TrackAnalysis
internal import TrackModel

/// Compares what the points of one entity say of the time before them with what the world did then.
struct GapJudge {
    let model: GapModel
    let entity: String
    /// Every point that was chosen for the entity, in the order of time.
    let gathered: [PointModel.Entry]

    /// Milliseconds. The world is looked at once a second, a fix takes up to some seconds to become a point, and a receiver
    /// finds and loses its fix a little before or after it says so.
    private static let slack: Int64 = 6000
    /// A gap is remembered at this age, and each time that it is twice as old. So much later the write has had its time.
    private static let firstMemory: Int64 = 300_000
    private static let writing: Int64 = 90_000

    private struct Hole {
        let start: Int64
        let end: Int64
        /// Of the point that ends it.
        let tolerance: Int64
    }

    /// `track`: in the order of time. Returns how many gaps of each reason a reader finds.
    func judge(_ track: [TrackPoint]) throws(Violation) -> [String: Int] {
        var finder = GapFinder()
        for point in track {
            guard let interval = point.continuity?.interval, model.intervals.contains(interval) else {
                throw broken("a point has the interval \(point.continuity?.interval ?? 0)", point.fix.time)
            }
            try judgeStatement(of: point)
            finder.add(point)
        }
        guard let first = track.first?.fix.time else { return [:] }
        var found: [String: Int] = [:]
        var rest = finder.gaps.filter { $0.until > first }[...]
        for (before, point) in zip(track, track.dropFirst()) {
            let hole = Hole(
                start: before.fix.time.milliseconds, end: point.fix.time.milliseconds,
                tolerance: point.continuity?.tolerance ?? 0)
            guard hole.end - hole.start > hole.tolerance else { continue }
            var gaps: [TrackGap] = []
            while let gap = rest.first, gap.from < point.fix.time {
                rest = rest.dropFirst()
                let edge = gaps.last?.until ?? before.fix.time
                guard gap.from == edge else { throw broken("no reason is told", edge) }
                gaps.append(gap)
                found[gap.reason.name, default: 0] += 1
            }
            guard gaps.last?.until == point.fix.time else {
                throw broken("no reason is told", gaps.last?.until ?? before.fix.time)
            }
            try judge(gaps, in: hole)
        }
        if let gap = rest.first { throw broken("\(gap.reason.name) is told of a time with points", gap.from) }
        return found
    }

    // MARK: What one point says

    /// A point tells each gap once: of the time since the point that was gathered before it, and only when that is a gap.
    private func judgeStatement(of point: TrackPoint) throws(Violation) {
        let (time, spans) = (point.fix.time, point.continuity?.spans.filter { !$0.reason.isLoss } ?? [])
        guard let before = gathered.last(where: { $0.fix.time < time })?.fix.time,
            !hasEnd(before.milliseconds, time.milliseconds),
            !model.ranAsAnother(than: entity, before.milliseconds - Self.slack, time.milliseconds)
        else { return }
        let isGap = time.milliseconds(since: before) > point.continuity?.tolerance ?? 0
        guard isGap || spans.isEmpty else { throw broken("a reason is told behind a point in time", time) }
        guard !isGap || spans.first?.from == before && spans.last?.until == time else {
            throw broken("the reasons are not those of the time since the point before", time)
        }
        guard zip(spans, spans.dropFirst()).allSatisfy({ $0.until == $1.from }) else {
            throw broken("the reasons do not follow each other", time)
        }
    }

    // MARK: A time without points

    private func judge(_ gaps: [TrackGap], in hole: Hole) throws(Violation) {
        let hasEnd = hasEnd(hole.start, hole.end)
        let inside = gathered.contains { hole.start < $0.fix.time.milliseconds && $0.fix.time.milliseconds < hole.end }
        for gap in gaps {
            if gap.reason.isLoss {
                try judgeLoss(gap)
            } else if gap.reason.kind == .otherEntity {
                guard model.ranAsAnother(than: entity, hole.start - Self.slack, hole.end) else {
                    throw broken("it never ran as another entity", gap.from)
                }
            } else if hasEnd {
                try judgeKind(gap, near: hole.start - Self.slack, hole.end)
            } else {
                guard !isAnyGathered(in: gap, hole) else {
                    throw broken("\(gap.reason.name) is told of gathered points", gap.from)
                }
                try judgeKind(gap, near: gap.from.milliseconds - Self.slack, gap.until.milliseconds + Self.slack)
                // The agent has left reasons out to tell no more: the last join may have made two of them less.
                if gaps.count < Continuity.maximumSpans - 1 { try judgeBounds(gap, hole) }
            }
        }
        guard hasEnd, model.isDiskWell(hole.start - Self.writing, hole.end) else { return }
        if !inside { try judgeOff(gaps, hole) }
        try judgeDetails(gaps, hole)
    }

    private func judgeKind(_ gap: TrackGap, near from: Int64, _ until: Int64) throws(Violation) {
        let causes = model.causes(from, until, for: entity).map(\.cause)
        // The world is looked at once a second: a process may be back before anybody saw that the agent was off.
        let wasOff = gap.reason.kind == .off && hasEnd(from, until)
        guard wasOff || causes.contains(where: { $0.reasons.contains(gap.reason.kind) }) else {
            throw broken("\(gap.reason.name) is told, and there was \(causes)", gap.from)
        }
    }

    /// Only a stretch that is too short for a line of its own may have the reason of its neighbour. The agent judges this of
    /// the time since its own last point, which may be lost; what the reader joins before it is another such stretch.
    private func judgeBounds(_ gap: TrackGap, _ hole: Hole) throws(Violation) {
        let joined = gap.from.milliseconds == hole.start ? hole.tolerance / 2 : 0
        let lost = gathered.last {
            (1...max(joined, 1)).contains($0.fix.time.milliseconds(since: gap.from)) && $0.fix.time < gap.until
        }
        let from = lost?.fix.time ?? gap.from
        for part in model.causes(from.milliseconds, gap.until.milliseconds, for: entity)
        where !part.cause.reasons.contains(gap.reason.kind)
            && part.until - part.from > hole.tolerance / 2 + 2 * Self.slack
        {
            let (told, length) = (gap.until.milliseconds(since: gap.from), part.until - part.from)
            throw broken(
                "\(gap.reason.name) is told for \(told) ms of \(hole.end - hole.start), and for \(length) ms from"
                    + " \(part.from - History.beginning) on it was \(part.cause); the tolerance is \(hole.tolerance) ms",
                gap.from)
        }
    }

    /// The agent was off for as long as it says. Of what a process knew, so much may be told as off: everything, when it did
    /// not know the receiver's time; half, or five minutes, when it was killed; nothing, when it ended in order.
    private func judgeOff(_ gaps: [TrackGap], _ hole: Hole) throws(Violation) {
        let told = gaps.filter { $0.reason.kind == .off }.reduce(0) { $0 + $1.until.milliseconds(since: $1.from) }
        var allowed = 2 * Self.slack + hole.tolerance
        for part in model.causes(hole.start, hole.end, for: entity) where part.cause == .off {
            allowed += part.until - part.from
        }
        for life in model.lives {
            guard let end = life.end, life.start < hole.end, end > hole.start else { continue }
            let (from, until) = (max(life.start, hole.start), min(end, hole.end))
            let length = until - from + Self.slack
            if !life.madePoint {
                allowed += length
            } else if life.how == .stop {
                // Nothing is remembered of a gap without a reason yet, or of a parked vehicle.
                for part in model.causes(from, until, for: entity) where part.cause == .fixes || part.cause == .parked {
                    allowed += part.until - part.from
                }
            } else {
                allowed += min(length, max(Self.firstMemory, length / 2) + Self.writing)
            }
        }
        guard told <= allowed else {
            throw broken(
                "off is told of \(told) ms, and \(allowed) can be", Timestamp(milliseconds: hole.start))
        }
    }

    /// The end of one process is told as it was, when the process had the time to write that it began.
    private func judgeDetails(_ gaps: [TrackGap], _ hole: Hole) throws(Violation) {
        let ended = model.lives.filter { life in
            life.end.map { $0 > hole.start - Self.slack && $0 < hole.end + Self.slack } ?? false
        }
        guard ended.count == 1, let life = ended.first, let end = life.end, end - life.start > Self.writing,
            !life.isForgotten
        else { return }
        // The next process must be able to read what this one wrote.
        let next = model.lives.first { $0.start >= end }?.start ?? end
        guard model.isDiskWell(life.start - Self.slack, next + Self.slack) else { return }
        // The power may go once more while the next process begins.
        var possible: [GapReason] =
            switch life.how {
            case .stop: [.offByStop, .offByShutdown]
            case .kill: [.offByCrash, .offByPowerCut]
            case .power, nil: [.offByPowerCut]
            }
        // What it wrote last is that it ended in order.
        if life.wasStopping { possible += [.offByStop, .offByShutdown] }
        for gap in gaps where gap.reason.kind == .off && !possible.contains(gap.reason) {
            throw broken("off by \(gap.reason.detail ?? "something") is told, and it was \(possible)", gap.from)
        }
    }

    // MARK: Losses

    /// Points of the time were gathered and are not in the store, and one of them at least was lost in this way.
    private func judgeLoss(_ gap: TrackGap) throws(Violation) {
        let lost = gathered.filter { $0.fix.time > gap.from && $0.fix.time <= gap.until && !$0.isStored }
        guard !lost.isEmpty else { throw broken("\(gap.reason.name) is told, and no point is lost", gap.from) }
        guard lost.contains(where: { ways(of: $0).contains(gap.reason) }) else {
            let fates = Set(lost.map { "\($0.fate)" }).sorted()
            throw broken("\(gap.reason.name) is told, and points are \(fates)", gap.from)
        }
    }

    private func ways(of entry: PointModel.Entry) -> Set<GapReason> {
        if entry.doubt != nil { return [.cacheFull, .cleared, .diskTrouble, .lost] }
        let known: Set<GapReason>
        switch entry.fate {
        case .cleared: known = [.cleared]
        case .droppedByBound: known = [.cacheFull]
        case .droppedInMemory: known = [.diskTrouble, .lost]
        // The process that found them gone can only guess.
        case .lostWithPower, .missing: return [.diskTrouble, .cacheFull, .cleared, .lost]
        case .chosen, .waiting, .acknowledged:
            return entry.mayBeMissing ? [.cacheFull, .cleared, .diskTrouble, .lost] : [.lost]
        }
        // A process after the one that lost it finds it missing and can only guess: by a clear whose record is left, whatever the
        // clear found, by a ring that is nearly full, and by its own trouble with the disk.
        guard model.lives.contains(where: { $0.end.map { $0 > entry.fix.time.milliseconds } ?? false }) else {
            return known
        }
        return known.union(
            mayBeTakenForCleared(entry)
                ? [.cacheFull, .diskTrouble, .cleared, .lost] : [.cacheFull, .diskTrouble, .lost])
    }

    /// A person cleared points of the entity that may be older than this one.
    private func mayBeTakenForCleared(_ entry: PointModel.Entry) -> Bool {
        model.clears.contains { clear in
            (clear.entities?.contains(entity) ?? true) && (clear.from ?? .min) <= entry.fix.time.milliseconds
        }
    }

    /// From the point before to one that was lost soon after it is no line of its own: it joins the time behind.
    private func isAnyGathered(in gap: TrackGap, _ hole: Hole) -> Bool {
        let joined = gap.from.milliseconds == hole.start ? hole.tolerance : 0
        return gathered.contains { $0.fix.time.milliseconds(since: gap.from) > joined && $0.fix.time < gap.until }
    }

    private func hasEnd(_ from: Int64, _ until: Int64) -> Bool {
        model.lives.contains { life in life.end.map { $0 > from - Self.slack && $0 < until + Self.slack } ?? false }
    }

    private func broken(_ detail: String, _ time: Timestamp) -> Violation {
        Violation(guarantee: .gaps, detail: "\(entity) at \(time.milliseconds - History.beginning) ms: \(detail)")
    }
}
