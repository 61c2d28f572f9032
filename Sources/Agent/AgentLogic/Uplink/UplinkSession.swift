internal import TrackModel

/// Decides what is read, sent and acknowledged between the server's welcome and the end of the link.
///
/// The session reads the cache once at a time, and sends the batch before the next read. So no point overtakes another,
/// and no point is left out. Sequence numbers need not be consecutive: the cache leaves out points that were cleared or
/// dropped.
struct UplinkSession: Hashable, Sendable {
    typealias Action = UplinkMachine.Action

    struct Batch: Hashable, Sendable {
        let first: UInt64
        let last: UInt64
        let points: Int
        let bytes: Int
    }

    enum Reading: Hashable, Sendable {
        /// To `asked`.
        case idle
        /// With the `next` of that moment. To `idle`, `held`.
        case asked(ReadID, next: UInt64)
        /// Read, and too large for what is left of the window. To `idle`.
        case held(ReadID, Batch)
        /// The cache cannot be read now. To `idle`, when the timer fires.
        case paused
    }

    /// Milliseconds until the cache is asked again after it could not be read.
    static let pause: Int64 = 2000
    static let smallestCeiling = 32
    /// Milliseconds between two reports of health at least, whatever changes.
    static let healthPause: Int64 = 5000

    let link: LinkID
    let since: MonotonicTime
    /// Milliseconds.
    let heartbeatInterval: Int64
    /// Milliseconds between two reports of health; 0: the server takes none.
    let healthInterval: Int64
    private(set) var window: SendWindow
    private(set) var schedule: PackSchedule
    /// Points of one batch: less after a batch was too much for the link, more again with every acknowledgement.
    private(set) var ceiling: Int
    /// The cache has told where to begin.
    private(set) var isConfirmed = false
    /// The last sequence sent, or stored before this session.
    private(set) var sent: UInt64 = 0
    private(set) var acknowledged: UInt64 = 0
    private(set) var next: UInt64
    /// The cache has no further point up to this sequence number.
    private var dry: UInt64 = 0
    /// Since when the oldest point waits for its pack; nil: none waits. A change of settings does not begin the wait anew.
    private var waitingSince: MonotonicTime?
    private(set) var reading = Reading.idle
    private var reads: UInt64 = 0
    private var lastSent: MonotonicTime
    private var heartbeatSetAt: MonotonicTime
    /// A heartbeat that nothing has answered yet.
    private var heartbeatSentAt: MonotonicTime?
    private var hasReportedServerAhead = false
    /// When bytes of a frame came that is not whole yet.
    private var heardAt: MonotonicTime?
    /// When the last live hint was sent.
    private var hintedAt: MonotonicTime?
    /// When the vehicle's health was told last.
    private var healthSentAt: MonotonicTime?

    init(
        link: LinkID, limits: UplinkLimits, heartbeatInterval: Int64, healthInterval: Int64 = 0,
        schedule: PackSchedule, ceiling: Int, next: UInt64, now: MonotonicTime
    ) {
        self.link = link
        self.heartbeatInterval = heartbeatInterval
        self.healthInterval = healthInterval
        self.schedule = schedule
        self.ceiling = ceiling
        self.next = next
        since = now
        lastSent = now
        heartbeatSetAt = now
        window = SendWindow(limits: limits)
    }

    // MARK: Events

    /// The cache has judged what the login told. Only the first time counts.
    mutating func confirmed(first: UInt64, next: UInt64, now: MonotonicTime, in context: inout UplinkContext)
        -> [Action]
    {
        guard !isConfirmed else { return appended(next: next, now: now, in: &context) }
        isConfirmed = true
        sent = first == 0 ? 0 : first - 1
        acknowledged = sent
        self.next = next
        return tellNewest(now: now, in: &context) + flush(now: now, in: &context)
            + healthDue(now: now, in: &context)
    }

    mutating func appended(next: UInt64, now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        self.next = max(self.next, next)
        return tellNewest(now: now, in: &context) + proceed(now: now, in: &context)
    }

    /// Far behind, the session sends a live hint ahead of the waiting points, once in each pack interval. A live hint
    /// changes no heartbeat, window or deadline.
    private mutating func tellNewest(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        guard context.sendsLiveHint, context.hasLiveHint, isConfirmed, isBehind else { return [] }
        if let hintedAt, now - hintedAt < schedule.packInterval { return [] }
        hintedAt = now
        context.counters.hints &+= 1
        return [.sendLiveHint]
    }

    /// More than two packs are not known to be stored: one may be gathered and one be under way while live.
    private var isBehind: Bool {
        let done = window.isEmpty ? max(sent, dry) : acknowledged
        let newest = next == 0 ? 0 : next - 1
        return newest > done && newest - done > 2 * schedule.pointsPerPack
    }

    mutating func intervalsChanged(
        gather: Int, pack: Int, now: MonotonicTime, in context: inout UplinkContext
    ) -> [Action] {
        schedule.setIntervals(gather: gather, pack: pack)
        // The timer then ends a pause of reading, and nothing else does.
        if case .paused = reading { return [] }
        return context.timers.cancel(.pack) + proceed(now: now, in: &context)
    }

    /// All points are due now.
    mutating func flush(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        schedule.flush(through: next == 0 ? 0 : next - 1)
        return proceed(now: now, in: &context)
    }

    /// All points are due now, and points that are appended later too.
    mutating func drain(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        schedule.flush(through: .max)
        return proceed(now: now, in: &context)
    }

    mutating func batchRead(
        _ id: ReadID, _ outcome: UplinkMachine.ReadOutcome, now: MonotonicTime, in context: inout UplinkContext
    ) -> [Action] {
        guard case .asked(id, let asked) = reading else { return outcome.discarding(id) }
        reading = .idle
        switch outcome {
        case .nothing:
            dry = max(dry, asked == 0 ? 0 : asked - 1)
        case .unreadable:
            reading = .paused
            return [context.timers.set(.pack, after: Self.pause, now: now)]
        case .batch(let first, let count, let bytes):
            let (last, overflow) = first.addingReportingOverflow(UInt64(max(count, 1)) - 1)
            // A batch that would go back does not belong to this session.
            guard first > sent, count > 0, bytes >= 0, !overflow else {
                dry = max(dry, asked == 0 ? 0 : asked - 1)
                return [.discard(id)] + proceed(now: now, in: &context)
            }
            let batch = Batch(first: first, last: last, points: count, bytes: bytes)
            guard window.admits(bytes: bytes) else {
                reading = .held(id, batch)
                return []
            }
            return send(id, batch, now: now, in: &context) + proceed(now: now, in: &context)
        }
        return proceed(now: now, in: &context)
    }

    mutating func uploadAcknowledged(through: UInt64, now: MonotonicTime, in context: inout UplinkContext)
        -> [Action]
    {
        var actions = received(now: now, in: &context)
        if through > sent, through >= next, !hasReportedServerAhead {
            hasReportedServerAhead = true
            context.counters.serverAhead &+= 1
            actions.append(.serverAhead(through: through))
        }
        let owned = min(through, sent)
        if owned > acknowledged {
            acknowledged = owned
            actions.append(.acknowledgeCache(through: owned))
        }
        if window.acknowledged(through: owned, now: now) {
            ceiling = min(ceiling * 2, window.limits.batchPoints)
        }
        if window.isEmpty, heartbeatSentAt == nil { actions += context.timers.cancel(.acknowledgement) }
        if case .held(let id, let batch) = reading, window.admits(bytes: batch.bytes) {
            reading = .idle
            actions += send(id, batch, now: now, in: &context)
        }
        return actions + proceed(now: now, in: &context)
    }

    /// Any frame answers a heartbeat.
    mutating func received(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        heartbeatSentAt = nil
        return window.isEmpty ? context.timers.cancel(.acknowledgement) : []
    }

    /// The owner has sent a frame of its own.
    mutating func frameSent(now: MonotonicTime) { lastSent = max(lastSent, now) }

    /// A part of a frame has come. An acknowledgement may come behind this frame.
    mutating func frameArriving(now: MonotonicTime) { heardAt = now }

    mutating func packDue(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        if case .paused = reading { reading = .idle }
        return flush(now: now, in: &context)
    }

    mutating func heartbeatDue(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        let due = lastSent + heartbeatInterval
        guard now >= due else { return [setHeartbeat(after: due - now, now: now, in: &context)] }
        return probe(now: now, in: &context) + [setHeartbeat(after: heartbeatInterval, now: now, in: &context)]
    }

    /// Asks the other side for a sign of life, unless one is due anyway.
    mutating func probe(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        guard heartbeatSentAt == nil else { return [] }
        heartbeatSentAt = now
        lastSent = now
        var actions: [Action] = [.sendHeartbeat]
        if healthInterval > 0 {
            healthSentAt = now
            actions.append(context.timers.set(.health, after: healthInterval / 8 * 9, now: now))
        }
        return actions + armAcknowledgement(now: now, in: &context)
    }

    /// A report of the vehicle's health goes as a heartbeat, so that the answer also shows that the link lives.
    mutating func healthDue(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        guard healthInterval > 0 else { return [] }
        guard heartbeatSentAt == nil else { return [context.timers.set(.health, after: Self.healthPause, now: now)] }
        return probe(now: now, in: &context)
    }

    mutating func healthChanged(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        guard healthInterval > 0, isConfirmed else { return [] }
        let earliest = healthSentAt.map { $0 + Self.healthPause } ?? now
        guard now < earliest else { return healthDue(now: now, in: &context) }
        return [context.timers.set(.health, after: earliest - now, now: now)]
    }

    /// Nil when the link is dead: an answer is overdue.
    mutating func acknowledgementDue(now: MonotonicTime, in context: inout UplinkContext) -> [Action]? {
        guard let due = answerDue(context.timing) else { return [] }
        guard now < due else {
            if !window.isEmpty { ceiling = max(ceiling / 2, Self.smallestCeiling) }
            return nil
        }
        return [context.timers.set(.acknowledgement, after: due - now, now: now)]
    }

    /// The link is gone. Points that were read and not sent will be read again.
    mutating func ended() -> [Action] {
        defer { reading = .idle }
        guard case .held(let id, _) = reading else { return [] }
        return [.discard(id)]
    }

    /// Whether nothing up to a sequence is left to do.
    func isDrained(through sequence: UInt64) -> Bool {
        if acknowledged >= sequence { return isConfirmed }
        guard isConfirmed, window.isEmpty, case .idle = reading else { return false }
        return max(sent, dry) >= min(sequence, next == 0 ? 0 : next - 1)
    }

    // MARK: Flow

    private mutating func proceed(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        guard isConfirmed, case .idle = reading else { return [] }
        let position = max(sent, dry)
        guard schedule.isDue(sent: position, next: next) else {
            let isWaiting = next > 0 && next - 1 > position
            guard isWaiting else {
                waitingSince = nil
                return context.timers.cancel(.pack)
            }
            if context.timers.isArmed(.pack) { return [] }
            let since = waitingSince ?? now
            waitingSince = since
            return [context.timers.set(.pack, after: since + schedule.longestWait - now, now: now)]
        }
        // A gap in the numbers, or another entity, makes several batches of the pack: all of them are due now.
        schedule.flush(through: next == 0 ? 0 : next - 1)
        guard window.isOpen else { return [] }
        reads += 1
        let id = ReadID(link: link, number: reads)
        reading = .asked(id, next: next)
        return [
            .read(
                id, after: sent, maximumPoints: min(window.limits.batchPoints, ceiling),
                maximumBytes: window.limits.windowBytes)
        ]
    }

    private mutating func send(
        _ id: ReadID, _ batch: Batch, now: MonotonicTime, in context: inout UplinkContext
    ) -> [Action] {
        sent = batch.last
        lastSent = now
        waitingSince = nil
        window.sent(through: batch.last, points: batch.points, bytes: batch.bytes, now: now)
        context.counters.batches &+= 1
        context.counters.points &+= UInt64(batch.points)
        context.counters.bytes &+= UInt64(batch.bytes)
        return [.sendUpload(id, first: batch.first, count: batch.points)] + context.timers.cancel(.pack)
            + armAcknowledgement(now: now, in: &context) + postponeHeartbeat(now: now, in: &context)
            + healthBesideBatch(now: now, in: &context)
    }

    /// A report that is nearly due goes with a batch: the computer and its modem are awake anyway. The timer gives it an
    /// eighth of the interval more, so a vehicle that uploads each half minute never wakes for a report.
    private mutating func healthBesideBatch(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        guard healthInterval > 0, heartbeatSentAt == nil, let healthSentAt,
            now - healthSentAt >= healthInterval / 4 * 3
        else { return [] }
        return probe(now: now, in: &context)
    }

    /// While batches flow the heartbeat moves on with them, so that it never wakes the computer; not with each of a backlog.
    private mutating func postponeHeartbeat(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        guard now - heartbeatSetAt >= heartbeatInterval / 4 else { return [] }
        return [setHeartbeat(after: heartbeatInterval, now: now, in: &context)]
    }

    private mutating func setHeartbeat(
        after milliseconds: Int64, now: MonotonicTime, in context: inout UplinkContext
    ) -> Action {
        heartbeatSetAt = now
        return context.timers.set(.heartbeat, after: milliseconds, now: now)
    }

    private func answerDue(_ timing: UplinkTiming) -> MonotonicTime? {
        guard let since = [window.waitingSince, heartbeatSentAt].compactMap(\.self).min() else { return nil }
        // On a slow link a long answer holds up the acknowledgement behind it. Such a link is not dead.
        let latest = since + timing.arrival
        return max(since, min(heardAt ?? since, latest)) + timing.acknowledgement
    }

    private func armAcknowledgement(now: MonotonicTime, in context: inout UplinkContext) -> [Action] {
        guard !context.timers.isArmed(.acknowledgement), let due = answerDue(context.timing) else {
            return []
        }
        return [context.timers.set(.acknowledgement, after: due - now, now: now)]
    }
}
