import NIOCore
import Testing

@testable import WebListener

@Suite struct ConnectionTimeoutsTests {
    private static let limits = ConnectionTimeouts.Limits(
        client: .seconds(30), answer: .seconds(120), parting: .seconds(5), requestsAhead: 3)

    private func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(1) + .seconds(seconds) }

    private func watch() -> ConnectionTimeouts { ConnectionTimeouts(Self.limits, at: at(0)) }

    @Test func whoNeverAsksIsClosed() {
        let watch = watch()
        #expect(watch.deadline == at(30))
        #expect(watch.check(at: at(29)) == nil)
        #expect(watch.check(at: at(30)) == .close(.time))
    }

    @Test func eachPartOfARequestHasItsTime() {
        var watch = watch()
        #expect(watch.head(at: at(20)) == nil)
        #expect(watch.wait == .body && watch.deadline == at(50))
        #expect(watch.check(at: at(50)) == .refuse(.time))
        watch.end(at: at(40))
        #expect(watch.wait == .answer && watch.deadline == at(160))
        #expect(watch.check(at: at(160)) == .close(.answer))
        watch.wrote(at: at(50))
        watch.answered(at: at(50))
        watch.took(at: at(51))
        #expect(watch.wait == .request && watch.deadline == at(80))
    }

    /// However many requests come: the answers that nobody takes have their own time.
    @Test func theTimeToTakeAnAnswerRunsWhateverElseComes() {
        var watch = watch()
        for second in 0..<3 {
            _ = watch.head(at: at(Int64(second)))
            watch.end(at: at(Int64(second)))
        }
        watch.wrote(at: at(4))
        watch.answered(at: at(4))
        watch.wrote(at: at(10))
        #expect(watch.deadline == at(34))
        _ = watch.head(at: at(30))
        watch.end(at: at(30))
        #expect(watch.check(at: at(34)) == .close(.time))
        watch.took(at: at(33))
        #expect(watch.check(at: at(34)) == nil)
        #expect(watch.deadline == at(63))
    }

    @Test func aLongAnswerHasAllTheTimeThatItsPiecesNeed() {
        var watch = watch()
        _ = watch.head(at: at(0))
        watch.end(at: at(0))
        for piece in 0..<20 {
            watch.wrote(at: at(Int64(piece) * 20))
            watch.took(at: at(Int64(piece) * 20 + 19))
        }
        #expect(watch.check(at: at(400)) == nil)
        #expect(watch.check(at: at(600)) == .close(.answer))
    }

    @Test func requestsAheadOfTheirAnswersAreCounted() {
        var watch = watch()
        for _ in 0..<3 {
            #expect(watch.head(at: at(1)) == nil)
            watch.end(at: at(1))
        }
        var answered = watch
        #expect(watch.head(at: at(1)) == .close(.pipelining))
        answered.wrote(at: at(2))
        answered.answered(at: at(2))
        #expect(answered.head(at: at(2)) == nil)
    }

    @Test func theBodyOfALaterRequestHasItsTimeWhenItsTurnComes() {
        var watch = watch()
        _ = watch.head(at: at(0))
        watch.end(at: at(0))
        _ = watch.head(at: at(1))
        #expect(watch.wait == .answer)
        watch.wrote(at: at(20))
        watch.answered(at: at(20))
        watch.took(at: at(20))
        #expect(watch.wait == .body && watch.deadline == at(50))
        watch.end(at: at(30))
        #expect(watch.wait == .answer)
    }

    @Test func aBodyThatIsNotWantedHasItsTimeToo() {
        var watch = watch()
        _ = watch.head(at: at(0))
        watch.wrote(at: at(1))
        watch.answered(at: at(1))
        watch.took(at: at(1))
        #expect(watch.wait == .rest && !watch.isComplete)
        #expect(watch.check(at: at(31)) == .close(.time))
        watch.end(at: at(20))
        #expect(watch.wait == .request && watch.isComplete)
    }

    @Test func aRefusalIsSaidOnlyWhereItIsAnAnswer() {
        var watch = watch()
        #expect(watch.giveUp(.memory) == .close(.memory))
        _ = watch.head(at: at(0))
        #expect(watch.giveUp(.memory) == .refuse(.memory))
        var begun = watch
        begun.wrote(at: at(1))
        #expect(begun.giveUp(.memory) == .close(.memory))
        var complete = watch
        complete.end(at: at(1))
        #expect(complete.giveUp(.replaced) == .close(.replaced))
        watch.refused(at: at(2))
        #expect(watch.isOver && watch.deadline == at(7))
        #expect(watch.check(at: at(7)) == .close(.time))
    }
}

@Suite struct MemoryBudgetTests {
    @Test func whoHoldsMostGivesUp() {
        var budget = MemoryBudget<Int>(100)
        #expect(budget.take(60, for: 1, from: "1").isEmpty)
        #expect(budget.take(40, for: 2, from: "2").isEmpty)
        #expect(budget.take(1, for: 3, from: "3") == [1])
        #expect(budget.total == 41)
        #expect(budget.take(60, for: 3, from: "3") == [3])
        #expect(budget.total == 40)
    }

    @Test func oneThatAsksForMoreThanThereIsTakesOthersAlongOnlyWhenTheyHoldMore() {
        var budget = MemoryBudget<Int>(100)
        _ = budget.take(30, for: 1, from: "1")
        #expect(budget.take(200, for: 2, from: "2") == [2])
        #expect(budget.bytes(of: 1) == 30 && budget.bytes(of: 2) == 0)
    }

    @Test func whatIsGivenBackIsFree() {
        var budget = MemoryBudget<Int>(100)
        _ = budget.take(60, for: 1, from: "1")
        budget.giveBack(50, of: 1)
        #expect(budget.total == 10)
        // Never more than is held.
        budget.giveBack(50, of: 1)
        budget.giveBack(50, of: 2)
        #expect(budget.total == 0)
        _ = budget.take(60, for: 1, from: "1")
        #expect(budget.giveBackAll(of: 1) == 60)
        #expect(budget.giveBackAll(of: 1) == 0)
    }

    /// Each holds less than who comes from elsewhere.
    @Test func manySmallOnesOfOneAddressKeepNobodyElseOut() {
        var budget = MemoryBudget<Int>(1000)
        for id in 1...100 { #expect(budget.take(10, for: id, from: "a").isEmpty) }
        for step in 1...40 {
            let victims = budget.take(10, for: 500, from: "b")
            #expect(victims.count == 1 && victims.allSatisfy { $0 <= 100 }, "step \(step)")
        }
        #expect(budget.bytes(of: 500) == 400)
        // Over half of all, it is the one that holds most.
        for _ in 1...11 { _ = budget.take(10, for: 500, from: "b") }
        #expect(budget.bytes(of: 500) == 0)
        #expect(budget.total == 500)
    }
}
