internal import AgentControl
internal import AgentLogic
internal import AgentRuntime
internal import ConfigurationFile
internal import DiskRing
internal import GNSSFeed
internal import Logging
internal import NIOCore
internal import TrackModel
internal import TrackTestKit
internal import TrackWire

/// One process of the agent.
final class AgentBox {
    let process: ProcessLoop
    let agent: Agent
    let executor: SimulatedCacheDisk
    let feeds: SimulatedFeedSource
    let connector: SimulatedConnector
    let bornAt: MonotonicTime
    var alarms: SimulatedAlarms?
    var hooks: SimulatedHooks?
    var isStopping = false
    /// It is on the terms of an older program.
    var isOlder = false
    /// Points that the disk's full queue refused.
    var refused: UInt64 = 0

    /// What a process held goes with it.
    func forget() {
        executor.forget()
        feeds.forget()
        connector.forget()
        alarms?.forget()
        hooks?.forget()
    }

    init(
        process: ProcessLoop, agent: Agent, executor: SimulatedCacheDisk, feeds: SimulatedFeedSource,
        connector: SimulatedConnector, bornAt: MonotonicTime
    ) {
        self.process = process
        self.agent = agent
        self.executor = executor
        self.feeds = feeds
        self.connector = connector
        self.bornAt = bornAt
    }
}

enum AgentEnd {
    /// Ignition: nothing is told, nothing unsynchronised is sure.
    case power
    /// kill -9: the machine goes on.
    case kill
    /// SIGTERM: it has closed by itself.
    case stop
}

// The vehicle's box: booting, dying, the receiver.
extension History {
    static let configurationText = """
        [server]
        host = "server.example"
        [service]
        id = 1
        ak = "\(accessKey)"
        entity = "van"
        [cache]
        directory = "/var/cache"
        """
    static let accessKey = "0123456789abcdefghjkmnpqrstvwxyz"

    // MARK: Boot

    func bootAgent() {
        guard box == nil else { return }
        boots += 1
        troubledAt = now
        calm.trouble(now)
        isStateKnown = true
        // What a process met that is no more.
        _ = witness.takeOperation()
        let found = witness.content()
        let process = ProcessLoop(loop)
        let feeds = SimulatedFeedSource()
        let connector = SimulatedConnector(
            network: network, clock: clock, certificateFrom: Self.beginning - 86_400_000)
        let logHandler = ObservingLog(NIOLoopBound(self, eventLoop: loop), process)
        let log = Logger(label: "agent") { _ in logHandler }
        var reading = DurableStateReading.absent
        var (alarms, hooks): (SimulatedAlarms?, SimulatedHooks?)
        var opened: (executor: SimulatedCacheDisk, opening: OpenedAgent)?
        do {
            let text =
                Self.configurationText
                + "\nsync_interval = \(profile.syncInterval)\n[gnss]\nkeep_open = \(profile.keepsFeedOpen)\n"
                + "[parking]\ndelay = \(profile.parkingDelay)\ninterval = \(profile.parkingInterval)\n"
                + profile.alarmConfiguration
            let configuration = try AgentConfiguration.read(ConfigurationReader(text: text, path: "/etc/agent.toml"))
            reading = StateFile(directory: SimulatedStateDisk.directory, files: disk).read()
            var executor: SimulatedCacheDisk?
            let opening = try OpenedAgent(configuration, remembered: reading, log: log) { options in
                var options = options
                options.segmentBytes = profile.segmentBytes
                options.memoryLimit = profile.memoryLimit
                if let limit = profile.ringLimit { options.limit = limit }
                let cache = try DiskRing(
                    directory: "/var/cache", options: options, fileSystem: disk, now: now
                ) { [unowned self] in StreamID.random(using: &dice) }
                let made = SimulatedCacheDisk(cache: cache, disk: disk, loop: loop, process: process)
                executor = made
                (alarms, hooks) = openAlarms(made, process)
                let dependencies = AgentDependencies(
                    clock: clock, connector: connector, feeds: feeds, disk: made,
                    stateStore: SimulatedStateStore(executor: made, disk: disk, memory: memory), seed: dice.next(),
                    boot: "start \(starts)", alarms: alarms, hooks: hooks, fences: openFences(made),
                    serverFences: openServerFences(made))
                return (dependencies, CacheSnapshot(cache))
            }
            opened = executor.map { ($0, opening) }
        } catch {
            fail(Violation(guarantee: .recovery, detail: "the agent does not start: \(error)"))
        }
        guard let opened else { return }
        guard disk.hasPower else {
            // Cut in the middle of recovery.
            note("power cut while the ring was opened")
            crashDisk()
            ledger.openingInterrupted(opened.executor.cache, witness)
            return after(Int64.random(in: 500...5000, using: &dice)) { $0.bootAgent() }
        }
        let agent = Agent(opened.opening, log: log, loop: process)
        let made = AgentBox(
            process: process, agent: agent, executor: opened.executor, feeds: feeds, connector: connector, bornAt: now)
        (made.alarms, made.hooks, made.isOlder) = (alarms, hooks, older?.isOlder(.agent) ?? false)
        connect(made)
        watchAlarms(made)
        box = made
        noteLife()
        gatheredInThisProcess = 0
        // A restart forgets what programs have set: they set it again.
        attributes = AttributeModel()
        check { () throws(Violation) in
            grid = GridModel(newest: try newestPoint(opened.executor.cache, found))
        }
        adoptSettings(agent)
        note("agent boots, the ring holds \(opened.executor.cache.count), \(opened.executor.cache.state)")
        if opened.executor.cache.state != .disk { fences?.mayDiffer = true }
        check { () throws(Violation) in
            try ledger.processStarted(opened.executor.cache, at: now, witness, found: found)
        }
        if profile.isVerbose { carry(["driver": Self.longName], agent, ttl: nil) }
        loop.execute { [unowned self] in
            guard process.isAlive else { return }
            agent.start()
            checkRemembered(made, reading)
        }
        if boots == 1 {
            loop.execute { [unowned self] in
                change(made, agent.setIntervals(gather: profile.gather, pack: profile.pack))
                adoptSettings(agent)
            }
        }
    }

    /// The newest point that stands on the disk, as the ring must have found it.
    private func newestPoint(
        _ cache: DiskRing, _ found: RingContent
    ) throws(Violation) -> (entity: String, time: Int64)? {
        let told = cache.recovery.newest.map { ($0.entity, $0.time) }
        let newest = found.points.last.map { ($0.entity, $0.fix.time.milliseconds) }
        func isTold(_ point: (String, Int64)?) -> Bool { told?.0 == point?.0 && told?.1 == point?.1 }
        // What the disk refused to read, the ring does not know.
        let isBlurred = !cache.counters.diskErrors.isEmpty || !cache.hasRead
        let isRight =
            isTold(newest)
            || isBlurred && (told == nil || found.points.contains { isTold(($0.entity, $0.fix.time.milliseconds)) })
        guard isRight else {
            throw Violation(
                guarantee: .recovery,
                detail: "the newest point is \(String(describing: newest)), the ring says \(String(describing: told))")
        }
        return told
    }

    private func connect(_ made: AgentBox) {
        made.executor.onOperation = { [unowned self] cache, label in
            trace.mix(cache.nextSequence &* 31 &+ cache.count)
            check { () throws(Violation) in
                try ledger.observe(cache, label, at: now, witness)
                try checkMemory(cache)
            }
        }
        made.executor.onPowerFailure = { [unowned self, unowned made] label in
            ledger.interrupted(made.executor.cache, label, witness)
            powerFailed()
        }
        made.feeds.onOpen = { [unowned self] in
            note("the feed is opened")
            let watch = made.feeds.open
            after(50) { history in
                guard made.feeds.open === watch, watch != nil else { return }
                history.tellFeedState()
            }
        }
        made.feeds.onClose = { [unowned self] in
            note("the feed is closed")
            choose(grid.dropEpoch())
        }
        made.connector.accept = { [unowned self] in acceptConnection(made) }
        made.connector.onLink = { [unowned self] in
            summary.connections += 1
            note("connection \(summary.connections)")
        }
    }

    private func checkMemory(_ cache: DiskRing) throws(Violation) {
        let usage = cache.usage
        // What is not synchronised may be a quarter of a MiB, whatever the disk does.
        let bound = max(usage.memoryLimit, 256 * 1024) + 4096
        guard usage.memoryBytes <= bound else {
            throw Violation(
                guarantee: .boundedMemory, detail: "the ring holds \(usage.memoryBytes) bytes in memory, over \(bound)")
        }
        if let limit = usage.diskLimit, cache.state == .disk, usage.segments > 2, usage.diskBytes > limit {
            throw Violation(guarantee: .boundedMemory, detail: "\(usage.diskBytes) bytes on disk, over \(limit)")
        }
    }

    /// Looks at a disk of the vehicle from outside.
    static func makeWitness(_ disk: DiskSimulation) -> RingFileObserver {
        RingFileObserver(disk, directory: "/var/cache") { payload, _ in try? PointRecord.decode(payload) }
    }

    // MARK: Death

    func end(_ made: AgentBox, how: AgentEnd) {
        made.process.kill()
        made.connector.drop(tellingPeer: how != .power)
        made.forget()
        if box === made { box = nil }
        fencesEnd()
        gaps.processEnded(at: trueTime, how, wasStopping: made.isStopping)
        switch how {
        case .power: crashDisk()
        case .kill: disk.killProcess()
        case .stop: break
        }
        guard !target.open.isEmpty else { return }
        targetInForce(made)
        for possible in target.forgetOpen() { _ = rememberedTarget.changed(to: possible) }
    }

    func crashDisk() {
        starts += 1
        disk.crash(seed: dice.next())
    }

    /// In the middle of a disk operation.
    private func powerFailed() {
        guard let box else { return }
        summary.agentCuts += 1
        note("power cut in a disk operation")
        end(box, how: .power)
        after(Int64.random(in: 500...20_000, using: &dice)) { $0.bootAgent() }
    }

    // MARK: The receiver

    func epoch() {
        after(profile.epochInterval) { $0.epoch() }
        guard let box, let watch = box.feeds.open, isGPSDUp, !receiver.isInTunnel, !box.isStopping else { return }
        let aligned = trueTime / profile.epochInterval * profile.epochInterval
        let reports = receiver.epoch(at: aligned, span: profile.epochInterval)
        noteWay(at: aligned)
        for report in reports { deliver(report, watch, box) }
        loop.execute { [unowned self] in checkGathered(box) }
    }

    private func deliver(_ report: PlainReport, _ watch: SimulatedOpenFeed, _ box: AgentBox) {
        loop.execute { [unowned self] in
            guard box.feeds.open === watch, box.process.isAlive else { return }
            choose(grid.report(report, clocks))
        }
        watch.deliver(.report(GNSSReport(report)))
    }

    /// No report for a while.
    func silence() {
        guard let box, let watch = box.feeds.open else { return }
        loop.execute { [unowned self] in
            guard box.feeds.open === watch, box.process.isAlive else { return }
            choose(grid.endEpoch())
        }
        watch.deliver(.silence)
        loop.execute { [unowned self] in checkGathered(box) }
    }

    func choose(_ points: [ChosenPoint]) {
        for range in grid.takeDisproved() { ledger.expectDisproved(range) }
        judge(grid.takeFixes(), points)
        guard let entity = grid.knownEntity else { return }
        for point in points {
            ledger.choose(
                point.fix, entity: entity, isParked: point.isParked, attributes: attributes.carried(at: now), at: now)
            if point.fix.time.milliseconds > trueTime + 600_000 { ledger.newestIsAhead() }
            gatheredInThisProcess += 1
            gaps.pointMade()
            if point.isParked { summary.parked += 1 }
        }
    }

    /// At the moment of the fix, whatever network, disk and control do: taken is taken.
    private func checkGathered(_ box: AgentBox) {
        guard box.process.isAlive, self.box === box, !box.isStopping else { return }
        checkTally(box)
    }

    /// As many points were taken as were due.
    func checkTally(_ box: AgentBox) {
        guard violation == nil else { return }
        let tally = box.agent.tally
        while tally.lostBusyDisk > box.refused {
            box.refused += 1
            ledger.refuseNewest()
        }
        guard tally.gathered + tally.lostBusyDisk == gatheredInThisProcess else {
            let gathered = tally.gathered + tally.lostBusyDisk
            return fail(
                Violation(
                    guarantee: gathered < gatheredInThisProcess ? .gatheringNeverWaits : .timeGrid,
                    detail: "\(gatheredInThisProcess) fixes were due in this process, \(gathered) were taken"))
        }
    }

    // MARK: What the agent says of itself

    func agentSaid(_ message: String, _ metadata: Logger.Metadata?) {
        let entity = metadata?["entity"].map { "\($0)" } ?? ""
        switch message {
        case "Gathering has started": gatheringStarted(entity)
        case "Gathering has stopped, and no points are made":
            choose(grid.stopGathering())
            noteCause()
            fences?.own.stopped()
        case "The server does not confirm early alarms, so they are reported": earlyAlarmsAreOverdue()
        case "The disk ring is in memory only, because the disk refuses it": fences?.mayDiffer = true
        case "Alarms cannot be kept: none is acknowledged, the server sends them again":
            alarms.isRefusing = true
            alarms.refused()
            alarmsRefusedAt = now
        case "Alarms are kept on the disk again":
            alarms.isRefusing = false
            alarmsRefusedAt = now
        case "The server has let this vehicle in":
            onlineAt = now
            backlogFails()
        case "The connection to the server is lost, and the agent tries again",
            "There is no connection to the server, and the agent tries again":
            linkLost("\(metadata?["reason"] ?? "")")
        default: break
        }
        let fields = (metadata ?? [:]).filter { $0.key != "message_id" }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        note("agent: \(message) \(fields)")
    }

    func adoptSettings(_ agent: Agent) {
        let settings = agent.settings()
        grid.setInterval(seconds: settings.gatherInterval)
        gaps.intervalIs(Int32(clamping: settings.gatherInterval))
        if grid.desiredAccuracy != settings.desiredAccuracy || grid.distanceFilter != settings.distanceFilter
            || grid.plausibleSpeed != Self.speed(settings.activity)
            || grid.parkingDelay != settings.parkingDelay.map({ $0 * 1000 })
            || settings.parkingDelay != nil && grid.parkingInterval != settings.parkingInterval.map({ $0 * 1000 })
        {
            grid.desiredAccuracy = settings.desiredAccuracy
            grid.distanceFilter = settings.distanceFilter
            grid.plausibleSpeed = Self.speed(settings.activity)
            grid.parkingDelay = settings.parkingDelay.map { $0 * 1000 }
            grid.parkingInterval = (settings.parkingInterval ?? 240) * 1000
            grid.optionsChanged()
            fences?.own.optionsChanged(Self.options(settings))
        }
        fences?.own.optionsAre(Self.options(settings))
    }

    private static func speed(_ activity: AgentControl.Activity) -> Double {
        switch activity {
        case .other: 150
        case .automotive: 90
        case .fitness: 35
        case .airborne: 400
        }
    }
}
