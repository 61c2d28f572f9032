import AgentControl
import ArgumentParser
import Glibc
import JSON
import Terminal
import Varlink

/// `saker doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks everything that can keep this vehicle from being tracked, and says what to do.",
        discussion: """
            Checks the agent, its configuration, gpsd, receiver, fix and clock, the
            connection to the server, TLS, login, disk and permissions. Works without any
            of them, changes nothing, and ends within 15 seconds. With sudo it can read
            all files.

            Exit codes: 0 no check failed, 1 a check failed, 2 wrong usage, 3 the agent
            does not answer (the checks that do not need the agent are done).

            Examples:
              sudo saker doctor
              saker doctor --json | jq -r '.checks[].remedy // empty'
            """)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The agent's control socket (default: $SAKER_SOCKET, or \(AgentInterface.defaultSocketPath)).",
            valueName: "path"))
    var socket: String?

    @Option(name: .long, help: ArgumentHelp("The agent's configuration.", valueName: "file"))
    var config = ConfigurationProbe.systemPath

    @Flag(name: .long, help: "Print the checks as one line of JSON.")
    var json = false

    func validate() throws {
        guard !config.isEmpty else { throw ValidationError("--config needs a file") }
    }

    func run() async throws {
        let examination = Examination(socket: AgentOptions.path(socket), configurationPath: config)
        let diagnosis = Diagnosis(await examination.facts())
        if json {
            Output.print(json: diagnosis.json.description)
        } else {
            for line in diagnosis.lines(width: TerminalSize.columns) { Output.print(line) }
        }
        if diagnosis.exitCode != 0 { Glibc.exit(diagnosis.exitCode) }
    }
}
