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

/// A second computer that logs in as the same entity for a part of the history: somebody has put a new box into the vehicle
/// and has not taken the old one out. It has a disk, a receiver and a way of its own, and no fences.
struct Twin {
    /// Milliseconds since the history began.
    let beginsAt: Int64
    let endsAt: Int64
    fileprivate let disk: DiskSimulation
    fileprivate var receiver: DrivenReceiver
    fileprivate var box: AgentBox?
    /// Its streams, which the model of the vehicle's ring knows nothing of.
    fileprivate var streams: Set<StreamID> = []
    /// Points of it that the store has taken.
    fileprivate var stored = 0

    /// Drawn from random numbers of its own. Nil for most seeds: of 100 as many as `share` says have a second box.
    init?(seed: UInt64, share: Int, hours: Double) {
        var dice = DiskDice(seed: seed &* 0xA24B_AED4_963E_E407 ^ 0x7717_0B0C_5EED)
        guard Int.random(in: 0..<100, using: &dice) < share else { return nil }
        let first = Int64.random(in: 2...60, using: &dice)
        beginsAt = Int64(hours * 36_000) * first
        endsAt = Int64(hours * 36_000) * Int64.random(in: first + 5...95, using: &dice)
        disk = DiskSimulation(seed: dice.next(), directories: ["/var"])
        receiver = DrivenReceiver(seed: dice.next(), hasIncompleteReports: false)
        // No point of the second box has the time of one of the vehicle: a track shows one point of each time.
        receiver.timeOffset = 437
    }

    var isThere: Bool { box != nil }
}

// The second box lives beside the vehicle's own. The model of the store has the points of both boxes; the models of the
// vehicle's ring, grid and gaps know nothing of the second box.
extension History {
    func beginTwin() {
        guard let twin else { return }
        note("a second box logs in as the same entity from \(twin.beginsAt / 1000) s to \(twin.endsAt / 1000) s")
        summary.twins = 1
        // Its points say nothing of the gaps between those of the vehicle.
        gaps.areReasonsTold = false
        after(twin.beginsAt) { $0.bootTwin() }
    }

    /// Whether the second box has sent the batch.
    func isTwins(_ stream: StreamID?) -> Bool { stream.map { twin?.streams.contains($0) ?? false } ?? false }

    /// The store has taken points of the second box.
    func twinStored(_ count: Int) {
        twin?.stored += count
        summary.twinPoints += count
    }

    private func bootTwin() {
        guard let twin, !isHealed else { return }
        // The server judges by the points of both: the vehicle judges by its own.
        fences?.mayDiffer = true
        fences?.serverFenceModel.hasTwoWays = true
        let process = ProcessLoop(loop)
        let feeds = SimulatedFeedSource()
        let connector = SimulatedConnector(
            network: network, clock: clock, certificateFrom: Self.beginning - 86_400_000)
        let log = Logger(label: "second box") { _ in SwiftLogNoOpLogHandler() }
        var executor: SimulatedCacheDisk?
        do {
            let configuration = try AgentConfiguration.read(
                ConfigurationReader(text: Self.configurationText, path: "/etc/agent.toml"))
            let opening = try OpenedAgent(configuration, remembered: .absent, log: log) { options in
                var options = options
                options.segmentBytes = profile.segmentBytes
                let cache = try DiskRing(
                    directory: "/var/cache", options: options, fileSystem: twin.disk, now: now
                ) { [unowned self] in
                    let stream = StreamID.random(using: &dice)
                    self.twin?.streams.insert(stream)
                    return stream
                }
                let made = SimulatedCacheDisk(cache: cache, disk: twin.disk, loop: loop, process: process)
                executor = made
                let dependencies = AgentDependencies(
                    clock: clock, connector: connector, feeds: feeds, disk: made,
                    stateStore: SimulatedStateStore(executor: made, disk: twin.disk, memory: SimulatedStateDisk()),
                    seed: dice.next(), boot: "the second box")
                return (dependencies, CacheSnapshot(cache))
            }
            guard let executor else { return }
            let made = AgentBox(
                process: process, agent: Agent(opening, log: log, loop: process), executor: executor, feeds: feeds,
                connector: connector, bornAt: now)
            connector.accept = { [unowned self, unowned made] in acceptConnection(made) }
            feeds.onOpen = { [unowned self] in
                after(50) { $0.twin?.box?.feeds.open?.deliver(.state(.fix)) }
            }
            self.twin?.box = made
            note("the second box boots")
            loop.execute { [unowned made] in
                guard made.process.isAlive else { return }
                made.agent.start()
            }
            after(1000) { $0.twinDrives() }
            after(twin.endsAt - twin.beginsAt) { $0.endTwin() }
        } catch {
            fail(Violation(guarantee: .recovery, detail: "the second box does not start: \(error)"))
        }
    }

    private func twinDrives() {
        guard let box = twin?.box else { return }
        after(1000) { $0.twinDrives() }
        // The vehicle's own agent is not alone with its server.
        troubledAt = now
        calm.trouble(now)
        guard let watch = box.feeds.open, let reports = twin?.receiver.epoch(at: trueTime, span: 1000) else { return }
        for report in reports { watch.deliver(.report(GNSSReport(report))) }
    }

    /// Somebody takes the second box out.
    func endTwin() {
        guard let box = twin?.box else { return }
        note("the second box is taken out; the store has \(twin?.stored ?? 0) points of it")
        box.process.kill()
        box.connector.drop(tellingPeer: false)
        box.forget()
        twin?.box = nil
        check { () throws(Violation) in
            let acknowledged = box.executor.cache.counters.acknowledged
            guard acknowledged <= twin?.stored ?? 0 else {
                throw Violation(
                    guarantee: .exactlyOnce,
                    detail: "the second box was told that \(acknowledged) points are stored, and "
                        + "\(twin?.stored ?? 0) are")
            }
        }
    }
}
