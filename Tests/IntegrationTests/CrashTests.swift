import Foundation
import ProgramTestKit
import Testing

/// A few rounds of what `make crash` does for long. To repeat one, set `SAKER_SEED`.
@Suite(
    .serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python, .networkNamespaces, .smallDisks, .allRecordings))
struct CrashTests {
    private static let seeds: [UInt64] = {
        let given = ProcessInfo.processInfo.environment["SAKER_SEED"].flatMap(UInt64.init)
        let first = given ?? .random(in: 0..<1 << 32)
        return [first, first &+ 1, first &+ 2]
    }()

    @Test(arguments: seeds)
    func killsAndCutsLoseAndDoubleNothing(seed: UInt64) throws {
        let inputs = RecordedInput.all()
        let plan = CrashPlan(seed: seed, inputs: inputs.count, isShort: true, canFill: true)
        let link = try PacketLink(seed: seed)
        print("seed: SAKER_SEED=\(seed), \(link.kind): \(plan.steps.map(\.description).joined(separator: ", "))")
        let outcome = CrashRound.run(plan, inputs, over: link, isShort: true, canFill: true)
        #expect(outcome.problems == [], "seed \(seed), kept: \(outcome.kept ?? "nothing")")
        #expect(outcome.taken > 0 && outcome.stored >= outcome.taken)
    }
}
