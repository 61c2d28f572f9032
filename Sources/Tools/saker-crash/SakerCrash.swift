internal import ArgumentParser
internal import Foundation
internal import ProgramTestKit
internal import Synchronization

@main struct SakerCrash: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "saker-crash",
        abstract:
            "Kills the real programs and cuts their links at random, and counts lost points. scripts/crash runs it.",
        subcommands: [RoundsCommand.self, SoakCommand.self, VersionsCommand.self], defaultSubcommand: RoundsCommand.self
    )
}

/// The options of both commands.
struct CommonOptions: ParsableArguments {
    @Option(help: "Repeat the run with this seed.")
    var seed: UInt64?

    @Option(help: "The link: namespaces (root), proxy, or auto: namespaces where the machine has them.")
    var network = ChosenLink.auto

    /// Prepares for Ctrl-C, and prints which link the run uses.
    func begin() throws {
        Interruption.watch()
        if network != .proxy, let obstacle = NetworkNamespace.obstacle {
            if network == .namespaces { throw ValidationError("no network namespaces here: \(obstacle)") }
            say("No network namespaces here (\(obstacle)): the link is a TCP proxy.")
        }
    }
}

extension ChosenLink: ExpressibleByArgument {}

/// On Ctrl-C and SIGTERM, ends everything that the run started and removes its files before the program exits.
private enum Interruption {
    private static let number = Atomic<Int32>(0)

    static func watch() {
        for signal in [SIGINT, SIGTERM] {
            Glibc.signal(signal) { Interruption.number.store($0, ordering: .relaxed) }
        }
        Thread.detachNewThread {
            while number.load(ordering: .relaxed) == 0 { pause(milliseconds: 100) }
            Leftovers.clear()
            exit(128 + number.load(ordering: .relaxed))
        }
    }
}

/// Prints a line at once, even through a pipe.
func say(_ line: Any) {
    print(line)
    fflush(nil)
}
