internal import AgentControl
internal import AgentLogic
internal import ConfigurationFile
internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
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
            complain("sakerd: \(error)\nTry: sakerd --help")
            return 2
        }
        switch given.task {
        case .printHelp:
            print(Arguments.help)
            return 0
        case .printVersion:
            print("sakerd \(SakerVersion.text)")
            return 0
        case .run, .check, .printConfiguration: break
        }
        let configuration: AgentConfiguration
        do {
            // Without its access key the agent still gathers.
            configuration = try .load(path: given.configurationPath, needsSecrets: given.task != .run)
        } catch {
            complain("sakerd: the configuration cannot be used:\n\(error)")
            return 1
        }
        switch given.task {
        case .printConfiguration:
            print(configuration.effective.toml, terminator: "")
            return 0
        case .check:
            configuration.effective.warnings.forEach { complain("sakerd: \($0)") }
            if let obstacle = SecureConnector.obstacle(configuration.server) {
                complain("sakerd: the agent would keep points and make no connection:\n[server]: \(obstacle)")
                return 1
            }
            print("\(given.configurationPath) is right")
            return 0
        case .run, .printHelp, .printVersion: return run(configuration, path: given.configurationPath)
        }
    }

    private static func run(_ configuration: AgentConfiguration, path: String) -> Int32 {
        var log = Logger(label: "sakerd", factory: SystemLog.handlerFactory(identifier: "sakerd"))
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
                let session = AgentSession(opened, configurationPath: path, log: log, loop: loop)
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

    private static func complain(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
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
