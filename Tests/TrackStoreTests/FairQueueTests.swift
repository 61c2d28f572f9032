import Testing

@testable import TrackStore

@Suite struct FairQueueTests {
    @Test func whoHasMuchToDoWaitsBehindWhoHasLittle() {
        var turns = FairQueue<String, Int>()
        for job in 1...1000 { turns.add(job, of: "much") }
        #expect(turns.next() == 1)
        turns.add(-1, of: "little")
        turns.add(-2, of: "other")
        #expect((0..<4).map { _ in turns.next() } == [2, -1, -2, 3])
    }

    @Test func whoMayHaveNoTurnKeepsItsPlace() {
        var turns = FairQueue<String, Int>()
        turns.add(1, of: "barred")
        turns.add(2, of: "barred")
        turns.add(3, of: "other")
        turns.add(4, of: "other")
        #expect(turns.next { $0 != "barred" } == 3)
        #expect(turns.next { _ in false } == nil)
        #expect((0..<4).map { _ in turns.next() } == [1, 4, 2, nil])
        #expect(turns.isEmpty)
    }

    /// Against lists that are searched from their beginnings.
    @Test func everyOwnerHasItsTurn() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix(state: seed)
        var turns = FairQueue<Int, Int>()
        var waiting: [(owner: Int, jobs: [Int])] = []
        for job in 0..<20_000 {
            if Int.random(in: 0..<100, using: &generator) < (job / 2000 % 2 == 0 ? 60 : 40) {
                let owner = Int.random(in: 0..<5, using: &generator)
                turns.add(job, of: owner)
                if let index = waiting.firstIndex(where: { $0.owner == owner }) {
                    waiting[index].jobs.append(job)
                } else {
                    waiting.append((owner, [job]))
                }
            } else {
                var expected: Int?
                if !waiting.isEmpty {
                    var first = waiting.removeFirst()
                    expected = first.jobs.removeFirst()
                    if !first.jobs.isEmpty { waiting.append(first) }
                }
                guard turns.next() == expected else {
                    Issue.record("job \(job), seed \(seed)")
                    return
                }
            }
            #expect(turns.isEmpty == waiting.isEmpty)
        }
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }
}
