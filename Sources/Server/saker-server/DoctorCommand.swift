import ArgumentParser
import Diagnosing
import Glibc
import JSON
import ServerRuntime
import Terminal

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
        if json {
            Output.print(json: list.json.description)
        } else {
            let lines = list.lines(
                ending: "Nothing keeps this server from its work.", width: TerminalSize.columns)
            for line in lines { Output.print(line) }
        }
        if list.hasFailure { Glibc.exit(1) }
    }
}
