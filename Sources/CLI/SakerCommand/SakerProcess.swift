import ArgumentParser
import FenceCommands
import Glibc
import Terminal

/// The command line as a program: runs the command and ends with an exit code: 0 done, 1 refused or failed, 2 wrong usage,
/// 3 unreachable.
package enum SakerProcess {
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
            let message = Saker.fullMessage(for: error)
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
