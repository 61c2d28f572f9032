import Glibc
import Testing
import TrackTestKit

@testable import TrackCache

/// Random histories: faults, power cuts, lost answers, clears, bounds. To repeat one, set `SAKER_TEST_SEED`.
@Suite struct VoyageTests {
    private static var seeds: [UInt64] {
        if let text = getenv("SAKER_TEST_SEED"), let seed = UInt64(String(cString: text)) { return [seed] }
        let count = getenv("SAKER_TEST_SEEDS").flatMap { Int(String(cString: $0)) } ?? 200
        return (0..<count).map { UInt64($0) }
    }

    @Test func nothingIsLostTwiceStoredOrRevivedWhateverTheDiskDoes() throws {
        for seed in Self.seeds {
            var voyage = try Voyage(seed: seed)
            for _ in 0..<150 where voyage.problems.isEmpty { try voyage.step() }
            if voyage.problems.isEmpty { voyage.arrive() }
            #expect(voyage.problems.isEmpty, "seed \(seed): \(voyage.problems.prefix(5))")
        }
    }
}
