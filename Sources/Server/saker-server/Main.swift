import ArgumentParser
import Glibc
import ServerRuntime
import TrackModel

/// Arguments to an exit code: 0 done, 1 refused or failed, 2 wrong usage.
@main
enum Program {
    static func main() async {
        // A pipe behind us that nobody reads any more must not end the process by a signal.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try SakerServer.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as ServerError where error.code != .usage {
            complain(error.detail, status: 1)
        } catch let error as ServerError {
            complain(error.detail + "\nSee 'saker-server --help'.", status: 2)
        } catch {
            // Help and version are no errors.
            guard SakerServer.exitCode(for: error) != .success else { SakerServer.exit(withError: error) }
            complain(SakerServer.fullMessage(for: error), status: 2)
        }
    }

    private static func complain(_ message: String, status: Int32) -> Never {
        let line = Array(((message.hasPrefix("Error: ") ? "" : "saker-server: ") + message + "\n").utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
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
            Serve.self, Initialize.self, Services.self, AccessKeys.self, Tokens.self, Devices.self, Columns.self,
            Certificates.self, Pushes.self, Fences.self, Districts.self, ImportTracks.self, Backups.self, Doctor.self,
        ],
        defaultSubcommand: Serve.self)
}

func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(2, width - text.count))
}
