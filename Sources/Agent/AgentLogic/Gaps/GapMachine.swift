package import TrackModel

/// Says with each gathered point why there was none before it.
///
/// At each moment the machine knows what keeps points away: nobody gathers, the receiver is away or has no fix, or the
/// sampler passes over the fixes. The moments count by the monotonic clock. The next fix tells when they were by the
/// receiver's time, so no wrong system clock matters. What kept points away before the start of the process comes from
/// ``OpenGap``; the rest of that time the agent was off. Every `mutating func` is an event; do the actions in their order.
/// Decision: docs/decisions/0021-gaps.md.
package struct GapMachine: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Write this to the disk; it replaces what was written before.
        case remember(OpenGap)
        /// What was written is not true any more.
        case forget
        /// Call ``GapMachine/timerFired(now:)`` once after this time; replaces an earlier timer.
        case setTimer(milliseconds: Int64)
        case cancelTimer
    }

    /// From a moment on, why the agent was off: ``GapReason/off`` with its detail.
    package struct Off: Hashable, Sendable {
        package var reason: GapReason
        /// Of the clock of this process: a process before it on the same computer had the same one.
        package var since: MonotonicTime

        package init(reason: GapReason, since: MonotonicTime = .distantPast) {
            self.reason = reason
            self.since = since
        }
    }

    /// What a process finds when it begins.
    package struct Start: Hashable, Sendable {
        /// The entity of the last command; nil: there was none.
        package var entity: String?
        package var isGathering: Bool
        package var memory: OpenGap?
        /// Why nobody gathers: ``GapReason/stopped`` with its detail.
        package var stopped: GapReason
        /// What became of the processes before, in order.
        package var off: [Off]
        /// The time of the entity's newest point that waits for the server; nil: none waits.
        package var newest: Timestamp?

        package init(
            entity: String?, isGathering: Bool, stopped: GapReason = .stopped,
            off: [Off] = [Off(reason: .off)],
            memory: OpenGap?, newest: Timestamp?
        ) {
            self.entity = entity
            self.isGathering = isGathering
            self.stopped = stopped
            self.off = off
            self.memory = memory
            self.newest = newest
        }
    }

    /// An open gap of so many milliseconds is remembered, and then each time that it is twice as old. A process that is
    /// killed therefore takes less than half of what it knew with it, and a fix that comes and goes wears out no disk.
    package static let firstMemory: Int64 = 300_000
    /// More changes than these are not kept apart.
    private static let maximumPieces = 32

    private struct Piece: Hashable, Sendable {
        let since: MonotonicTime
        /// Nil: points could have been made.
        let reason: GapReason?
    }

    private var entity: String?
    /// The time of the entity's last point; nil: this process does not know it.
    private var lastPoint: Timestamp?
    /// From the memory of the process before.
    private var recalled: [GapSpan]
    /// The first one begins with the last point, or with the last of `recalled`.
    private var pieces: [Piece]
    /// The newest fix and when it came.
    private var clock: (time: Timestamp, arrival: MonotonicTime)? { fixTime.map { ($0, fixArrival) } }
    private var fixTime: Timestamp?
    private var fixArrival = MonotonicTime.distantPast

    private var isGathering = false
    /// Why nobody gathers.
    private var pause: GapReason
    /// Nil: fixes come.
    private var receiver: GapReason? = .noReceiver
    /// Why the sampler passes over the fixes.
    private var skipping: GapReason?

    /// Seconds. The one in force, and the longest since the last point.
    private var interval: Int32
    private var longest: Int32
    /// When the gap began for this process.
    private var opened: MonotonicTime
    /// The age at which the gap is remembered next; nil: no timer runs.
    private var nextMemory: Int64?
    /// Something is remembered.
    private var hasMemory: Bool

    /// `interval`: seconds.
    package init(interval: Int, _ start: Start, now: MonotonicTime) {
        self.interval = Int32(clamping: interval)
        longest = self.interval
        entity = start.entity
        pause = start.entity == nil ? .notStarted : start.stopped
        opened = now
        hasMemory = start.memory != nil
        recalled = []
        lastPoint = start.newest
        if let memory = start.memory, let entity = start.entity, ExactName(memory.entity) == ExactName(entity),
            start.newest.map({ newest in memory.since.map { newest <= $0 } ?? false }) ?? true
        {
            lastPoint = memory.since
            recalled = memory.spans
        }
        pieces = [Piece(since: .distantPast, reason: pause)]
        if start.isGathering {
            pieces = start.off.filter { $0.since <= now }.map { Piece(since: $0.since, reason: $0.reason) }
            if pieces.first?.since != .distantPast { pieces.insert(Piece(since: .distantPast, reason: .off), at: 0) }
        }
        pieces.append(Piece(since: now, reason: pause))
    }

    // MARK: Events

    /// From now on points of this entity are made.
    package mutating func started(entity new: String, now: MonotonicTime) -> [Action] {
        if let entity, ExactName(entity) != ExactName(new) {
            lastPoint = nil
            recalled = []
            pieces = [Piece(since: .distantPast, reason: .otherEntity)]
        }
        entity = new
        isGathering = true
        skipping = nil
        return noted(now)
    }

    /// `reason`: ``GapReason/stopped`` with its detail.
    package mutating func stopped(_ reason: GapReason = .stopped, now: MonotonicTime) -> [Action] {
        isGathering = false
        pause = reason
        return noted(now)
    }

    /// `reason`: why no fixes come; nil: they come.
    package mutating func receiverChanged(_ reason: GapReason?, now: MonotonicTime) -> [Action] {
        receiver = reason
        if reason != nil { skipping = nil }
        return noted(now)
    }

    /// The receiver was away since it was heard last, as turns out only now. What passed for a missing fix until then was its
    /// absence.
    package mutating func receiverWasAway(since heard: MonotonicTime, now: MonotonicTime) -> [Action] {
        guard isGathering else { return [] }
        let begin = max(heard, opened)
        var told = pieces.filter { $0.since <= begin }
        for piece in [Piece(since: begin, reason: told.last?.reason)] + pieces.filter({ $0.since > begin }) {
            let reason = piece.reason == nil || piece.reason == .noFix ? .noReceiver : piece.reason
            if told.last?.reason != reason { told.append(Piece(since: piece.since, reason: reason)) }
        }
        pieces = told
        while pieces.count > Self.maximumPieces { joinShortest() }
        return receiverChanged(.noReceiver, now: now) + awaitingMemory(now)
    }

    /// Call it with every fix, before ``point(_:now:)``.
    package mutating func fixArrived(_ time: Timestamp, now: MonotonicTime) {
        fixTime = time
        fixArrival = now
    }

    /// The dates up to now were wrong: time goes back to the next fix. What kept points away since the point before, whichever
    /// that is, is still known.
    package mutating func beginAnew() {
        lastPoint = nil
        recalled = []
    }

    /// A fix made no point for this reason.
    package mutating func skipped(_ reason: GapReason, now: MonotonicTime) -> [Action] {
        skipping = reason
        return noted(now)
    }

    /// A point is made. `isParked`: of a parked vehicle. The fix may have come a while ago, as those of a departure do: what
    /// kept points away since then belongs to the point after it.
    package mutating func point(
        _ time: Timestamp, isParked: Bool, now: MonotonicTime
    ) -> (Continuity, [Action]) {
        let span = lastPoint.map { time.milliseconds(since: $0) }
        let isGap = span.map { $0 > Continuity.tolerance(of: longest) } ?? true
        let continuity = Continuity(interval: longest, spans: isGap ? spans(until: time) : [])
        lastPoint = time
        recalled = []
        longest = interval
        pieces = pieces(since: moment(of: time, now))
        skipping = isParked ? .parked : nil
        if let last = pieces.last, last.reason != reason {
            if last.since == now { pieces.removeLast() }
            pieces.append(Piece(since: now, reason: reason))
        }
        opened = now
        let actions = (nextMemory == nil ? [] : [Action.cancelTimer]) + (hasMemory ? [.forget] : [])
        nextMemory = nil
        hasMemory = false
        // The reason may have begun before the point was made: the last epoch ends when the receiver has no fix any more.
        return (continuity, actions + awaitingMemory(now))
    }

    /// Seconds.
    package mutating func setInterval(_ seconds: Int) {
        interval = Int32(clamping: seconds)
        longest = max(longest, interval)
    }

    package mutating func timerFired(now: MonotonicTime) -> [Action] {
        guard let age = nextMemory else { return [] }
        let (doubled, overflow) = age.multipliedReportingOverflow(by: 2)
        guard !overflow else { return [] }
        nextMemory = doubled
        let timer = Action.setTimer(milliseconds: max(1, opened + doubled - now))
        return remembering(now) + [timer]
    }

    /// The process ends in order: what is known of an open gap is remembered.
    package mutating func ended(now: MonotonicTime) -> [Action] {
        nextMemory == nil ? [] : remembering(now)
    }

    // MARK: Inside

    /// Nothing without a fix in this process: nobody knows when the process began by the receiver's time.
    private mutating func remembering(_ now: MonotonicTime) -> [Action] {
        guard let clock, let entity else { return [] }
        hasMemory = true
        let present = clock.time.adding(milliseconds: now - clock.arrival)
        return [.remember(OpenGap(entity: entity, since: lastPoint, spans: spans(until: present)))]
    }

    /// When the fix of this time came, by the clock of the process.
    private func moment(of time: Timestamp, _ now: MonotonicTime) -> MonotonicTime {
        clock.map { min($0.arrival + time.milliseconds(since: $0.time), now) } ?? now
    }

    private func pieces(since moment: MonotonicTime) -> [Piece] {
        let later = pieces.filter { $0.since > moment }
        let first = pieces.last { $0.since <= moment }
        return first.map { [Piece(since: moment, reason: $0.reason)] + later } ?? later
    }

    /// What keeps points away now.
    private var reason: GapReason? { isGathering ? receiver ?? skipping : pause }

    private mutating func noted(_ now: MonotonicTime) -> [Action] {
        guard let last = pieces.last, last.reason != reason else { return [] }
        pieces.append(Piece(since: now, reason: reason))
        if pieces.count > Self.maximumPieces { joinShortest() }
        return awaitingMemory(now)
    }

    /// Remembers the open gap from now on, when there is a reason for it.
    private mutating func awaitingMemory(_ now: MonotonicTime) -> [Action] {
        // A parked vehicle makes points. The command to stop is remembered elsewhere, but the next command replaces it.
        guard nextMemory == nil, let reason, reason != .parked, reason != .notStarted else { return [] }
        let (age, least) = (now - opened, max(Self.firstMemory, Continuity.tolerance(of: longest)))
        nextMemory = max(least, age)
        return age < least ? [.setTimer(milliseconds: least - age)] : timerFired(now: now)
    }

    /// Two pieces that are the shortest together become one: so reasons that come and go join each other, and no long piece
    /// takes their time. What was before the process, and the last piece, stay.
    private mutating func joinShortest() {
        let first = pieces[0].since == .distantPast ? 1 : 0
        let pairs = first..<pieces.count - 2
        guard let index = pairs.min(by: { length(of: $0, count: 2) < length(of: $1, count: 2) }) else { return }
        let isFirstLonger = length(of: index, count: 1) >= length(of: index + 1, count: 1)
        let (longer, shorter) = isFirstLonger ? (pieces[index], pieces[index + 1]) : (pieces[index + 1], pieces[index])
        pieces[index] = Piece(since: pieces[index].since, reason: longer.reason ?? shorter.reason)
        pieces.remove(at: index + 1)
    }

    /// Milliseconds, of so many pieces from this one on.
    private func length(of index: Int, count: Int) -> Int64 { pieces[index + count].since - pieces[index].since }

    private func spans(until end: Timestamp) -> [GapSpan] {
        var outline = GapOutline(recalled, since: lastPoint)
        for (index, piece) in pieces.enumerated() {
            var until = end
            if index + 1 < pieces.count, let clock {
                until = min(clock.time.adding(milliseconds: pieces[index + 1].since - clock.arrival), end)
            }
            outline.add(piece.reason, until: until)
        }
        // A stretch that is shorter than half of what makes a gap is not worth an own line.
        return outline.spans(least: Continuity.tolerance(of: longest) / 2)
    }
}

/// What a process leaves to the next one about a gap that is still open.
package struct OpenGap: Hashable, Sendable {
    package var entity: String
    /// The time of the entity's last point; nil when this process made none and was told of none.
    package var since: Timestamp?
    /// What is known of the time from then on, in order.
    package var spans: [GapSpan]

    package init(entity: String, since: Timestamp?, spans: [GapSpan]) {
        self.entity = entity
        self.since = since
        self.spans = spans
    }
}
