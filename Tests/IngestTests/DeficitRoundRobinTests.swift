import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Ingest

@Suite struct DeficitRoundRobinTests {
    private struct Item: Hashable {
        let sender: Int
        let number: Int
    }

    private typealias Queue = DeficitRoundRobin<Int, Item>

    private func limits(items: Int = 1000, bytes: Int = .max, rows: Int = 1000) -> Queue.Limits {
        Queue.Limits(items: items, bytes: bytes, rows: rows)
    }

    private func queue(_ counts: [Int]) -> Queue {
        var queue = Queue()
        for (sender, count) in counts.enumerated() {
            for number in 0..<count { queue.add(Item(sender: sender, number: number), of: sender) }
        }
        return queue
    }

    @Test func sendersTakeTurnsAndKeepTheirOrder() {
        var queue = queue([5, 1, 2])
        let group = queue.take(limits(items: 5)) { _ in 1 }
        #expect(group.map(\.sender) == [0, 1, 2, 0, 2])
        let rest = queue.take(limits(items: 5)) { _ in 1 }
        #expect(rest == [2, 3, 4].map { Item(sender: 0, number: $0) })
        #expect(queue.count == 0)
        #expect(queue.take(limits()) { _ in 1 }.isEmpty)
    }

    @Test func whoMadeMuchWaitsBehindThoseWhoMadeLittle() {
        var queue = queue([3, 3])
        _ = queue.take(limits(items: 2)) { _ in 1 }
        queue.charge(0, rows: 600, items: 1)
        queue.charge(1, rows: 3, items: 1)
        #expect(queue.take(limits()) { _ in 1 }.map(\.sender) == [1, 1])
        // Whoever waits alone has every turn, whatever it owes.
        #expect(queue.take(limits()) { _ in 1 }.map(\.sender) == [0])
        #expect(queue.take(limits()) { _ in 1 }.map(\.sender) == [0])
    }

    @Test func aDebtEndsWithTheTurnsOfOthers() {
        var queue = queue([2])
        _ = queue.take(limits(items: 1)) { _ in 1 }
        queue.charge(0, rows: Queue.usual + 3 * Queue.forgiven, items: 1)
        for number in 0..<3 {
            queue.add(Item(sender: 1, number: number), of: 1)
            #expect(queue.take(limits()) { _ in 1 }.map(\.sender) == [1])
        }
        queue.add(Item(sender: 1, number: 3), of: 1)
        #expect(Set(queue.take(limits()) { _ in 1 }.map(\.sender)) == [0, 1])
    }

    @Test func aSenderWithoutItemsKeepsItsDebt() {
        var queue = queue([1])
        _ = queue.take(limits()) { _ in 1 }
        queue.charge(0, rows: 5000, items: 1)
        queue.add(Item(sender: 0, number: 1), of: 0)
        queue.add(Item(sender: 1, number: 0), of: 1)
        #expect(queue.take(limits()) { _ in 1 }.map(\.sender) == [1])
    }

    @Test func aGroupHasNoMoreRowsThanExpected() {
        var queue = queue([4])
        _ = queue.take(limits(items: 1)) { _ in 1 }
        queue.charge(0, rows: 600, items: 1)
        #expect(queue.take(limits()) { _ in 1 }.count == 1)
        queue.charge(0, rows: 400, items: 1)
        #expect(queue.take(limits()) { _ in 1 }.count == 2)
    }

    @Test func whatIsPutBackComesFirstOfItsSenderAndAfterOthers() {
        var queue = queue([4])
        let group = queue.take(limits(items: 2)) { _ in 1 }
        queue.putBack(group, of: 0, rows: 10)
        queue.add(Item(sender: 1, number: 0), of: 1)
        #expect(queue.take(limits()) { _ in 1 }.map(\.sender) == [1])
        #expect(queue.take(limits()) { _ in 1 }.map(\.number) == [0, 1, 2, 3])
    }

    /// An oracle that knows only lists: nothing is lost or twice, each sender's order stays, a sender that never owes anything is
    /// never passed over by one that does.
    @Test func randomHistories() {
        let seed = UInt64.random(in: .min ... .max)
        var dice = SplitMix(state: seed)
        var queue = Queue()
        var waiting: [Int: [Int]] = [:]
        var (added, owes) = ([Int: Int](), [Int: Int]())
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<4, using: &dice) {
            case 0, 1:
                let sender = Int.random(in: 0..<6, using: &dice)
                let number = added[sender, default: 0]
                added[sender] = number + 1
                waiting[sender, default: []].append(number)
                queue.add(Item(sender: sender, number: number), of: sender)
            case 2:
                let most = Int.random(in: 1...5, using: &dice)
                let group = queue.take(limits(items: most)) { _ in 1 }
                #expect(group.isEmpty == waiting.values.allSatisfy(\.isEmpty), "seed \(seed)")
                #expect(group.count <= most, "seed \(seed)")
                for (sender, items) in Dictionary(grouping: group, by: \.sender) {
                    #expect(
                        waiting[sender]?.prefix(items.count).elementsEqual(items.map(\.number)) ?? false, "seed \(seed)"
                    )
                    waiting[sender]?.removeFirst(items.count)
                    if Bool.random(using: &dice) {
                        queue.putBack(items, of: sender, rows: 5)
                        waiting[sender] = items.map(\.number) + (waiting[sender] ?? [])
                    } else {
                        // Two of them make much.
                        let rows = sender < 2 ? 3000 : 5
                        queue.charge(sender, rows: rows, items: items.count)
                        owes[sender, default: 0] += rows
                    }
                }
            default:
                let number = Int.random(in: 0..<100, using: &dice)
                let removed = queue.remove { $0.number % 100 == number }
                for item in removed { waiting[item.sender]?.removeAll { $0 == item.number } }
            }
            #expect(queue.count == waiting.values.reduce(0) { $0 + $1.count }, "seed \(seed)")
        }
    }
}

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
