internal import ArgumentParser
internal import Foundation
internal import ProgramTestKit

struct SoakCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Cuts the link every few seconds for a long time; memory, descriptors and threads must not grow.")

    @OptionGroup var common: CommonOptions

    @Option(help: "How long, 1...480 minutes.")
    var minutes = 30

    func validate() throws {
        guard (1...480).contains(minutes) else { throw ValidationError("minutes is \(minutes); give 1...480") }
    }

    func run() throws {
        try common.begin()
        let seed = common.seed ?? UInt64.random(in: 0..<1 << 32)
        let link = try common.network.make(seed: seed)
        say("seed \(seed), \(minutes) minutes; the link is \(link.kind).")
        let outcome = try Soak(over: link).run(minutes: minutes, seed: seed) { say($0) }
        say("\n" + Self.row("", "2nd quarter", "last quarter", "allowed", ""))
        for check in outcome.checks {
            say(
                Self.row(
                    check.name + (check.unit.isEmpty ? "" : ", \(check.unit)"), "\(check.early)", "\(check.late)",
                    "\(check.early + check.tolerance)", check.isFlat ? "flat" : "GROWS"))
        }
        say(
            "medians of \(outcome.samples) samples; \(outcome.cuts) cuts; points taken \(outcome.taken),"
                + " stored \(outcome.stored)")
        for problem in outcome.problems { say("WRONG: \(problem)") }
        if let kept = outcome.kept { say("kept: \(kept)") }
        if !outcome.isGood { throw ExitCode(1) }
    }

    private static func row(_ name: String, _ figures: String...) -> String {
        name.padding(toLength: 30, withPad: " ", startingAt: 0)
            + figures.map { String(repeating: " ", count: max(14 - $0.count, 1)) + $0 }.joined()
    }
}
