import ArgumentParser
import ConfigurationFile
import Diagnosing
import FenceCommands
import Glibc
import JSON
import Logging
import ServerRuntime
import Systemd
import Terminal
import TrackModel

/// Arguments to an exit code: 0 done, 1 refused or failed, 2 wrong usage.
@main
enum ServerProgram {
    static func main() async {
        // A pipe behind us that nobody reads any more must not end the process by a signal.
        signal(SIGPIPE, SIG_IGN)
        if let problem = UnknownCommand.problem(Array(CommandLine.arguments.dropFirst()), of: SakerServer.self) {
            complain(problem.printable, status: 2)
        }
        do {
            var command = try SakerServer.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as FenceCommandFailure {
            complain(error.description.printable, status: error.code == .usage ? 2 : 1)
        } catch let error as ServerError where error.code != .usage {
            complain(error.detail.printable + WorkingUser.remark(on: error.detail), status: 1)
        } catch let error as ServerError {
            complain(error.detail.printable + "\nSee 'saker-server --help'.", status: 2)
        } catch let code as ExitCode {
            // The command has said everything itself.
            exit(code.rawValue)
        } catch {
            // Help and version are no errors.
            guard SakerServer.exitCode(for: error) != .success else {
                Output.print(text: SakerServer.fullMessage(for: error))
                exit(0)
            }
            let arguments = Array(CommandLine.arguments.dropFirst())
            complain(UsageMessage.text(for: error, of: SakerServer.self, arguments), status: 2)
        }
    }

    private static func complain(_ message: String, status: Int32) -> Never {
        Output.complain(text: (message.hasPrefix("Error: ") ? "" : "saker-server: ") + message)
        exit(status)
    }
}

struct SakerServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "saker-server",
        abstract: "Stores the tracks of a fleet, and answers the Yingyan v3 Web API.",
        discussion: """
            Begin with `saker-server init`, then `saker-server serve`. Exit codes: 0 done, 1 refused or failed (the reason \
            on standard error), 2 wrong usage.
            """,
        version: "saker-server \(SakerVersion.text)",
        subcommands: [
            Serve.self, Initialize.self, Services.self, AccessKeys.self, Tokens.self, Devices.self, Entities.self,
            Columns.self,
            Certificates.self, Pushes.self, Fences.self, Districts.self, ImportTracks.self, Backups.self, Doctor.self,
        ],
        defaultSubcommand: Serve.self)
}

struct ConfigurationOption: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The configuration file. Default: the first of \(ServerConfiguration.usualPaths.joined(separator: ", ")).",
            valueName: "file"))
    var config: String?

    /// Reads the configuration. A command of root goes on as the user whose files the configuration names (``WorkingUser``).
    func load(for need: WorkingUser.Need = .store) throws -> ServerConfiguration {
        let configuration: ServerConfiguration
        do throws(ConfigurationError) {
            configuration = try ServerConfiguration.load(path: config)
        } catch {
            throw ServerError(.configuration, error.sentence)
        }
        try WorkingUser.take(for: need, configuration)
        return configuration
    }
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the server until SIGTERM or SIGINT.",
        discussion: "SIGHUP reads certificates and the log level again. Logs go to standard error, or to the journal.")

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Print the configuration in force as TOML, secrets hidden and defaults marked, and end.")
    var printConfig = false

    @Flag(help: "Check the configuration, the certificates and the store, and end.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "Write the ports in use as JSON into this file once all of them listen: {\"device\":7443,\"https\":8443}.",
            valueName: "file"))
    var portsFile: String?

    func run() async throws {
        let configuration = try file.load()
        if printConfig {
            Output.print(text: configuration.effective.toml)
            return
        }
        let threshold = LogThreshold(configuration.logLevel)
        let make = SystemLog.handlerFactory(identifier: "saker-server", level: .trace)
        LoggingSystem.bootstrap { AdjustableLogHandler(make($0), threshold: threshold) }
        let logger = Logger(label: "saker-server")
        for warning in configuration.effective.warnings {
            logger.warning("\(warning)", metadata: ["message_id": "\(MessageID.credentialWarning)"])
        }
        let runtime = ServerRuntime(
            configuration: configuration, portsFile: portsFile, notifier: .takingEnvironment(), threshold: threshold,
            logger: logger)
        guard check else { return try await runtime.run() }
        try await runtime.check()
        Output.print("\(configuration.effective.path) is sound.")
    }
}

/// `saker-server doctor`
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check everything that can keep this server from its work, and say what to do.",
        discussion: """
            Checks the configuration, certificates, disk, store, ports, clock, road engine and the URLs for alarms. Needs no \
            running server, and changes nothing. It writes and removes one small file beside the store, and sends each URL \
            the check that fence/seturl sends. With sudo it can read all files. Exit codes: 0 no check failed, 1 a check \
            failed, 2 wrong usage.
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The configuration file. Default: the first of \(ServerConfiguration.usualPaths.joined(separator: ", ")).",
            valueName: "file"))
    var config: String?

    @Flag(help: "Print the checks as one line of JSON.")
    var json = false

    func run() async throws {
        let list = await ServerDoctor(configuration: config, beforeStore: WorkingUser.takeForStore).examine()
        list.show(asJSON: json)
        if list.exitCode != 0 { Glibc.exit(list.exitCode) }
    }
}
