internal import AgentControl
internal import AgentLogic
internal import DiskRing
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackModel
internal import TrackWire

/// The disk ring as the loop sees it. The disk thread does every operation and gives the result back.
///
/// Owns what is known of the ring after its last operation, the losses, and the forecast. May touch: the executor of the
/// ring, its timers, the journal. Everything else leaves as an ``Effect``.
final class CacheShell {
    enum Effect {
        /// Where the ring begins and ends. The shell tells this after each operation, before the result of the
        /// operation.
        case ringIs(RingEnds)
        /// The part of the status changed: tell everybody.
        case changed
        /// Points were lost before the server had them, by reason: tell everybody.
        case lost([String: Int64])
        /// A person has cleared points.
        case cleared
        /// A point stands in the ring under this number.
        case appended(TrackPoint, entity: String, sequence: UInt64)
        /// The answer to ``CacheShell/confirm(_:storedThrough:of:)``.
        case confirmed(LinkID, CacheConfirmation)
        /// The answer to ``CacheShell/read(_:)``.
        case batchRead(ReadID, BatchReading)
        /// The answer to ``CacheShell/settle(before:)``: what was on its way is in the ring, unless the disk hangs.
        case settled(deadline: MonotonicTime, isDone: Bool)
    }

    private enum TimerKey { case maintenance }

    /// What the ring is to be told with its next operation.
    private enum SettingKey { case limit, syncInterval }

    let context: ShellContext
    private let executor: any CacheExecutor
    private let directory: String
    private let tell: (Effect) -> Void
    private let timers: ShellTimers<TimerKey>
    /// The ring after its last operation.
    private(set) var snapshot: CacheSnapshot
    private var maintenanceAt: MonotonicTime?
    private var forecast = FillForecast()
    private(set) var tally = Tally()
    /// When points were lost last; losses before this start are not in it.
    private(set) var lastLoss: SystemTime?
    /// The same by the clock of the loop; for what the opening lost, the start.
    private(set) var lossSeen: MonotonicTime?
    /// The loss that a new point may meet too: its reason and when it was met last.
    private var latestLoss: (reason: String, at: MonotonicTime)?
    /// The losses that everybody was told of.
    private var toldLosses: [String: UInt64] = [:]
    /// The disk's queue was full when it was asked last.
    private var isQueueFull = false
    private var isDisproofRefused = false
    /// Settings that the disk's queue had no place for.
    private var settings: [SettingKey: @Sendable (DiskRing) -> Void] = [:]
    private let callers: WaitingCallers

    /// Milliseconds that a caller waits for the disk when no other limit is given.
    private static let timeout: Int64 = 1000

    init(
        _ context: ShellContext, executor: any CacheExecutor, directory: String, snapshot: CacheSnapshot,
        tell: @escaping (Effect) -> Void
    ) {
        (self.context, self.executor, self.directory) = (context, executor, directory)
        (self.snapshot, self.tell) = (snapshot, tell)
        timers = ShellTimers(context)
        callers = WaitingCallers(context)
    }

    /// Begins with the ring as it was opened.
    func start() {
        if snapshot.isInMemory { complain(snapshot) }
        // The log line of the opening has told what the opening lost.
        toldLosses = losses.filter { $0.value > 0 }
        if !toldLosses.isEmpty { lossSeen = context.now }
        adopt(snapshot)
    }

    // MARK: Points

    /// Gives a point to the ring. The point counts as gathered when the disk's queue has taken it.
    func append(_ point: TrackPoint, entity: String) {
        let record = PointRecord.encode(point)
        let time = point.fix.time.milliseconds
        let now = context.now
        let isAccepted = onDisk { cache in
            cache.append(entity: entity, time: time, payload: record, now: now)
        } then: { [self] sequence in
            guard let sequence else { return }
            tell(.appended(point, entity: entity, sequence: sequence))
        }
        if isAccepted {
            tally.gathered += 1
        } else {
            tally.lostBusyDisk += 1
            // The first is told at once, the others with the disk's next answer.
            latestLoss = ("disk_hangs", now)
            if isQueueFull { (lastLoss, lossSeen) = (context.systemTime, context.now) } else { tellLosses() }
            isQueueFull = true
        }
    }

    // MARK: The link's operations

    /// A login has told through which number the server has a stream: reading begins behind it.
    func confirm(_ id: LinkID, storedThrough: UInt64, of stream: StreamID?) {
        let now = context.now
        let isAccepted = onDisk { cache in
            if cache.streamID == stream { cache.confirm(serverStoredThrough: storedThrough, now: now) }
        } then: { [self] in
            tell(.confirmed(id, .done(stream: stream)))
        }
        if !isAccepted { tell(.confirmed(id, .diskHangs)) }
    }

    /// Reads and packs a batch.
    func read(_ id: ReadID, _ limits: BatchLimits) {
        let now = context.now
        let isAccepted = onDisk { cache in
            UploadReader.next(
                in: cache, after: limits.after, maximumPoints: limits.maximumPoints,
                maximumBytes: limits.maximumBytes, format: limits.format, now: now)
        } then: { [self] reading in
            let reading = counted(reading)
            tellLosses()
            tell(.batchRead(id, reading))
        }
        if !isAccepted { tell(.batchRead(id, .postponed)) }
    }

    private func counted(_ reading: UploadReader.Reading) -> BatchReading {
        switch reading {
        case .nothing(let undecodable):
            tally.undecodable += undecodable
            return .nothing
        case .postponed(let undecodable):
            tally.undecodable += undecodable
            return .postponed
        case .batch(let found):
            tally.undecodable += found.undecodable
            return .batch(found)
        }
    }

    /// A batch was acknowledged: points of the stream through this number may be deleted.
    func acknowledge(through sequence: UInt64, of stream: StreamID) {
        let now = context.now
        // When the disk's queue is full the acknowledgement is forgotten: the server recognises the points that come again.
        onDisk { cache in
            cache.acknowledge(through: sequence, of: stream, now: now)
        }
    }

    /// Waits until the points that are on their way to the ring stand in it, but not longer than the deadline.
    func settle(before deadline: MonotonicTime) {
        let now = context.now
        waitFor(milliseconds: deadline - now) {
            $0.sync(now: now)
        } then: { [self] isDone in
            tell(.settled(deadline: deadline, isDone: isDone))
        }
    }

    // MARK: Settings

    func setLimit(_ bytes: Int?) { set(.limit) { $0.setLimit(bytes: bytes) } }

    func setSyncInterval(milliseconds: Int64) {
        let now = context.now
        set(.syncInterval) { $0.setSyncInterval(milliseconds: milliseconds, now: now) }
    }

    /// Goes with the next operation that the disk's queue takes: at the latest with the next point.
    private func set(_ key: SettingKey, _ change: @escaping @Sendable (DiskRing) -> Void) {
        settings[key] = change
        onDisk { _ in }
    }

    // MARK: Calls of the control socket

    /// The most entities of one answer. With the longest names, this answer has less than a third of the bytes of a
    /// message.
    static let maximumEntities = 1000

    /// Throws when more entities are asked for, or have points, than an answer takes.
    func info(of entities: [String]?, unacknowledged: Int) throws(AgentControlError) -> CacheInfoReply {
        let known = Dictionary(snapshot.entities.map { (ExactName($0.entity), $0) }, uniquingKeysWith: { $1 })
        let names = entities.map { Set($0.map { ExactName($0) }) } ?? Set(known.keys)
        guard names.count <= Self.maximumEntities else {
            let what = entities == nil ? "\(names.count) entities have points" : "\(names.count) entities are named"
            throw AgentControlError(
                .parameterError, in: .getCacheInfo,
                reason: "\(what), and an answer takes \(Self.maximumEntities): name at most that many, and ask again "
                    + "for others", parameter: "entities")
        }
        let rows = names.sorted().map { name in
            EntityCache(
                entity: name.text, points: Int64(clamping: known[name]?.count ?? 0), firstTime: known[name]?.firstTime,
                lastTime: known[name]?.lastTime)
        }
        return CacheInfoReply(cache: status(unacknowledged: unacknowledged), entities: rows)
    }

    func clear(_ selection: CacheSelection) -> EventLoopFuture<ClearCacheReply> {
        let promise = context.loop.makePromise(of: ClearCacheReply.self)
        let now = context.now
        let isAccepted = onDisk { cache -> Result<ClearedCount, DiskRingError> in
            Result { () throws(DiskRingError) in
                try cache.clear(
                    entities: selection.entities, from: selection.from, through: selection.through, now: now)
            }
        } then: { [self] result in
            switch result {
            case .success(let cleared):
                context.log.notice(
                    "Points of the cache were cleared, as a person wished",
                    metadata: ["points": "\(cleared.records)", "durable": "\(cleared.isDurable)"])
                tell(.changed)
                tell(.cleared)
                promise.succeed(
                    ClearCacheReply(removed: Int64(clamping: cleared.records), durable: cleared.isDurable))
            case .failure(let error):
                promise.fail(AgentControlError(.parameterError, in: .clearCache, reason: error.detail))
            }
        }
        if !isAccepted {
            promise.fail(
                AgentControlError(
                    .internalError, in: .clearCache, reason: "the disk does not answer: nothing was cleared"))
        }
        return promise.futureResult
    }

    /// Points in this range have a date that turned out to be wrong. Those that the ring cannot drop the server refuses.
    func disprove(_ dates: ClosedRange<Timestamp>) {
        let (from, through, now) = (dates.lowerBound.milliseconds, dates.upperBound.milliseconds, context.now)
        let isAccepted = onDisk { cache -> String? in
            do throws(DiskRingError) {
                _ = try cache.clear(entities: nil, from: from, through: through, as: .wrongDate, now: now)
                return nil
            } catch {
                return error.detail
            }
        } then: { [self] refusal in
            disproved(refusal: refusal)
        }
        if !isAccepted { disproved(refusal: "the disk does not answer") }
    }

    /// Told once until points are dropped again.
    private func disproved(refusal: String?) {
        defer { isDisproofRefused = refusal != nil }
        guard let refusal, !isDisproofRefused else { return }
        context.log.warning(
            "Points whose date is wrong stay in the cache, and the server is to refuse them",
            metadata: ["reason": "\(refusal)"])
    }

    /// How a service was stopped. `before`: how many points were acknowledged when the stop began.
    func stopReply(entity: String, before: UInt64) -> EventLoopFuture<StopServiceReply> {
        let promise = context.loop.makePromise(of: StopServiceReply.self)
        // The last acknowledgement is still on its way to the ring: the points are counted after it.
        waitFor(milliseconds: Self.timeout) { _ in
        } then: { [self] _ in
            let remaining = snapshot.entities.first { ExactName($0.entity) == ExactName(entity) }?.count ?? 0
            promise.succeed(
                StopServiceReply(
                    uploaded: Int64(clamping: acknowledged - before), remaining: Int64(clamping: remaining)))
        }
        return promise.futureResult
    }

    // MARK: The disk

    /// Runs an operation on the disk thread and comes back with its result when the ring's new state is in force. False
    /// when the disk hangs and its queue is full: nothing was done.
    @discardableResult
    private func onDisk<Result: Sendable>(
        _ operation: @escaping @Sendable (DiskRing) -> Result, then: @escaping (Result) -> Void = { _ in }
    ) -> Bool {
        let changes = Array(settings.values)
        let work = executor.perform(on: context.loop) { cache in
            for change in changes { change(cache) }
            return (operation(cache), CacheSnapshot(cache))
        }
        guard let work else { return false }
        settings = [:]
        work.assumeIsolated().whenSuccess { [self] result, snapshot in
            isQueueFull = false
            adopt(snapshot)
            then(result)
        }
        return true
    }

    /// The same for a caller who does not wait longer than this for a disk that hangs: `then` is called once.
    private func waitFor(
        milliseconds: Int64, _ operation: @escaping @Sendable (DiskRing) -> Void,
        then: @escaping (_ isDone: Bool) -> Void
    ) {
        let number = callers.wait(milliseconds: milliseconds, then: then)
        let isAccepted = onDisk(operation) { [callers] in callers.answer(number, isDone: true) }
        if !isAccepted { callers.answer(number, isDone: false) }
    }

    private func adopt(_ new: CacheSnapshot) {
        let old = snapshot
        snapshot = new
        if old.isInMemory != new.isInMemory {
            new.isInMemory
                ? complain(new)
                : context.log.notice("The disk ring is on the disk again", metadata: .event(.cacheReturned))
            tell(.changed)
        }
        forecast.appended(total: new.counters.appendedBytes, now: context.now)
        tellLosses()
        scheduleMaintenance()
        tell(.ringIs(new.ends))
    }

    /// Tells everybody of losses that they have not heard of.
    private func tellLosses() {
        let lost = losses.filter { $0.value > 0 }
        guard lost != toldLosses else { return }
        let new = lost.keys.filter { lost[$0] ?? 0 > toldLosses[$0] ?? 0 }
        // What the disk damaged says nothing of the next point.
        let repeating = ["bound", "memory_full", "disk_hangs", "refused"].filter(new.contains)
        if let reason = repeating.first { latestLoss = (reason, context.now) }
        toldLosses = lost
        (lastLoss, lossSeen) = (context.systemTime, context.now)
        let reasons = lost.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        context.log.warning(
            new == ["unreadable"]
                ? "The disk refuses to show points, and the server may not have them"
                : "Points are lost, and the server does not have them",
            metadata: .event(.cacheDropped, ["reasons": "\(reasons)"]))
        tell(.changed)
        tell(.lost(lost.mapValues { Int64(clamping: $0) }))
    }

    private func complain(_ snapshot: CacheSnapshot) {
        context.log.error(
            "The disk ring is in memory only, because the disk refuses it",
            metadata: .event(.cacheMemoryFallback, ["state": "\(snapshot.state)"]))
    }

    private func scheduleMaintenance() {
        guard snapshot.nextMaintenance != maintenanceAt else { return }
        maintenanceAt = snapshot.nextMaintenance
        guard let at = maintenanceAt else { return timers.cancel(.maintenance) }
        timers.set(.maintenance, milliseconds: at - context.now) { [self] in
            maintenanceAt = nil
            let now = context.now
            onDisk { $0.maintain(now: now) }
        }
    }

    /// The agent stops: nothing is done any more but what was asked for before.
    func shutDown() {
        timers.cancelAll()
        callers.shutDown()
    }

    /// Waits for the operations that were asked for before, and closes the ring.
    func close() -> EventLoopFuture<Void> { executor.shutDown(on: context.loop, now: context.now) }

    // MARK: Status

    var isInMemory: Bool { snapshot.isInMemory }

    /// `unacknowledged`: points that were sent and are not acknowledged; the link knows.
    func status(unacknowledged: Int) -> CacheStatus {
        var error: String?
        if case .memory(let reason) = snapshot.state { error = "\(reason)" }
        return CacheStatus(
            state: snapshot.isInMemory ? .memory : .disk, lastError: error, directory: directory,
            points: Int64(clamping: snapshot.points), bytes: Int64(snapshot.usage.diskBytes),
            limit: snapshot.usage.diskLimit.map(Int64.init), firstTime: snapshot.entities.map(\.firstTime).min(),
            lastTime: snapshot.entities.map(\.lastTime).max(),
            unacknowledged: Int64(clamping: unacknowledged), timeToFull: timeToFull)
    }

    /// Milliseconds until the bound drops points when none is acknowledged; see ``FillForecast``.
    private var timeToFull: Int64? {
        snapshot.usage.diskLimit.flatMap {
            forecast.time(toFill: Int64($0 - snapshot.usage.diskBytes), now: context.now)
        }
    }

    /// The reason for which points were lost since a time; nil: none that a new point may meet too.
    func loss(since time: MonotonicTime) -> String? { latestLoss.flatMap { $0.at >= time ? $0.reason : nil } }
}
