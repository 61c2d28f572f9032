import ArgumentParser
import FenceCommands
import Glibc
import ServerRuntime
import Terminal
import TrackModel

/// Arguments to an exit code: 0 done, 1 refused or failed, 2 wrong usage.
@main
enum Program {
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
            guard SakerServer.exitCode(for: error) != .success else { SakerServer.exit(withError: error) }
            complain(SakerServer.fullMessage(for: error), status: 2)
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
