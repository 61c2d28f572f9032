internal import AgentControl
internal import AgentLogic
internal import GNSSFeed
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackModel

/// From gpsd to track points: the receiver's feed, one fix an epoch, and the choice of fixes that become points.
///
/// Owns the feed, the `EpochAssembler`, the `TimeGuard`, the `Sampler`, the `FixGates`, the `GapMachine` and the `PointProgressMonitor`. May touch:
/// the source of feeds, which has a thread of its own, its timers, and the journal. Everything else leaves as an ``Effect``.
final class GatheringShell {
    enum Effect {
        /// A report came from the receiver.
        case reportArrived
        /// The receiver told a time that is believed.
        case fixArrived(Timestamp)
        /// Dates in this range were used and turned out to be ahead of the right time: points that have them are wrong.
        case disproved(ClosedRange<Timestamp>)
        /// A fix became a track point of an entity.
        case gathered(TrackPoint, entity: String)
        /// A fix passed the gates while points of an entity are made.
        case passed(Fix, entity: String)
        /// Gathering ends: points that are held back go at once.
        case samplingEnds
        /// What is known of a gap of the track, for the process after this one.
        case gapIs(OpenGap)
        /// The gap has ended.
        case gapEnded
        /// Whether fixes can come.
        case locationChanged(LocationState)
        /// The status of the feed changed: tell everybody.
        case feedChanged
        /// The status of gathering changed: tell everybody.
        case gatherChanged
        /// Points are missing although they are wanted, or they come again.
        case pointsMissing(Bool)
    }

    private enum TimerKey { case openAgain, rememberGap, silence }

    let context: ShellContext
    private let timers: ShellTimers<TimerKey>
    private let feeds: any FeedSource
    private let tell: (Effect) -> Void
    private var gnss: AgentConfiguration.GNSS

    /// A feed is wanted, and `feed` is nil while none can be opened.
    private var isFeedWanted = false
    private var feed: (any OpenFeed)?
    /// Counts the feeds that were opened: an event of a feed that was closed since is ignored.
    private var generation = 0
    private(set) var feedLog: FeedLog

    private var assembler = EpochAssembler()
    private var time: TimeGuard
    private(set) var dates = ReceiverDateMonitor()
    private(set) var sampler: Sampler
    private var gates: FixGates
    private var gaps: GapMachine
    private var interval: Int
    private var options: LocationOptions
    /// The entity whose points are made; nil while gathering is off.
    private(set) var entity: String?
    /// The entity of the sampler's last point: the time of its points never goes back, another entity's may.
    private var samplerEntity: String?
    private(set) var since: SystemTime
    private(set) var lastPointTime: Timestamp?
    private(set) var points: PointProgressMonitor
    /// When gathering ended, or the process began without it.
    private(set) var notGatheringSince: MonotonicTime
    /// When the receiver sent anything last, or the feed was opened.
    private(set) var receiverHeard: MonotonicTime
    /// The newest point of the samplers before the present one, the last one of the process before among them.
    private var newestBefore: (entity: String, time: Timestamp)?

    /// Milliseconds between two tries to open a feed.
    private static let openAgain: Int64 = 30_000

    private(set) var fixes: UInt64 = 0
    /// What the samplers of entities before the present one have counted.
    private(set) var skippedBefore: [String: UInt64] = [:]

    /// `newest`: the newest point of the process before; nil when there is none, or nobody knows. `stopped`: when gathering was
    /// stopped before the process began.
    init(
        _ context: ShellContext, feeds: any FeedSource, gnss: AgentConfiguration.GNSS, settings: Settings,
        newest: (entity: String, time: Timestamp)?, gap: GapMachine.Start, stopped: SystemTime? = nil,
        tell: @escaping (Effect) -> Void
    ) {
        self.context = context
        self.feeds = feeds
        self.gnss = gnss
        self.tell = tell
        timers = ShellTimers(context)
        interval = settings.gatherInterval
        options = settings.location
        newestBefore = newest
        time = TimeGuard(newest: newest?.time)
        sampler = Sampler(interval: interval, options: options)
        gates = FixGates(options: options)
        gaps = GapMachine(interval: interval, gap, now: context.now)
        points = PointProgressMonitor(interval: settings.gatherInterval)
        receiverHeard = context.now
        // A clock that was wrong then or is wrong now, or a damaged file, tells nothing: it cannot have been stopped after now.
        let age = stopped.map { max(0, context.systemTime.milliseconds &- $0.milliseconds) } ?? 0
        notGatheringSince = context.now + -age
        since = context.systemTime
        feedLog = FeedLog(gnss, since: context.systemTime)
    }

    // MARK: The feed

    func openFeed() {
        isFeedWanted = true
        guard feed == nil else { return }
        timers.cancel(.openAgain)
        generation += 1
        let (number, loop) = (generation, context.loop)
        let shell = NIOLoopBound(self, eventLoop: loop)
        receiverHeard = context.now
        do {
            feed = try feeds.open(gnss) { event in
                loop.execute { shell.value.feedSaid(event, generation: number) }
            }
            changed(to: .connecting)
            // What a feed before has found out does not hold for this feed.
            tell(.locationChanged(.unknown))
        } catch {
            if changed(to: .unreachable(reason: error.detail)) {
                context.log.error("gpsd cannot be asked for positions", metadata: ["error": "\(error)"])
            }
            timers.set(.openAgain, milliseconds: Self.openAgain) { [self] in openFeed() }
            tell(.locationChanged(.failed(reason: error.detail)))
        }
    }

    func closeFeed() {
        isFeedWanted = false
        timers.cancel(.openAgain)
        feed?.stop()
        feed = nil
        // Nothing will end the epoch that waits for its end.
        if let epoch = assembler.flush() { take(epoch) }
        changed(to: .stopped)
    }

    /// False when nothing changed.
    @discardableResult
    private func changed(to state: FeedState) -> Bool {
        let before = feedLog.state
        guard feedLog.change(state, at: context.systemTime) else { return false }
        let now = context.now
        if case .noDevice = state, before == .fix || before == .noFix {
            // A receiver that was pulled out is missed only when it should have sent something. That gpsd itself went is known
            // at once: what was told before stands.
            perform(gaps.receiverWasAway(since: receiverHeard, now: now))
        } else {
            perform(gaps.receiverChanged(GapReason(of: state), now: now))
        }
        if state.hasNoReceiver, dates.receiversGone() {
            tellDates(
                unknown: state == .stopped ? "the receiver is not read while nobody gathers" : "there is no receiver")
        }
        tell(.feedChanged)
        return true
    }

    /// The configuration was reloaded. Another address or device means another feed.
    func reconfigure(_ new: AgentConfiguration.GNSS) {
        let old = gnss
        gnss = new
        guard (new.host, new.port, new.device ?? "") != (old.host, old.port, old.device ?? "") else { return }
        let wasWanted = isFeedWanted
        closeFeed()
        feedLog = FeedLog(new, since: context.systemTime)
        if wasWanted { openFeed() }
    }

    private func feedSaid(_ event: FeedEvent, generation number: Int) {
        guard number == generation, feed != nil else { return }
        switch event {
        case .report(let report):
            tell(.reportArrived)
            receiverHeard = context.now
            if let device = report.device { feedLog.device = device }
            let before = assembler.counters
            if let epoch = assembler.report(report, at: reading) { take(epoch) }
            if report.mode >= 2, assembler.counters.unusable != before.unusable {
                perform(points.unusable(report.lack, now: context.now))
            }
        case .silence:
            if let epoch = assembler.flush() { take(epoch) }
        case .state(let state):
            guard changed(to: state) else { return }
            context.log.tell(state)
            tell(.locationChanged(LocationState(state)))
        }
    }

    private var reading: ClockReading {
        let (clock, isUsed) = (context.systemClock, gnss.usesSystemClock)
        // Also time in which the computer slept is time that has passed.
        return ClockReading(
            now: context.now + clock.slept, system: Timestamp(milliseconds: isUsed ? clock.milliseconds : 0),
            isKept: isUsed && clock.isBelievable)
    }

    // MARK: Points

    private func take(_ epoch: Epoch) {
        fixes += 1
        let verdict = time.judge(epoch)
        if dates.judged(epoch, verdict) { tellDates() }
        switch verdict {
        case .dated(let fix, let beginsAnew):
            if beginsAnew { beginAnew() }
            feedLog.fix = (fix, context.now)
            if !fix.isClockTime { tell(.fixArrived(fix.time)) }
            if let entity { take(fix, entity) }
        case .notLater: pass(epoch, over: .notLater)
        case .unconfirmed: pass(epoch, over: .unconfirmedTime)
        case .withoutTime: pass(epoch, over: epoch.standsAt == nil ? .withoutTime : .clockStands)
        }
        for range in time.takeDisproved() { tell(.disproved(range)) }
    }

    /// `fix`: with a time that is believed.
    private func take(_ fix: Fix, _ entity: String) {
        let before = sampler.parkedSince
        let outcome = sampler.fix(fix)
        if case .skipped(let reason) = outcome { perform(points.skipped(reason, now: context.now)) }
        parkingMayHaveChanged(from: before)
        if outcome != .skipped(.notLater) { gaps.fixArrived(fix.time, now: context.now) }
        switch outcome {
        case .point(let chosen): made(chosen, entity)
        case .parked(let place): made(place, entity, isParked: true)
        case .departed(let chosen): for fix in chosen { made(fix, entity) }
        case .notDue: break
        case .skipped(let reason):
            if let reason = GapReason(of: reason) { perform(gaps.skipped(reason, now: context.now)) }
        }
        if gates.admits(fix) { tell(.passed(fix, entity: entity)) }
    }

    /// A fix whose time cannot be believed.
    private func pass(_ epoch: Epoch, over reason: Sampler.SkipReason) {
        feedLog.fix = (epoch.fix, context.now)
        guard entity != nil else { return }
        _ = sampler.skip(reason)
        perform(points.skipped(reason, now: context.now))
        if let reason = GapReason(of: reason) { perform(gaps.skipped(reason, now: context.now)) }
    }

    /// The dates up to now were too late.
    private func beginAnew() {
        let before = sampler.parkedSince
        sampler.beginAnew()
        gates.beginAnew()
        gaps.beginAnew()
        newestBefore = nil
        parkingMayHaveChanged(from: before)
    }

    private func tellDates(unknown reason: String? = nil) {
        context.log.tell(dates.trouble, unknown: reason)
        tell(.gatherChanged)
    }

    private func made(_ fix: Fix, _ entity: String, isParked: Bool = false) {
        let (continuity, actions) = gaps.point(fix.time, isParked: isParked, now: context.now)
        perform(actions)
        tell(.gathered(TrackPoint(fix, isParked: isParked, continuity: continuity), entity: entity))
    }

    private func perform(_ actions: [PointProgressMonitor.Action]) {
        for action in actions {
            switch action {
            case .setTimer(let milliseconds):
                timers.set(.silence, milliseconds: milliseconds) { [self] in
                    perform(points.timerFired(now: context.now))
                }
            case .cancelTimer: timers.cancel(.silence)
            case .changed(let isSilent): tell(.pointsMissing(isSilent))
            }
        }
    }

    private func perform(_ actions: [GapMachine.Action]) {
        for action in actions {
            switch action {
            case .remember(let memory): tell(.gapIs(memory))
            case .forget: tell(.gapEnded)
            case .setTimer(let milliseconds):
                timers.set(.rememberGap, milliseconds: milliseconds) { [self] in
                    perform(gaps.timerFired(now: context.now))
                }
            case .cancelTimer: timers.cancel(.rememberGap)
            }
        }
    }

    private func paced() {
        let parked = sampler.parkedSince == nil ? nil : options.parking?.interval
        perform(points.paced(interval: interval, parkingInterval: parked, now: context.now))
    }

    private func parkingMayHaveChanged(from before: Timestamp?) {
        guard sampler.parkedSince != before else { return }
        paced()
        if sampler.parkedSince == nil {
            context.log.info("The vehicle moves again", metadata: .event(.vehicleMoves, ["entity": "\(entity ?? "")"]))
        } else {
            context.log.info("The vehicle is parked", metadata: .event(.vehicleParked, ["entity": "\(entity ?? "")"]))
        }
        tell(.gatherChanged)
    }

    /// A point stands in the cache.
    func appended(_ point: TrackPoint) {
        lastPointTime = point.fix.time
        perform(points.pointStored(now: context.now))
        tell(.gatherChanged)
    }

    // MARK: Sampling

    /// From now on fixes become points of this entity.
    func start(entity new: String) {
        entity = new
        if samplerEntity.map({ ExactName($0) }) == ExactName(new) {
            sampler.restart()
            gates.restart()
        } else {
            retireSampler(for: new)
        }
        since = context.systemTime
        perform(gaps.started(entity: new, now: context.now))
        perform(points.started(now: context.now))
        context.log.notice("Gathering has started", metadata: .event(.gatherStarted, ["entity": "\(new)"]))
        tell(.gatherChanged)
    }

    /// Fixes become no points any more. `entity`: whose points were made.
    func stop(entity old: String, by cause: StopCause) {
        // The epoch that waits for its end belongs to this gathering.
        if let epoch = assembler.flush() { take(epoch) }
        tell(.samplingEnds)
        entity = nil
        since = context.systemTime
        notGatheringSince = context.now
        perform(points.stopped())
        perform(gaps.stopped(cause.reason, now: context.now))
        context.log.notice(
            "Gathering has stopped, and no points are made", metadata: .event(.gatherStopped, ["entity": "\(old)"]))
        tell(.gatherChanged)
    }

    /// A new sampler for another entity; what the old one counted stays counted.
    private func retireSampler(for new: String) {
        for (reason, count) in skippedNow where count > 0 { skippedBefore[reason, default: 0] += count }
        if let samplerEntity, let last = sampler.lastPoint { newestBefore = (samplerEntity, last.time) }
        samplerEntity = new
        let floor = newestBefore.flatMap { ExactName($0.entity) == ExactName(new) ? $0.time : nil }
        sampler = Sampler(interval: interval, options: options, floor: floor)
        gates = FixGates(options: options)
    }

    /// Seconds.
    func setInterval(_ new: Int) {
        interval = new
        sampler.setInterval(new)
        gaps.setInterval(new)
        paced()
    }

    func setOptions(_ new: LocationOptions) {
        options = new
        let before = sampler.parkedSince
        sampler.setOptions(new)
        gates.setOptions(new)
        paced()
        // The stay is forgotten, although the vehicle has not moved.
        if sampler.parkedSince != before { tell(.gatherChanged) }
    }

    /// The agent stops: the feed closes, and fixes become no points any more.
    func shutDown() {
        // The epoch that waits for its end belongs to this gathering.
        if let epoch = assembler.flush() { take(epoch) }
        perform(gaps.ended(now: context.now))
        timers.cancel(.rememberGap)
        timers.cancel(.silence)
        entity = nil
        closeFeed()
    }
}
