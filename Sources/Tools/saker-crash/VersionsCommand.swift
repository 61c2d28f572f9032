internal import ArgumentParser
internal import Foundation
internal import ProgramTestKit

struct VersionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions",
        abstract:
            "Runs these programs beside those of another version, through fences, kills and an outage. scripts/old-and-new runs it."
    )

    @Option(help: "The folder of the other version's sakerd, saker-server and saker.")
    var old: String

    func validate() throws {
        for name in ["sakerd", "saker-server", "saker"]
        where !FileManager.default.isExecutableFile(atPath: "\(old)/\(name)") {
            throw ValidationError("\(old)/\(name) is no program: build the other version first")
        }
    }

    func run() throws {
        var failed = 0
        for plan in VersionRound.Plan.all {
            let begin = ContinuousClock.now
            let outcome = VersionRound.run(plan, old: old)
            let time = Int(begin.duration(to: .now) / .seconds(1))
            say(
                "\(outcome.isGood ? "ok    " : "FAILED")  \(plan)  \(time) s: \(outcome.points) points, \(outcome.early) early alarms"
            )
            if outcome.hasServerFences == false { say("  without server fences: the server knows none") }
            if outcome.hasOwnFences == false { say("  without fences of the vehicle's own: the agent knows none") }
            for problem in outcome.problems { say("  WRONG: \(problem)") }
            if let kept = outcome.kept { say("  kept: \(kept)") }
            failed += outcome.isGood ? 0 : 1
        }
        if failed > 0 { throw ExitCode(1) }
    }
}
