import Testing

@testable import WebListener

@Suite struct MemoryBudgetTests {
    @Test func whoHoldsMostGivesUp() {
        var budget = MemoryBudget<Int>(100)
        #expect(budget.take(60, for: 1).isEmpty)
        #expect(budget.take(40, for: 2).isEmpty)
        #expect(budget.take(1, for: 3) == [1])
        #expect(budget.total == 41)
        #expect(budget.take(60, for: 3) == [3])
        #expect(budget.total == 40)
    }

    @Test func oneThatAsksForMoreThanThereIsTakesOthersAlongOnlyWhenTheyHoldMore() {
        var budget = MemoryBudget<Int>(100)
        _ = budget.take(30, for: 1)
        #expect(budget.take(200, for: 2) == [2])
        #expect(budget.bytes(of: 1) == 30 && budget.bytes(of: 2) == 0)
    }

    @Test func whatIsGivenBackIsFree() {
        var budget = MemoryBudget<Int>(100)
        _ = budget.take(60, for: 1)
        budget.giveBack(50, of: 1)
        #expect(budget.total == 10)
        // Never more than is held.
        budget.giveBack(50, of: 1)
        budget.giveBack(50, of: 2)
        #expect(budget.total == 0)
        _ = budget.take(60, for: 1)
        #expect(budget.giveBackAll(of: 1) == 60)
        #expect(budget.giveBackAll(of: 1) == 0)
    }
}
