package import AgentControl
internal import AgentLogic
internal import AlarmLog
internal import DiskRing
package import Logging
package import NIOCore
internal import Systemd
internal import TrackModel

/// The agent: a router between shells. All shells run on one event loop.
///
/// Each shell owns one subject: its machine of `AgentLogic`, its state, its part of the status and of the metrics. A shell
/// receives events and reports effects. It knows neither another shell nor the agent. The agent passes each effect on to
/// the shell for which the effect is an event (Agent+Routes.swift), and decides nothing. To add a subject, add a folder
/// with a shell, one property in this file, and one `route` function in Agent+Routes.swift.
package final class Agent {
    let context: ShellContext
    let started: SystemTime
    let boot: String?
    /// The disk was in another computer when the agent ran last.
    let isOnAnotherComputer: Bool
    var configuration: AgentConfiguration

    let durableState: DurableStateShell
    let settingsShell: SettingsShell
    let service: ServiceShell
    let gathering: GatheringShell
    let attributeShell: AttributeShell
    let cache: CacheShell
    let link: LinkShell
    let requests: RequestShell
    let alarmShell: AlarmShell
    let fenceShell: FenceShell
    let serverFences: ServerFenceShell
    let earlyAlarms: EarlyAlarmShell
    let hooks: HookShell

    enum Timer { case missingPoints }

    let timers: ShellTimers<Timer>
    /// What the journal hears of points that are missing.
    var missingPoints = MissingPointsNotice()

    /// Called at each change. The process sets it; the process owns the control socket and the notification of systemd.
    package var onChange: (AgentEvent.Change) -> Void = { _ in }

    /// The way from a shell's effect to the agent. It is nil until `init` ends, and after the agent is gone.
    private final class Router {
        weak var agent: Agent?
    }

    /// Call it on the loop. Opens and starts nothing before ``start()``.
    package init(_ opened: OpenedAgent, log: Logger, loop: any EventLoop) {
        let (configuration, dependencies, settings) = (opened.configuration, opened.dependencies, opened.settings)
        let remembered = opened.remembered
        let context = ShellContext(loop: loop, clock: dependencies.clock, log: log)
        let router = Router()
        self.context = context
        self.configuration = configuration
        timers = ShellTimers(context)
        started = context.systemTime
        boot = dependencies.boot
        isOnAnotherComputer = dependencies.isOnAnotherComputer
        durableState = DurableStateShell(
            context, stateStore: dependencies.stateStore, state: remembered, trouble: opened.memoryTrouble)
        settingsShell = SettingsShell(settings, areSet: remembered.settings != nil) { router.agent?.route($0) }
        service = ServiceShell(
            context, entity: remembered.target?.entity ?? configuration.service.entity, keepAlive: settings.keepAlive
        ) { router.agent?.route($0) }
        gathering = GatheringShell(
            context, feeds: dependencies.feeds, gnss: configuration.gnss, settings: settings,
            newest: opened.snapshot.recovery.newest.map { ($0.entity, Timestamp(milliseconds: $0.time)) },
            gap: GapMachine.Start(remembered, opened.snapshot, configuration.service, boot: dependencies.boot),
            stopped: remembered.target?.stoppedTime.map { SystemTime(milliseconds: $0) }
        ) { router.agent?.route($0) }
        attributeShell = AttributeShell(
            context, columns: remembered.columns?.columns(of: configuration.service.id)
        ) { router.agent?.route($0) }
        cache = CacheShell(
            context, executor: dependencies.disk, directory: configuration.cache.directory, snapshot: opened.snapshot
        ) { router.agent?.route($0) }
        let uplink = UplinkMachine(
            gatherInterval: settings.gatherInterval, packInterval: settings.packInterval, seed: dependencies.seed,
            sendsLiveHint: configuration.service.sendsLiveHint)
        link = LinkShell(
            context, connector: dependencies.connector, server: configuration.server,
            login: AgentLogin(configuration.service, boot: dependencies.boot), machine: uplink,
            ring: opened.snapshot.ends,
            health: HealthReportTracker { router.agent?.health() }
        ) { router.agent?.route($0) }
        requests = RequestShell(context) { router.agent?.route($0) }
        alarmShell = AlarmShell(
            context, executor: dependencies.alarms,
            areHooksOwed: HookShell.hearAlarms(dependencies.hooks, configuration.hooks),
            isTold: { id in router.agent.map { $0.serverFences.hasTold(id) || $0.earlyAlarms.hasTold(id) } ?? false }
        ) { router.agent?.route($0) }
        fenceShell = FenceShell(
            context, journal: dependencies.alarms, ring: dependencies.disk, store: dependencies.fences,
            lastBefore: opened.snapshot.nextSequence - 1,
            areHooksOwed: HookShell.hearAlarms(dependencies.hooks, configuration.hooks),
            longWork: dependencies.longWork
        ) { router.agent?.route($0) }
        serverFences = ServerFenceShell(
            context, journal: dependencies.alarms, ring: dependencies.disk, store: dependencies.serverFences,
            lastBefore: opened.snapshot.nextSequence - 1,
            areHooksOwed: HookShell.hearAlarms(dependencies.hooks, configuration.hooks),
            longWork: dependencies.longWork
        ) { router.agent?.route($0) }
        earlyAlarms = EarlyAlarmShell(context, journal: dependencies.alarms, ring: dependencies.disk) {
            router.agent?.route($0)
        }
        hooks = HookShell(context, executor: dependencies.hooks, settings: configuration.hooks) {
            router.agent?.route($0)
        }
        router.agent = self
    }

    /// Counts of the points that this process gave to the cache, and of those that it could not give.
    package var tally: Tally { cache.tally }

    /// Starts the service and gathering as the last commands say; before the first command, as the configuration says.
    package func start() {
        let first = configuration.service.isStartedAtFirstBoot
        let target =
            durableState.state.target.map(TargetState.init)
            ?? TargetState(entity: configuration.service.entity, isServiceStarted: first, isGathering: first)
        durableState.begin(boot: boot)
        cache.start()
        link.watchCertificates()
        alarmShell.open()
        fenceShell.open()
        serverFences.open()
        earlyAlarms.open()
        hooks.begin()
        service.restore(target)
    }

    /// Addresses or routes of this machine changed.
    func networkChanged() { link.networkChanged() }

    /// A person asks for a new connection. Does nothing while the service is stopped.
    func reconnectNow() { _ = link.reconnect() }
}

// Reload of the configuration, and the end of the agent.
extension Agent {
    /// Puts into force what a running agent can change of a new configuration. Completes with the keys that need a restart.
    /// If the server or the login changed, the agent connects again; otherwise the connection goes on. Fails when the agent
    /// cannot use the new configuration; then nothing has changed.
    func reload(_ new: AgentConfiguration) -> EventLoopFuture<[String]> {
        link.reload(new.server).assumeIsolated().map { [self] warnings in
            for warning in warnings {
                context.log.warning(
                    "A file with a secret is open to others",
                    metadata: .event(.credentialWarning, ["warning": "\(warning)"]))
            }
            return adopt(new)
        }.nonisolated()
    }

    private func adopt(_ new: AgentConfiguration) -> [String] {
        let old = configuration
        context.log.logLevel = Logger.Level(new.logLevel)
        configuration.logLevel = new.logLevel
        configuration.server = new.server
        configuration.service.accessKey = new.service.accessKey
        configuration.service.applicationCode = new.service.applicationCode
        configuration.service.secretTrouble = new.service.secretTrouble
        configuration.service.id = new.service.id
        configuration.service.isStartedAtFirstBoot = new.service.isStartedAtFirstBoot
        configuration.gnss = new.gnss
        configuration.cache.limit = new.cache.limit
        configuration.cache.syncInterval = new.cache.syncInterval
        if new.service.id != old.service.id {
            attributeShell.forgetColumns()
            fenceShell.serviceChanged(to: new.service.id.rawValue)
            serverFences.runs(as: service.entity, service: new.service.id.rawValue)
        }
        settingsShell.keepAliveReloaded(new.gnss.isKeptOpen)
        gathering.reconfigure(new.gnss)
        if new.cache.limit != old.cache.limit { settingsShell.cacheLimitReloaded(new.cache.limit) }
        if new.cache.syncInterval != old.cache.syncInterval {
            cache.setSyncInterval(milliseconds: Int64(new.cache.syncInterval * 1000))
        }
        link.reconfigure(new.server, AgentLogin(new.service, boot: boot))
        return Self.keysThatWait(new, old)
    }

    /// The changed keys that need a restart, because the agent reads them only at its start.
    private static func keysThatWait(_ new: AgentConfiguration, _ old: AgentConfiguration) -> [String] {
        var keys: [String] = []
        if new.service.sendsLiveHint != old.service.sendsLiveHint { keys.append("service.live_hint") }
        if new.service.enrollment != old.service.enrollment { keys.append("service.enrollment") }
        if new.parking != old.parking { keys.append("parking") }
        if new.alarmJournalLimit != old.alarmJournalLimit { keys.append("alarms.journal_limit") }
        if new.hooks != old.hooks { keys.append("hooks") }
        if new.metrics != old.metrics { keys.append("metrics") }
        if new.cache.directory != old.cache.directory { keys.append("cache.directory") }
        if new.control.socket != old.control.socket { keys.append("control.socket") }
        if new.control.group != old.control.group { keys.append("control.group") }
        if new.stateDirectory != old.stateDirectory { keys.append("state.directory") }
        if new.service.entity != old.service.entity {
            // The last command has priority over the configuration, after a restart too.
            keys.append("service.entity (saker service stop; saker service start --entity \(new.service.entity))")
        }
        return keys
    }

    /// Ends everything in the reverse order of the start. The durable state stays, so the next start continues.
    package func shutDown() -> EventLoopFuture<Void> {
        onChange = { _ in }
        hooks.beginShutDown()
        timers.cancelAll()
        // From here on what the vehicle does not do any more is nobody's command.
        link.stopTellingHealth()
        link.stopWatchingCertificates()
        gathering.shutDown()
        fenceShell.shutDown()
        serverFences.shutDown()
        earlyAlarms.shutDown()
        attributeShell.shutDown()
        link.shutDown()
        requests.shutDown()
        alarmShell.shutDown()
        service.shutDown()
        cache.shutDown()
        durableState.shutDown()
        return hooks.shutDown().and(cache.close()).map { _ in }
    }
}
