import ArgumentParser
import ConfigurationFile
import Logging
import ServerRuntime
import Systemd
import Terminal

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
