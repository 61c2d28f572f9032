internal import ArgumentParser
internal import Foundation
internal import ProgramTestKit

struct RoundsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rounds",
        abstract: "Kills programs and cuts links; checks that every point is stored once and in order.")

    @OptionGroup var common: CommonOptions

    @Option(help: "How many rounds, each with a seed of its own.")
    var rounds = 100

    @Flag(help: "Leave out steps that make the agent wait the 21 s after which it notices a dead link.")
    var short = false

    func validate() throws {
        guard (1...1_000_000).contains(rounds) else { throw ValidationError("rounds is \(rounds); give 1...1000000") }
    }

    func run() throws {
        try common.begin()
        let inputs = RecordedInput.all()
        if Need.allRecordings.obstacle != nil { say("No recordings beside the repository: the drive is made up.") }
        let canFill = Self.canFill()
        if !canFill { say("Mounting is not permitted here: no round fills a disk.") }
        let first = common.seed ?? UInt64.random(in: 0..<1 << 32)
        var totals = Totals()
        for round in 0..<rounds {
            let seed = first &+ UInt64(round)
            let plan = CrashPlan(seed: seed, inputs: inputs.count, isShort: short, canFill: canFill)
            let link = try common.network.make(seed: seed)
            if round == 0 { say("The link is \(link.kind).") }
            let begin = ContinuousClock.now
            let outcome = CrashRound.run(plan, inputs, over: link, isShort: short, canFill: canFill)
            let time = Int(begin.duration(to: .now) / .seconds(1))
            totals.add(outcome)
            say("round \(round + 1)  seed \(seed)  \(time) s  \(outcome.input)")
            say("  " + plan.steps.filter { !$0.isDriving }.map { "\($0)" }.joined(separator: ", "))
            say(
                "  taken \(outcome.taken), stored \(outcome.stored), lost \(outcome.lost.count),"
                    + " doubled \(outcome.doubled)")
            if !outcome.isGood {
                for problem in outcome.problems { say("  WRONG: \(problem)") }
                say("  kept: \(outcome.kept ?? "nothing")")
                say("  again: scripts/crash --rounds 1 --seed \(seed)\(short ? " --short" : "")")
            }
        }
        say(totals)
        if totals.failed > 0 { throw ExitCode(1) }
    }

    private static func canFill() -> Bool {
        guard let directory = try? TemporaryDirectory() else { return false }
        return (try? SmallDisk(over: directory.file("disk"), megabytes: 1)) != nil
    }
}

private struct Totals: CustomStringConvertible {
    var rounds = 0
    var failed = 0
    var kills = 0
    var cuts = 0
    var points = 0
    var lost = 0
    var doubled = 0

    mutating func add(_ outcome: CrashRound.Outcome) {
        rounds += 1
        failed += outcome.isGood ? 0 : 1
        kills += outcome.kills
        cuts += outcome.cuts
        points += outcome.stored
        lost += outcome.lost.count
        doubled += outcome.doubled
    }

    var description: String {
        "rounds \(rounds), failed \(failed), kills \(kills), cuts \(cuts), points \(points), lost \(lost), doubled \(doubled)"
    }
}

extension CrashPlan.Step {
    fileprivate var isDriving: Bool { if case .drive = self { true } else { false } }
}
