internal import AgentControl
internal import AgentRuntime
internal import DiskRing
internal import Logging
internal import NIOCore
internal import TrackModel
internal import TrackStore
internal import TrackTestKit

/// One history of one vehicle and its server, wholly determined by its seed: the real agent, disk ring, wire, gateway and
/// store on a virtual clock, in a world that breaks everything it may break, beside a model that knows what must come of it.
///
/// Confined to the thread that makes it.
package final class History {
    /// GNSS time at virtual time 0, milliseconds since 1970.
    static let beginning: Int64 = 1_800_000_000_000
    /// How long everything may take once the world is well again, milliseconds.
    static let recoveryTimeout: Int64 = 6 * 3_600_000

    let seed: UInt64
    let options: HistoryOptions
    let loop = VirtualLoop()
    let executor: StepExecutor
    let network: VirtualNetwork
    let profile: Profile
    /// Nil in a history without fences.
    var fences: FenceWorld?
    /// Nil in a history without a backup.
    var restoring: Restoring?
    /// Nil in a history without a second box.
    var twin: Twin?
    /// Nil when both programs are the present ones.
    var older: OlderPrograms?
    var dice: DiskDice
    var trace = Trace()
    var summary = HistorySummary()
    private(set) var violation: Violation?
    var isHealed = false
    /// When the world healed, and when afterwards a process began that had to.
    var troubledAt: MonotonicTime = 0

    // The vehicle
    var disk: DiskSimulation { didSet { witness = Self.makeWitness(disk) } }
    var witness: RingFileObserver
    let memory = SimulatedStateDisk()
    var rememberedTarget = DurableStateModel(CommandedTarget())
    /// Nil until the first agent has said what it begins with.
    var rememberedSettings: DurableStateModel<AgentSettings>?
    let clock: SimulatedSystemClock
    var receiver: DrivenReceiver
    var isGPSDUp = true
    var box: AgentBox?
    var boots: UInt64 = 0

    // The model
    var grid = GridModel()
    var attributes = AttributeModel()
    var ledger = PointModel()
    var store = StoreModel()
    var gaps = GapModel()
    /// How often the vehicle's computer lost its power.
    var starts = 0
    var target = ControlModel()
    var alarms: AlarmModel
    var gatheredInThisProcess: UInt64 = 0
    var answers = AnswerModel()
    var promptness = PromptnessModel(now: 0)
    var calm = QuietTimeModel(now: 0)
    /// The world has stopped: nothing is planned any more.
    private var isOver = false
    var journalReadRetry = ReadRetryModel(refusals: 0)
    /// When the agent came online last, and when it last said that it cannot keep an alarm.
    var onlineAt = MonotonicTime.distantPast
    var alarmsRefusedAt = MonotonicTime.distantPast
    /// The process has read what the one before remembered, or there was nothing.
    var isStateKnown = true

    // The server
    let medium: StoreMedium
    var server: ServerMachine?
    var storeTrouble = StoreTrouble()
    /// What the store was at when its machine lost power.
    var interrupted: [IngestBatch] = []
    var frameWatches: [FrameChecker] = []

    package init(seed: UInt64, options: HistoryOptions = HistoryOptions()) {
        self.seed = seed
        self.options = options
        var dice = DiskDice(seed: seed)
        var profile = Profile(&dice, storePowerShare: options.storePowerShare, pushShare: options.pushShare)
        fences = FenceWorld(seed: seed, share: options.fenceShare, floorShare: options.floorShare, &profile)
        if fences != nil { older = OlderPrograms(seed: seed, share: options.olderShare, hours: options.hours) }
        // An older server takes no floors, and nobody outside knows which points were made before the agent heard of it.
        if older != nil { fences?.floors = nil }
        if fences?.hasServers == true, !profile.hasPushes, !profile.losesStorePower {
            restoring = Restoring(seed: seed, share: options.restoreShare, hours: options.hours)
        }
        if restoring == nil, older == nil {
            twin = Twin(seed: seed, share: options.twinShare, hours: options.hours)
        }
        self.profile = profile
        executor = StepExecutor(loop)
        network = VirtualNetwork(loop: loop, seed: dice.next())
        disk = DiskSimulation(seed: dice.next(), directories: ["/var"])
        witness = Self.makeWitness(disk)
        clock = SimulatedSystemClock(loop: loop, offset: profile.bootsWithoutClock ? 0 : Self.beginning)
        clock.isSynchronised = !profile.bootsWithoutClock
        receiver = DrivenReceiver(seed: dice.next(), hasIncompleteReports: profile.hasIncompleteReports)
        receiver.route = fences?.route
        medium = StoreMedium(losesPower: profile.losesStorePower, directory: options.directory, seed: seed)
        self.dice = dice
        alarms = AlarmModel(
            seed: seed, limit: profile.journalLimit, retention: profile.alarmRetention,
            areHooksRun: profile.hasHooks, isShared: fences != nil)
        trace.follow = options.follow
    }

    /// Virtual time since the history began.
    var now: MonotonicTime { MonotonicTime(loop.now) }
    /// Milliseconds since 1970 by a clock that is right.
    var trueTime: Int64 { Self.beginning + now.milliseconds }

    // MARK: Running

    package func run() -> HistoryOutcome {
        note("seed \(seed): \(profile.text)")
        startServer()
        loop.run()
        bootAgent()
        after(profile.epochInterval) { $0.epoch() }
        after(1000) { $0.trouble() }
        feelPulse()
        watchPromptness()
        settleRemembered()
        watchGaps()
        beginFences()
        beginOlderPrograms()
        beginRestoring()
        beginTwin()
        if profile.isOffline {
            network.reach = .refuses
            after(Int64(options.hours * 3_200_000)) { $0.network.reach = .works }
        }
        let end = MonotonicTime(milliseconds: Int64(options.hours * 3_600_000))
        advance(to: end)
        if violation == nil { heal() }
        var deadline = now + Self.recoveryTimeout
        while violation == nil, now < deadline {
            advance(to: now + 10_000)
            if isAtRest { deadline = now }
        }
        if violation == nil { judge() }
        tearDown()
        summary.virtualMilliseconds = now.milliseconds
        summary.points = ledger.chosenCount
        summary.stored = ledger.storedCount
        summary.batchesTwice = store.duplicates
        summary.bytesLost = network.bytesLost
        summary.batchesSent = frameWatches.reduce(0) { $0 + $1.batchesSent }
        summary.droppedByBound = ledger.count { $0 == .droppedByBound }
        summary.droppedInMemory = ledger.count { $0 == .droppedInMemory }
        summary.lostWithPower = ledger.count { $0 == .lostWithPower }
        summary.pushes = alarms.journaled
        summary.pushesDropped = alarms.dropped
        summary.hookRuns = alarms.hooks.runs
        summary.cleared = ledger.count { if case .cleared = $0 { true } else { false } }
        summary.weakened = ledger.weaknesses.mapValues { Weakened(histories: 1, points: $0) }
        summarizeFences()
        summary.weakenedHistories = summary.weakened.isEmpty ? 0 : 1
        trace.mix(UInt64(summary.points))
        trace.mix(UInt64(summary.stored))
        summary.traceHash = trace.hash
        return HistoryOutcome(
            seed: seed, options: options, summary: summary, violation: violation,
            trace: violation == nil ? [] : Array(trace.lastLines))
    }

    private func advance(to end: MonotonicTime) {
        // In slices, so that a broken guarantee ends the history soon.
        while now < end, violation == nil {
            loop.advanceTime(to: .uptimeNanoseconds(UInt64(min(end, now + 10_000).milliseconds) * 1_000_000))
            if loop.isStuck {
                fail(Violation(guarantee: .liveness, detail: "time stands still: one moment's work has no end"))
            }
            for watch in frameWatches.suffix(4) { if let broken = watch.violation { fail(broken) } }
        }
    }

    func after(_ milliseconds: Int64, _ action: @escaping (History) -> Void) {
        loop.after(max(0, milliseconds)) { [unowned self] in
            if violation == nil, !isOver { action(self) }
        }
    }

    func note(_ text: @autoclosure () -> String) {
        trace.note(now.milliseconds, text())
    }

    func fail(_ broken: Violation) {
        guard violation == nil else { return }
        violation = broken
        note("BROKEN: \(broken)")
    }

    /// Runs a check that may find a broken guarantee.
    func check(_ body: () throws(Violation) -> Void) {
        guard violation == nil else { return }
        do throws(Violation) { try body() } catch { fail(error) }
    }

    // MARK: The end

    /// The world is well again, for good.
    private func heal() {
        endTwin()
        isHealed = true
        troubledAt = now
        note("the world heals")
        network.heal()
        healDisk()
        memory.isFailing = false
        isGPSDUp = true
        receiver.isInTunnel = false
        receiver.hasFix = true
        receiver.timeOffset = 0
        tellFeedState()
        clock.offset = Self.beginning
        clock.isSynchronised = true
        storeTrouble = StoreTrouble()
        medium.failPower(afterCalls: nil)
        if server == nil { startServer() }
        if box == nil { bootAgent() }
        checkTarget()
        settleAlarms()
        settleFences()
    }

    private var hasFinished: Bool { now > 0 && isHealed && target.isFinishing }

    private var isAtRest: Bool {
        guard hasFinished, areAlarmsAtRest, areFencesAtRest, let box, box.executor.cache.state == .disk else {
            return false
        }
        return box.executor.cache.count == 0 && ledger.isTaken && target.isGatheringOver
    }

    func finishGathering() {
        target.isFinishing = true
        // A passing error, and soon nobody appends any more: reading must go on by itself.
        if dice.one(in: 3) {
            disk.faults = [DiskFault([.open, .read], after: Int.random(in: 0...3, using: &dice), times: 1, number: 5)]
        }
        uploadTheRest()
    }

    /// Stops gathering and starts the service if nobody had: what is left must go.
    private func uploadTheRest() {
        after(15_000) { $0.uploadTheRest() }
        guard let box else { return }
        if box.agent.status().gather.state != .stopped {
            _ = box.agent.stopGather()
        } else if box.agent.status().service.state == .stopped {
            _ = box.agent.startService(entity: nil)
        } else {
            target.isGatheringOver = true
        }
    }

    private func judge() {
        if !isAtRest {
            let status = box.map { "\($0.agent.status().reason), cache \($0.executor.cache.state)" } ?? "no agent"
            fail(
                Violation(
                    guarantee: .liveness,
                    detail: "\(Self.recoveryTimeout / 3_600_000) hours after the world healed "
                        + "\(box?.executor.cache.count ?? 0) points wait: \(status); hooks are owed to "
                        + "\(alarms.owed) alarms, the pushes \(waitingPushes) wait; \(openFences)"))
        }
        check { () throws(Violation) in try ledger.settle() }
        guard violation == nil else { return }
        compareWithStore()
        check { () throws(Violation) in try gaps.judge(store.points, ledger) }
        summary.gaps = gaps.found
    }

    private func tearDown() {
        isOver = true
        endTwin()
        if let box { end(box, how: .power) }
        stopServerNow(tellingPeers: false)
        // Sleepers of dead processes wake, find themselves dead and end.
        storeTrouble = StoreTrouble()
        loop.advanceTime(by: .hours(2))
        loop.end()
        medium.remove()
    }
}

/// How the server's store behaves now.
struct StoreTrouble {
    /// Milliseconds a call may take, each way.
    var slowness: Int64 = 3
    var fails = false
    /// Calls are done, and half of them are answered with an error.
    var losesAnswers = false
}

/// What the agent was told last, and what it said to it.
struct ControlModel {
    var told = CommandedTarget()
    /// What commands that are not answered yet make of it, by their numbers.
    private(set) var open: [Int: (inout CommandedTarget) -> Void] = [:]
    private var commands = 0
    var isFinishing = false
    var isGatheringOver = false

    /// A command was given. Returns its number.
    mutating func asked(_ change: @escaping (inout CommandedTarget) -> Void) -> Int {
        commands += 1
        open[commands] = change
        return commands
    }

    mutating func answered(_ command: Int) { open[command] = nil }

    /// The process is gone: what the agent may have been told, by any of the commands that it did not answer.
    mutating func forgetOpen() -> [CommandedTarget] {
        var possible = [told]
        for command in open.keys.sorted() {
            for var target in possible {
                open[command]?(&target)
                if !possible.contains(target) { possible.append(target) }
            }
        }
        open = [:]
        return Array(possible.dropFirst())
    }
}
