import ArgumentParser
import FenceCommands
import Glibc
import Terminal
import TrackModel

/// The command line of Saker.
struct Saker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "saker",
        abstract: "Controls the tracking agent of this vehicle, and reads tracks from the server.",
        discussion: """
            On the vehicle:
              saker status                  is the vehicle tracked, and if not, why not
              sudo saker doctor             checks everything, and says what to do
              saker watch                   shows events as they happen
              saker alarms                  shows the alarms and messages of the last days
              saker fence list              shows the vehicle's own fences
              saker service start           logs in and uploads
              saker gather start            makes track points
              sudo saker enroll -           sets this vehicle up with a line from the server
              sudo saker renew              gets the next certificate of this vehicle, when it is time

            Anywhere:
              saker track latest van_07     where the vehicle is
              saker track history van_07 --from '2h ago'
              saker call track/getlatestpoint

            Exit codes: 0 done, 1 refused or failed (the reason is on standard error),
            2 wrong usage, 3 the agent or the server cannot be reached.
            """,
        version: "saker \(SakerVersion.text)",
        groupedSubcommands: [
            CommandGroup(
                name: "The agent of this vehicle:",
                subcommands: [
                    StatusCommand.self, DoctorCommand.self, WatchCommand.self, ServiceCommand.self, GatherCommand.self,
                    SettingsCommand.self, AttributesCommand.self, CacheCommand.self, PointCommand.self,
                    ReconnectCommand.self,
                    EnrollCommand.self, RenewCommand.self, ImageCommand.self, AlarmsCommand.self, FenceCommand.self,
                ]),
            CommandGroup(name: "The server:", subcommands: [TrackCommand.self, EntityCommand.self, CallCommand.self]),
        ])
}

/// The command line as a program: runs the command and ends with an exit code: 0 done, 1 refused or failed, 2 wrong usage,
/// 3 unreachable.
package enum SakerProcess {
    /// Started under a name that is neither of the two.
    package static func refuse(name: String) -> Never {
        Output.complain(
            "saker: started as '\(name)'. The program is the agent under the name sakerd, and the command line under the name "
                + "saker. Start it under one of these names, or through a link with such a name.")
        exit(2)
    }

    package static func main() async -> Never {
        if let problem = UnknownCommand.problem(Array(CommandLine.arguments.dropFirst()), of: Saker.self) {
            Output.complain("saker: \(problem)")
            exit(CommandFailure.Code.usage.rawValue)
        }
        do {
            var command = try Saker.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            exit(0)
        } catch let failure as FenceCommandFailure {
            Output.complain("saker: \(failure)")
            exit(failure.code == .usage ? 2 : 1)
        } catch let failure as CommandFailure {
            Output.complain("saker: \(failure)")
            exit(failure.code.rawValue)
        } catch {
            let arguments = Array(CommandLine.arguments.dropFirst())
            let message = UsageMessage.text(for: error, of: Saker.self, arguments)
            // Help and version are asked for by throwing, too.
            if Saker.exitCode(for: error) == .success {
                Output.print(text: message)
                exit(0)
            }
            Output.complain(text: message)
            exit(Saker.exitCode(for: error) == .validationFailure ? 2 : 1)
        }
    }
}

/// Why a command failed: a sentence for the person, and the exit code.
struct CommandFailure: Error, Hashable, CustomStringConvertible {
    enum Code: Int32, Hashable {
        /// The agent or the server refused, or the command failed.
        case failed = 1
        /// The command line is wrong.
        case usage = 2
        /// The agent or server cannot be reached.
        case unreachable = 3
    }

    let code: Code
    let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension TimeExpression {
    /// A time among the arguments, in milliseconds since 1970.
    static func milliseconds(_ text: String, _ option: String, now: Int64) throws(CommandFailure) -> Int64 {
        guard let time = TimeExpression(text, now: now) else {
            throw CommandFailure(.usage, TimeArgument.refusal(of: text, option))
        }
        return time.milliseconds
    }
}
