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
        InterruptHandler.watch()
        if network != .proxy, let obstacle = NetworkNamespace.obstacle {
            if network == .namespaces { throw ValidationError("no network namespaces here: \(obstacle)") }
            say("No network namespaces here (\(obstacle)): the link is a TCP proxy.")
        }
    }
}

extension ChosenLink: ExpressibleByArgument {}

/// On Ctrl-C and SIGTERM, ends everything that the run started and removes its files before the program exits.
private enum InterruptHandler {
    private static let number = Atomic<Int32>(0)

    static func watch() {
        for signal in [SIGINT, SIGTERM] {
            Glibc.signal(signal) { InterruptHandler.number.store($0, ordering: .relaxed) }
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
