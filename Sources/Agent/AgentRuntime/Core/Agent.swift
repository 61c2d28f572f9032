package import AgentControl
internal import AgentLogic
internal import AlarmLog
package import Logging
package import NIOCore
internal import Systemd
internal import TrackCache
internal import TrackModel

/// The agent: a router over shells, all of them on one event loop.
///
/// Each shell owns one subject: its machine of `AgentLogic`, its state, its part of the status and of the metrics. A shell
/// is told events and tells effects; it knows no other shell and not the agent. The agent hands each effect to the shell
/// that it is an event for (Agent+Routes.swift), and decides nothing. Another subject is another folder with a shell, one
/// property here, and one `route` function there.
package final class Agent {
    let context: ShellContext
    let started: SystemTime
    var configuration: AgentConfiguration

    let memory: MemoryShell
    let settingsShell: SettingsShell
    let service: ServiceShell
    let gathering: GatheringShell
    let attributeShell: AttributeShell
    let cache: CacheShell
    let link: LinkShell
    let requests: RequestShell
    let alarmShell: AlarmShell
    let hooks: HookShell

    /// Tells whoever watches: set by the process, which owns the control socket and the notification of systemd.
    package var onChange: (AgentEvent.Change) -> Void = { _ in }

    /// The way from a shell's effect to the agent. Empty until the agent is whole, and when it is gone.
    private final class Router {
        weak var agent: Agent?
    }

    /// On the loop. Touches nothing before ``start()``.
    package init(_ opened: OpenedAgent, log: Logger, loop: any EventLoop) {
        let (configuration, surroundings, settings) = (opened.configuration, opened.surroundings, opened.settings)
        let remembered = opened.remembered
        let context = ShellContext(loop: loop, clock: surroundings.clock, log: log)
        let router = Router()
        self.context = context
        self.configuration = configuration
        started = context.systemTime
        memory = MemoryShell(
            context, keeper: surroundings.memory, state: remembered, trouble: opened.memoryTrouble)
        settingsShell = SettingsShell(settings, areSet: remembered.settings != nil) { router.agent?.route($0) }
        service = ServiceShell(
            context, entity: remembered.target?.entity ?? configuration.service.entity, keepAlive: settings.keepAlive
        ) { router.agent?.route($0) }
        gathering = GatheringShell(
            context, feeds: surroundings.feeds, gnss: configuration.gnss, settings: settings
        ) { router.agent?.route($0) }
        attributeShell = AttributeShell(
            context, columns: remembered.columns?.columns(of: configuration.service.id)
        ) { router.agent?.route($0) }
        cache = CacheShell(
            context, executor: surroundings.disk, directory: configuration.cache.directory, snapshot: opened.snapshot
        ) { router.agent?.route($0) }
        let uplink = UplinkMachine(
            gatherInterval: settings.gatherInterval, packInterval: settings.packInterval, seed: surroundings.seed,
            sendsLiveHint: configuration.service.sendsLiveHint)
        link = LinkShell(
            context, connector: surroundings.connector, server: configuration.server,
            login: Login(configuration.service), machine: uplink, ring: opened.snapshot.ends
        ) { router.agent?.route($0) }
        requests = RequestShell(context) { router.agent?.route($0) }
        alarmShell = AlarmShell(
            context, executor: surroundings.alarms,
            areHooksOwed: HookShell.hearAlarms(surroundings.hooks, configuration.hooks)
        ) { router.agent?.route($0) }
        hooks = HookShell(context, executor: surroundings.hooks, settings: configuration.hooks) {
            router.agent?.route($0)
        }
        router.agent = self
    }

    /// Points that this process has given to the cache, or could not.
    package var tally: Tally { cache.tally }

    /// Goes on as told last, or as the configuration says for the first time.
    package func start() {
        let first = configuration.service.isStartedAtFirstBoot
        let target =
            memory.state.target.map(TargetState.init)
            ?? TargetState(entity: configuration.service.entity, isServiceStarted: first, isGathering: first)
        cache.start()
        link.watchCertificates()
        alarmShell.open()
        hooks.begin()
        service.restore(target)
    }

    /// Addresses or routes of this machine changed.
    func networkChanged() { link.networkChanged() }

    /// Somebody wants a new connection; without a service there is none to make.
    func reconnectNow() { _ = link.reconnect() }
}
