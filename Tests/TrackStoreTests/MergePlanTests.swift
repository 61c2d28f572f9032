import Testing
import TrackStore
import TrackTestKit

@Suite struct MergePlanTests {
    private func chunk(_ id: Int64, _ first: Int64, _ last: Int64, _ count: Int, settled: Bool = false) -> ChunkOutline
    {
        ChunkOutline(id: id, firstTime: first, lastTime: last, count: count, isSettled: settled)
    }

    private func plan(_ chunks: [ChunkOutline]) -> MergePlan {
        MergePlan(chunks.sorted { ($0.firstTime, $0.id) < ($1.firstTime, $1.id) }) { _ in true }
    }

    @Test func neighboursAreJoinedUpToTheLargestChunk() {
        let chunks = (0..<10).map { chunk(Int64($0 + 1), Int64($0) * 10, Int64($0) * 10 + 9, 1000) }
        let plan = plan(chunks)
        #expect(plan.groups.map { $0.map(\.id) } == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]])
        #expect(plan.settled == [])
    }

    @Test func whatIsSettledIsTouchedOnlyForANeighbour() {
        let settled = (0..<4).map { chunk(Int64($0 + 1), Int64($0) * 10, Int64($0) * 10 + 9, 900, settled: true) }
        #expect(plan(settled).groups == [])
        #expect(plan(settled).settled == [])
        let more = settled + [chunk(5, 40, 49, 400)]
        #expect(plan(more).groups.map { $0.map(\.id) } == [[1, 2, 3, 4, 5]])
        let large = [chunk(1, 0, 9, 4000, settled: true), chunk(2, 10, 19, 600)]
        #expect(plan(large).groups == [])
        #expect(plan(large).settled == [2])
    }

    @Test func chunksThatOverlapAreTakenTogether() {
        let chunks = [
            chunk(1, 0, 99, 4096, settled: true), chunk(2, 100, 199, 4096, settled: true), chunk(3, 90, 110, 6),
        ]
        #expect(plan(chunks).groups.map { $0.map(\.id) } == [[1, 2, 3]])
    }

    @Test func farApartChunksAreNotJoined() {
        let week = ChunkLimits.span
        #expect(plan([chunk(1, 0, 9, 6), chunk(2, week, week, 6)]).groups.count == 1)
        #expect(plan([chunk(1, 0, 9, 6), chunk(2, week, week + 1, 6)]).groups == [])
        #expect(plan([chunk(1, .min, .min, 6), chunk(2, .max, .max, 6)]).settled == [1, 2])
    }

    /// The one rule that keeps "the later upload wins" true: nothing outside a group may stand between its members.
    @Test func randomPlansNeverChangeWhichUploadIsLater() {
        let seed = UInt64.random(in: .min ... .max)
        print("plan seed \(seed)")
        var random = SplitMix(state: seed)
        for _ in 0..<2000 {
            let width = Int64.random(in: 1...2000, using: &random)
            let chunks = (0..<Int.random(in: 1...60, using: &random)).map { index in
                let first = Int64.random(in: 0..<10_000, using: &random)
                let count = [1, 6, 511, 512, 2000, 4096].randomElement(using: &random) ?? 1
                return chunk(
                    Int64(index), first, first + Int64.random(in: 0..<width, using: &random), count,
                    settled: Bool.random(using: &random))
            }.sorted { ($0.firstTime, $0.id) < ($1.firstTime, $1.id) }
            let hidden = Int64.random(in: -1...10_000, using: &random)
            let plan = MergePlan(chunks) { $0.firstTime > hidden }
            var used: Set<Int64> = []
            for group in plan.groups {
                let ids = group.map(\.id)
                #expect(ids == ids.sorted() && group.count > 1 && group.contains { !$0.isSettled })
                #expect(group.allSatisfy { $0.firstTime > hidden })
                #expect(used.isDisjoint(with: ids))
                used.formUnion(ids)
                guard let least = ids.first, let greatest = ids.last else { continue }
                let first = group.map(\.firstTime).min() ?? 0
                let last = group.map(\.lastTime).max() ?? 0
                let between = chunks.filter {
                    !ids.contains($0.id) && $0.id > least && $0.id < greatest && $0.firstTime <= last
                        && $0.lastTime >= first
                }
                #expect(between == [], "seed \(seed)")
                #expect(group.reduce(0) { $0 + $1.count } <= MergePlan.overlappingPoints)
            }
            #expect(used.isDisjoint(with: plan.settled))
        }
    }
}
