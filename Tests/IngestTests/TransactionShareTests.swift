import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Ingest

@Suite struct TransactionShareTests {
    private func share(_ jobs: [(String, Int)], most: Int = 100) -> TransactionShare {
        TransactionShare(jobs.map { (vehicle($0.0), $0.1) }, most: most)
    }

    @Test func whatFitsIsStored() {
        let all = share([("a", 50), ("b", 0), ("a", 50)])
        #expect(all.now == [0, 1, 2])
        #expect(all.later.isEmpty)
    }

    @Test func whoMakesMuchWaits() {
        let some = share([("much", 90), ("a", 3), ("much", 1), ("b", 0), ("a", 30)])
        #expect(some.now == [1, 3, 4])
        #expect(some.later[vehicle("much")]?.jobs == [0, 2])
        #expect(some.later[vehicle("much")]?.rows == 45)
    }

    @Test func oneThatIsTooLargeIsAlone() {
        let one = share([("much", 900), ("much", 0), ("much", 5)])
        #expect(one.now == [0])
        #expect(one.later[vehicle("much")]?.jobs == [1, 2])
    }

    @Test func whatNobodyHasJudgedWaits() {
        let some = TransactionShare(
            [("much", 60), ("a", 3), ("much", 0), ("much", 0)].map { (vehicle($0.0), $0.1) }, left: [2, 3], most: 100)
        #expect(some.now == [0, 1])
        #expect(some.later[vehicle("much")]?.jobs == [2, 3])
        #expect(some.later[vehicle("much")]?.rows == 60)
    }

    @Test func randomGroups() {
        let seed = UInt64.random(in: .min ... .max)
        var dice = SplitMix(state: seed)
        for _ in 0..<2000 {
            let jobs = (0..<Int.random(in: 1...12, using: &dice)).map { _ in
                ("\(Int.random(in: 0..<4, using: &dice))", Int.random(in: 0...80, using: &dice))
            }
            let share = share(jobs)
            let waiting = share.later.values.flatMap(\.jobs)
            #expect(!share.now.isEmpty && (share.now + waiting).sorted() == Array(jobs.indices), "seed \(seed)")
            let rows = share.now.reduce(0) { $0 + jobs[$1].1 }
            #expect(rows <= 100 || share.now.count { jobs[$0].1 > 0 } == 1, "seed \(seed)")
            // No job of a sender is stored before an earlier one of it.
            for (sender, later) in share.later {
                #expect(share.now.allSatisfy { vehicle(jobs[$0].0) != sender || $0 < later.jobs[0] }, "seed \(seed)")
            }
        }
    }
}
