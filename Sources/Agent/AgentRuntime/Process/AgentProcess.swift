internal import AgentControl
internal import AgentLogic
// For `sigset_t` too, which the headers of this library bring along.
internal import CLinux
internal import ConfigurationFile
internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import Systemd
internal import TrackModel
internal import Varlink

/// The program: reads its configuration, opens what it needs, runs the agent on the calling thread, stops in reverse.
///
/// Start order: signals, configuration, disk ring, control socket, agent, systemd's READY. A restart of the machine, an
/// ignition cut and SIGTERM all mean the same: what was told last is remembered and resumed.
package enum AgentProcess {
    /// Exit status: 0 stopped, 1 cannot run, 2 wrong usage.
    package static func main(_ arguments: some Sequence<String>) -> Int32 {
        let given: Arguments
        do {
            given = try Arguments(arguments)
        } catch {
            complain("sakerd: \(error)", "Try: sakerd --help")
            return 2
        }
        switch given.task {
        case .printHelp:
            print(Arguments.help)
            return 0
        case .printVersion:
            say("sakerd \(SakerVersion.text)")
            return 0
        case .run, .check, .printConfiguration: break
        }
        let configuration: AgentConfiguration
        do {
            // Without its access key the agent still gathers.
            configuration = try .load(path: given.configurationPath, needsSecrets: given.task != .run)
        } catch {
            complain(["sakerd: the configuration cannot be used:"] + error.problems.map(\.description))
            return 1
        }
        switch given.task {
        case .printConfiguration:
            configuration.effective.toml.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
                .forEach { say(String($0)) }
            return 0
        case .check:
            configuration.effective.warnings.forEach { complain("sakerd: \($0)") }
            if let obstacle = SecureConnector.obstacle(configuration.server) {
                complain("sakerd: the agent would keep points and make no connection:", "[server]: \(obstacle)")
                return 1
            }
            say("\(given.configurationPath) is right")
            return 0
        case .run, .printHelp, .printVersion: return run(configuration, path: given.configurationPath)
        }
    }

    private static func run(_ configuration: AgentConfiguration, path: String) -> Int32 {
        let budget = JournalBudget(clock: { MonotonicTime(NIODeadline.now()) })
        var log = Logger(label: "sakerd", factory: budget.bounding(SystemLog.handlerFactory(identifier: "sakerd")))
        log.logLevel = Logger.Level(configuration.logLevel)
        for warning in configuration.effective.warnings {
            log.warning(
                "A file with a secret is open to others",
                metadata: .event(.credentialWarning, ["warning": "\(warning)"]))
        }
        if let trouble = configuration.service.secretTrouble {
            log.error(
                "The access key or the app code cannot be used: points are kept, and no connection is made",
                metadata: .event(.credentialWarning, ["warning": "\(trouble)"]))
        }
        do {
            let opened = try OpenedAgent(configuration, log: log)
            var status: Int32 = 0
            MultiThreadedEventLoopGroup.withCurrentThreadAsEventLoop { loop in
                let session = AgentSession(opened, configurationPath: path, log: log, budget: budget, loop: loop)
                session.run().assumeIsolated().whenComplete { result in
                    if case .failure(let error) = result {
                        log.critical("The agent cannot run", metadata: ["error": "\(error)"])
                        status = 1
                    }
                    loop.shutdownGracefully { _ in }
                }
            }
            return status
        } catch {
            log.critical("The agent cannot run", metadata: ["error": "\(error)"])
            return 1
        }
    }

    private static func complain(_ lines: String...) { complain(lines) }

    /// Names and values come from outside: they control no terminal, and begin no line.
    private static func complain(_ lines: [String]) {
        for line in lines {
            var text = line.visible + "\n"
            text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
        }
    }

    private static func say(_ line: String) { print(line.visible) }
}

extension Logger.Level {
    init(_ level: AgentConfiguration.LogLevel) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }
}

/// What `sakerd` was asked on its command line. The agent does not carry an argument parser: it has four options.
package struct Arguments: Hashable, Sendable {
    package enum Task: Hashable, Sendable {
        case run
        /// Read the configuration, say what is wrong with it, do nothing.
        case check
        case printConfiguration
        case printVersion
        case printHelp
    }

    package var task = Task.run
    package var configurationPath = "/etc/saker/agent.toml"

    package static let help = """
        sakerd \(SakerVersion.text): follows this vehicle and uploads its track.

        USAGE: sakerd [--config FILE] [--check | --print-config | --version | --help]

          --config FILE    Configuration, default /etc/saker/agent.toml (`saker enroll` writes it).
          --check          Read the configuration, say everything that is wrong with it, and stop.
          --print-config   Print the configuration in force, secrets hidden, and stop.
          --version        Print the version and stop.

        Runs in the foreground; SIGTERM stops it, SIGHUP reads the configuration again, SIGUSR1 connects again at once.
        It is controlled with `saker`. Exit status: 0 stopped, 1 cannot run, 2 wrong usage.
        """

    /// A sentence that says what is wrong and what is known.
    package struct UsageError: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// Arguments without the program's name.
    package init(_ arguments: some Sequence<String>) throws(UsageError) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--config":
                guard let path = rest.popFirst() else { throw UsageError(description: "--config needs a file") }
                configurationPath = path
            case "--check": task = .check
            case "--print-config": task = .printConfiguration
            case "--version": task = .printVersion
            case "--help", "-h": task = .printHelp
            case _ where argument.hasPrefix("--config="):
                configurationPath = String(argument.dropFirst("--config=".count))
            default:
                throw UsageError(
                    description: "unknown argument '\(argument)'; known are --config, --check, --print-config, "
                        + "--version, --help")
            }
        }
        if configurationPath.isEmpty { throw UsageError(description: "--config needs a file") }
    }
}

/// Signals as events of the loop: the handler only writes the signal's number into a pipe, because a signal handler may
/// do little else.
final class SignalSource: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// What the agent acts on; everything else keeps its default.
    private static let handled = [SIGTERM, SIGINT, SIGHUP, SIGUSR1]
    /// The writing end of the pipe. Read by the handler; set before any is installed.
    private static let writingEnd = Atomic<Int32>(-1)

    private let onSignal: (Int32) -> Void

    private init(onSignal: @escaping (Int32) -> Void) {
        self.onSignal = onSignal
    }

    /// Delivers signals on the loop from now on; once in a process.
    ///
    /// SIGPIPE is ignored, so that a write to a peer that has gone away fails with an error.
    static func start(on loop: any EventLoop, _ onSignal: @escaping (Int32) -> Void) -> EventLoopFuture<Void> {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return loop.makeFailedFuture(IOError(errnoCode: errno, reason: "pipe")) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        writingEnd.store(ends[1], ordering: .sequentiallyConsistent)
        let handler = NIOLoopBound(SignalSource(onSignal: onSignal), eventLoop: loop)
        return NIOPipeBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(handler.value)
                }
            }
            .takingOwnershipOfDescriptor(input: ends[0])
            .map { _ in Self.install() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for number in unwrapInboundIn(data).readableBytesView { onSignal(Int32(number)) }
    }

    private static func install() {
        signal(SIGPIPE, SIG_IGN)
        for number in handled {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                // A full pipe holds thousands of signals that nobody took: this one would not matter.
                write(SignalSource.writingEnd.load(ordering: .relaxed), &byte, 1)
                errno = before
            }
            action.sa_flags = SA_RESTART
            sigaction(number, &action, nil)
        }
        // Whoever started this process may have blocked them, and a mask is inherited.
        var handledSet = sigset_t()
        sigemptyset(&handledSet)
        for number in handled { sigaddset(&handledSet, number) }
        pthread_sigmask(SIG_UNBLOCK, &handledSet, nil)
    }
}
