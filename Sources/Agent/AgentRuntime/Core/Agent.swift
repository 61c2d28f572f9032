package import AgentControl
internal import AgentLogic
internal import GNSSFeed
package import Logging
package import NIOCore
internal import Systemd
internal import TrackCache
internal import TrackModel
internal import TrackWire

/// The agent: the machines of AgentLogic with their shells around them, all on one event loop.
///
/// It decides nothing: an event goes to a machine, and the actions that come back are done, in order. Whatever may wait
/// (gpsd, the disk, the network, control clients) sits behind a thread or a channel of its own.
package final class Agent {
    let loop: any EventLoop
    let surroundings: Surroundings
    var log: Logger
    let started: SystemTime

    var configuration: AgentConfiguration
    var settingsInForce: Settings
    var remembered: RememberedState

    // Decisions
    var service: ServiceMachine
    var uplink: UplinkMachine
    var assembler = EpochAssembler()
    var sampler: Sampler
    var board: AttributeBoard
    var collector = AttributeCollector()

    // The feed
    var feed: (any OpenFeed)?
    /// Counts the feeds that were opened: an event of one that was closed since belongs to the past.
    var feedGeneration = 0
    var feedStatus: FeedWatch
    var trustedTime = TrustedTime()
    /// The entity whose points are made; nil while gathering is off.
    var samplingEntity: String?
    /// The entity of the sampler's last point: its time never goes back, another entity's may.
    var samplerEntity: String?

    /// Calls of providers that wait for a point.
    var providers: [AttributeCollector.ProviderID: ProviderCall] = [:]

    // The link
    var link: Link?
    var linkWatch: LinkWatch
    /// Batches that were read and not yet sent.
    var prepared: [ReadID: PreparedUpload] = [:]
    var uplinkEntity = ""
    /// The attempt that the machine waits for or speaks on.
    var wantedLink: LinkID?
    /// Whether the system clock could be believed when that was last looked at.
    var isClockBelieved: Bool?
    /// The stream that the last Hello named.
    var helloStream: StreamID?
    /// The highest batch payload format that the server of the last login reads.
    var serverPayloadFormat = 1

    // The rest
    var snapshot: CacheSnapshot
    package internal(set) var tally = Tally()
    var timers: [TimerKey: Scheduled<Void>] = [:]
    var maintenanceAt: MonotonicTime?
    var calls = PendingCalls()
    var requests = ServerRequests()
    var alarms = AlarmDesk()
    var hooks = HookDesk()
    /// After ``shutDown()`` has begun.
    var isShutDown = false
    /// The entity the service runs as, or ran as last.
    var lastEntity: String
    var toldService = ServiceStatus.State.stopped
    var serviceSince: SystemTime
    var gatherSince: SystemTime
    var lastPointTime: Timestamp?
    /// The point that the ring took last, as far as it was gathered by this process.
    var newest: (point: TrackPoint, entity: String)?
    var forecast = FillForecast()
    /// When points were lost last; what the ring lost before this start is not in it.
    var lastLoss: SystemTime?
    /// Tells whoever watches: set by the process, which owns the control socket and the notification of systemd.
    package var onChange: (AgentEvent.Change) -> Void = { _ in }

    enum TimerKey: Hashable {
        case uplink(UplinkTimer)
        case service(ServiceMachine.Timer)
        case maintenance
        case requests
        case providers
        case clock
    }

    /// On the loop. Touches nothing before ``start()``.
    package init(_ opened: OpenedAgent, log: Logger, loop: any EventLoop) {
        let settings = opened.settings
        configuration = opened.configuration
        surroundings = opened.surroundings
        snapshot = opened.snapshot
        remembered = opened.remembered
        board = AttributeBoard(columns: opened.remembered.columns?.columns(of: opened.configuration.service.id))
        settingsInForce = settings
        self.log = log
        self.loop = loop
        started = SystemTime(surroundings.clock.read())
        linkWatch = LinkWatch(since: started)
        serviceSince = started
        gatherSince = started
        lastEntity = remembered.target?.entity ?? configuration.service.entity
        service = ServiceMachine(keepAlive: settings.keepAlive)
        uplink = UplinkMachine(
            gatherInterval: settings.gatherInterval, packInterval: settings.packInterval, seed: surroundings.seed,
            tellsNewest: configuration.service.tellsNewest)
        sampler = Sampler(interval: settings.gatherInterval, options: settings.location)
        if let wanted = opened.configuration.hooks, opened.surroundings.hooks != nil {
            hooks.kinds = Set(wanted.events)
        }
        feedStatus = FeedWatch(source: "\(configuration.gnss.host):\(configuration.gnss.port)", since: started)
    }

    /// The loop's clock: every wait and every deadline is counted with it.
    var now: MonotonicTime { MonotonicTime(loop.now) }
    /// The system's clock: what people are shown.
    var systemTime: SystemTime { SystemTime(surroundings.clock.read()) }

    /// Goes on as told last, or as the configuration says for the first time.
    package func start() {
        let first = configuration.service.isStartedAtFirstBoot
        let target =
            remembered.target.map(TargetState.init)
            ?? TargetState(entity: configuration.service.entity, isServiceStarted: first, isGathering: first)
        adopt(snapshot)
        surroundings.connector.watch(on: loop, log: log) { [unowned self] in certificatesChanged($0) }
        openAlarms()
        perform(service.restore(target))
    }

    // MARK: Timers

    func setTimer(_ key: TimerKey, milliseconds: Int64, _ fire: @escaping (Agent) -> Void) {
        timers[key]?.cancel()
        timers[key] = loop.assumeIsolated().scheduleTask(in: .milliseconds(max(0, milliseconds))) { [self] in
            timers[key] = nil
            fire(self)
        }
    }

    func cancelTimer(_ key: TimerKey) {
        timers.removeValue(forKey: key)?.cancel()
    }

    // MARK: The disk

    /// Runs an operation on the disk thread and comes back with its result and the ring's new state in force. False when
    /// the disk hangs and its queue is full: nothing was done.
    @discardableResult
    func onDisk<Result: Sendable>(
        _ operation: @escaping @Sendable (TrackCache) -> Result, then: @escaping (Result) -> Void = { _ in }
    ) -> Bool {
        let work = surroundings.disk.perform(on: loop) { cache in (operation(cache), CacheSnapshot(cache)) }
        work?.assumeIsolated().whenSuccess { [self] result, snapshot in
            adopt(snapshot)
            then(result)
        }
        return work != nil
    }

    private func adopt(_ new: CacheSnapshot) {
        let old = snapshot
        snapshot = new
        if old.isInMemory != new.isInMemory {
            new.isInMemory
                ? log.error(
                    "Track cache went on in memory", metadata: .event(.cacheMemoryFallback, ["state": "\(new.state)"]))
                : log.notice("Track cache returned to the disk", metadata: .event(.cacheReturned))
            onEvent(.cache(cacheStatus))
        }
        forecast.appended(total: new.counters.appendedBytes, now: now)
        if new.losses != old.losses {
            lastLoss = systemTime
            let reasons = new.losses.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            log.warning("Points were lost", metadata: .event(.cacheDropped, ["reasons": "\(reasons)"]))
            onEvent(.cache(cacheStatus))
            onEvent(.loss(LossReport(lost: new.losses.mapValues { Int64(clamping: $0) })))
        }
        scheduleMaintenance()
        followStream()
    }

    private func scheduleMaintenance() {
        guard snapshot.nextMaintenance != maintenanceAt else { return }
        maintenanceAt = snapshot.nextMaintenance
        guard let at = maintenanceAt else { return cancelTimer(.maintenance) }
        setTimer(.maintenance, milliseconds: at - now) { agent in
            agent.maintenanceAt = nil
            let now = agent.now
            agent.onDisk { $0.maintain(now: now) }
        }
    }

    // MARK: Remembering

    func remember() {
        do {
            try surroundings.memory.write(remembered)
        } catch {
            // The agent goes on; only a restart before the next successful write would forget this.
            log.error("State could not be remembered", metadata: ["error": "\(error)"])
        }
    }
}

/// What this process has done, beside what cache and sampler count themselves.
package struct Tally: Hashable {
    var fixes: UInt64 = 0
    /// Points given to the cache.
    package internal(set) var gathered: UInt64 = 0
    var refused: UInt64 = 0
    /// Points that were not taken because the disk hung and its queue was full.
    package internal(set) var lostBusyDisk: UInt64 = 0
    var undecodable: UInt64 = 0
    /// Sampler counters of entities and gatherings before the present one.
    var skipped: [String: UInt64] = [:]
}
