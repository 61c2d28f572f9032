internal import AgentControl
internal import AgentLogic
internal import ConfigurationFile
internal import Dispatch
internal import Glibc
internal import LocalSocket
internal import Logging
internal import MetricsText
internal import NIOCore
internal import Systemd
internal import TrackModel
internal import Varlink

/// One run of the agent on its loop, from the first try of the control socket to the last goodbye.
final class AgentSession {
    private let agent: Agent
    private let loop: any EventLoop
    private let log: Logger
    private let budget: JournalBudget
    private let configurationPath: String
    private let notifier: Notifier
    private let finished: EventLoopPromise<Void>
    private var control: AgentControlService?
    private var socket: ControlSocket?
    private var watchdog: RepeatedTask?
    private var memoryReturn: RepeatedTask?
    private var leftOutLines: RepeatedTask?
    private var network: KernelEvents?
    private var metrics: MetricsOutput?
    private var isStopping = false
    private var toldStatus = ""

    /// How long a stop waits for the disk.
    private static let stopLimit = TimeAmount.seconds(10)
    /// How long systemd is told to wait for a reload.
    private static let reloadLimit = TimeAmount.seconds(20)
    /// The files of a start, a drained backlog and an import of fences leave free memory that would stay with the process.
    private static let memoryReturnInterval = TimeAmount.hours(1)
    /// Between two looks at the lines of the journal that were left out.
    private static let leftOutInterval = TimeAmount.minutes(1)
    /// Between two looks at a file with a secret that cannot be used.
    private static let secretInterval = TimeAmount.seconds(5)

    init(
        _ opened: OpenedAgent, configurationPath: String, log: Logger, budget: JournalBudget, loop: any EventLoop
    ) {
        self.loop = loop
        self.log = log
        self.budget = budget
        self.configurationPath = configurationPath
        notifier = .takingEnvironment()
        finished = loop.makePromise()
        agent = Agent(opened, log: log, loop: loop)
    }

    /// Completes when the agent has stopped; fails when it cannot run.
    func run() -> EventLoopFuture<Void> {
        SignalSource.start(on: loop) { [self] number in signal(number) }
            .assumeIsolated()
            .flatMap { [self] in openControl() }
            .whenComplete { [self] result in
                switch result {
                case .success: begin()
                case .failure(let error):
                    finished.fail(error)
                }
            }
        return finished.futureResult
    }

    private func openControl() -> EventLoopFuture<Void> {
        let settings = agent.configuration.control
        let group = GroupDatabase.identifier(of: settings.group)
        if group == nil {
            log.warning(
                "The control group does not exist: only root and the agent's own user may change things",
                metadata: ["group": "\(settings.group)"])
        }
        let control = AgentControlService(
            handler: agent, policy: ControlPolicy(group: group, user: geteuid())
        ) { [log] method, peer in
            log.info(
                "A call of the control socket has changed something",
                metadata: ["method": "\(method.rawValue)", "uid": "\(peer.user)", "pid": "\(peer.process)"])
        } whenFailed: { [log] method, reason in
            log.error(
                "A call of the control socket has failed",
                metadata: ["method": "\(method.rawValue)", "reason": "\(reason)"])
        }
        self.control = control
        let options = VarlinkServer.Options(
            path: settings.socket, group: geteuid() == 0 ? group : nil,
            service: VarlinkServiceInfo(
                vendor: "Saker", product: "sakerd", version: SakerVersion.text, url: "https://varlink.org"))
        let socket = ControlSocket(options, [control], log: log, loop: loop) { [unowned self] in tellSystemd() }
        self.socket = socket
        return socket.open()
    }

    private func begin() {
        // A signal came while the control socket was being opened.
        guard !isStopping else { return }
        agent.onChange = { [unowned self] change in tell(change) }
        agent.start()
        network = NetworkChangeMonitor.start(on: loop, log: log) { [unowned self] in
            agent.networkChanged()
        }
        metrics = MetricsOutput(agent, agent.configuration.metrics, log: log, loop: loop) { [unowned self] in
            socket?.isOpen == true
        }
        metrics?.start()
        notifier.ready(status: statusLine)
        if let timeout = notifier.watchdogTimeout {
            // Twice as often as asked: one late turn of the loop must not look like a hang.
            let half = TimeAmount.nanoseconds(timeout.nanoseconds / 2)
            watchdog = loop.scheduleRepeatedTask(initialDelay: half, delay: half) { [notifier] _ in
                notifier.watchdog()
            }
        }
        memoryReturn = loop.scheduleRepeatedTask(
            initialDelay: .seconds(2), delay: Self.memoryReturnInterval
        ) { _ in
            ProcessMemory.giveBack()
        }
        leftOutLines = loop.scheduleRepeatedTask(
            initialDelay: Self.leftOutInterval, delay: Self.leftOutInterval
        ) { [budget, log] _ in
            budget.sayLeftOut(with: log)
        }
        awaitSecrets()
        log.notice("The agent is ready", metadata: .event(.programStarted, ["version": "\(SakerVersion.text)"]))
    }

    /// Looks at the files with secrets again until they can be used.
    private func awaitSecrets() {
        guard agent.configuration.service.secretTrouble != nil, !isStopping else { return }
        loop.assumeIsolated().scheduleTask(in: Self.secretInterval) { [self] in
            ConfigurationThread.read(configurationPath, on: loop).assumeIsolated().whenComplete { [self] result in
                guard case .success(let new) = result, !isStopping else { return awaitSecrets() }
                agent.reload(new).assumeIsolated().whenComplete { [self] result in
                    reloaded(result)
                    awaitSecrets()
                }
            }
        }
    }

    private func tell(_ change: AgentEvent.Change) {
        if let control, control.monitorCount > 0 {
            control.publish(AgentEvent(time: agent.context.systemTime.milliseconds, change))
        }
        tellSystemd()
    }

    private func tellSystemd() {
        guard notifier.isActive else { return }
        let line = statusLine
        guard line != toldStatus else { return }
        toldStatus = line
        notifier.status(line)
    }

    /// For `systemctl status`: no position, nothing that changes with each point.
    private var statusLine: String {
        let line = "\(agent.service.entity): \(agent.report().reason)"
        return socket?.obstacle.map { "\(line); no control socket: \($0)" } ?? line
    }

    // MARK: Signals

    private func signal(_ number: Int32) {
        switch number {
        case SIGTERM, SIGINT: stop()
        case SIGHUP: reload()
        case SIGUSR1: agent.reconnectNow()
        default: break
        }
    }

    private func reload() {
        guard !isStopping else { return }
        notifier.reloading()
        // A disk or a key's token may hang: systemd is not kept waiting for it.
        let limit = loop.assumeIsolated().scheduleTask(in: Self.reloadLimit) { [self] in
            guard !isStopping else { return }
            log.warning("Configuration and certificates are still being read, the old ones stay in force until then")
            notifier.ready()
        }
        ConfigurationThread.read(configurationPath, on: loop).assumeIsolated()
            .flatMap { [self] new in agent.reload(new) }
            .whenComplete { [self] result in
                limit.cancel()
                reloaded(result)
            }
    }

    private func reloaded(_ result: Result<[String], any Error>) {
        guard !isStopping else { return }
        switch result {
        case .success(let kept):
            log.notice(
                "The configuration was read anew",
                metadata: .event(
                    .configurationReloaded,
                    ["needs_restart": "\(kept.isEmpty ? "nothing" : kept.joined(separator: ", "))"]))
        case .failure(let error):
            log.error(
                "The configuration is refused, and the old one stays in force",
                metadata: .event(.configurationRefused, ["reason": "\(error)"]))
        }
        notifier.ready()
    }

    private func stop() {
        guard !isStopping else { return }
        isStopping = true
        notifier.stopping()
        log.notice("The agent stops", metadata: .event(.programStopping))
        watchdog?.cancel()
        memoryReturn?.cancel()
        leftOutLines?.cancel()
        network?.stop()
        let limit = loop.assumeIsolated().scheduleTask(in: Self.stopLimit) { [self] in
            // The disk hangs: what was synchronised is safe, waiting longer would not save more.
            finished.succeed()
        }
        let silent = metrics?.stop() ?? loop.makeSucceededVoidFuture()
        let closed = socket?.close() ?? loop.makeSucceededVoidFuture()
        closed.assumeIsolated()
            .whenComplete { [self] _ in
                agent.shutDown().and(silent).assumeIsolated().whenComplete { [self] _ in
                    limit.cancel()
                    finished.succeed()
                }
            }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}

enum GroupDatabase {
    /// The number of a group; nil when there is none of this name.
    static func identifier(of name: String) -> UInt32? {
        getgrnam(name)?.pointee.gr_gid
    }
}

/// The control socket of the process. While something is in its way, the agent tracks without it and tries again.
///
/// May touch: the Varlink server, one timer, the journal.
final class ControlSocket {
    /// Between two tries.
    private static let interval = TimeAmount.seconds(5)

    private let options: VarlinkServer.Options
    private let interfaces: [any VarlinkInterface]
    private let log: Logger
    private let loop: any EventLoop
    private let changed: () -> Void
    private var server: VarlinkServer?
    private var timer: Scheduled<Void>?
    private var isClosed = false
    /// What is in the way; nil when the socket is open, and before the first try has ended.
    private(set) var obstacle: String?

    /// `changed` is called when ``obstacle`` is another.
    init(
        _ options: VarlinkServer.Options, _ interfaces: [any VarlinkInterface], log: Logger, loop: any EventLoop,
        changed: @escaping () -> Void
    ) {
        self.options = options
        self.interfaces = interfaces
        self.log = log
        self.loop = loop
        self.changed = changed
    }

    var isOpen: Bool { server != nil }

    /// Completes when the first try has ended, one way or the other.
    func open() -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        VarlinkServer.start(options, interfaces: interfaces, on: loop).assumeIsolated().whenComplete { [self] result in
            switch result {
            case .success(let server): opened(server)
            case .failure(let error): refused("\(error)")
            }
            promise.succeed()
        }
        return promise.futureResult
    }

    private func opened(_ server: VarlinkServer) {
        guard !isClosed else {
            _ = server.close()
            return
        }
        self.server = server
        guard obstacle != nil else { return }
        obstacle = nil
        log.notice("The control socket is open", metadata: .event(.controlSocketOpened, ["socket": "\(options.path)"]))
        changed()
    }

    private func refused(_ reason: String) {
        guard !isClosed else { return }
        timer = loop.assumeIsolated().scheduleTask(in: Self.interval) { [self] in _ = open() }
        guard reason != obstacle else { return }
        obstacle = reason
        log.error(
            "The control socket cannot be opened, and the agent tracks without it",
            metadata: .event(.controlSocketFailed, ["reason": "\(reason)"]))
        changed()
    }

    /// Completes when no client is connected any more and the socket's file is gone.
    func close() -> EventLoopFuture<Void> {
        isClosed = true
        timer?.cancel()
        return server?.close() ?? loop.makeSucceededVoidFuture()
    }
}

/// Reads the configuration and the files that it names on a thread beside the loop: their disk may hang.
enum ConfigurationThread {
    private static let files = DispatchQueue(label: "io.saker.configuration")

    /// Completes on the loop. One reading follows the other.
    static func read(_ path: String, on loop: any EventLoop) -> EventLoopFuture<AgentConfiguration> {
        let promise = loop.makePromise(of: AgentConfiguration.self)
        files.async {
            promise.completeWith(Result { try AgentConfiguration.load(path: path) })
        }
        return promise.futureResult
    }
}
