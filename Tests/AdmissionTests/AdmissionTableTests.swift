import Admission
import Testing

@Suite struct AdmissionTableTests {
    private func table(_ connections: Int, perAddress: Int) -> AdmissionTable<Int> {
        AdmissionTable(.init(connections: connections, perAddress: perAddress))
    }

    @Test func upToItsLimitsEverybodyComesIn() {
        var table = table(3, perAddress: 2)
        #expect(table.enter(1, from: "a") == .admitted)
        #expect(table.enter(2, from: "a") == .admitted)
        #expect(table.enter(3, from: "b") == .admitted)
        #expect(table.count == 3)
    }

    @Test func theOldestStrangerOfTheAddressGoesForOneMoreOfIt() {
        var table = table(10, perAddress: 2)
        _ = table.enter(9, from: "b")
        _ = table.enter(1, from: "a")
        _ = table.enter(2, from: "a")
        #expect(table.enter(3, from: "a") == .replacing(1))
        #expect(table.enter(4, from: "a") == .replacing(2))
        #expect(table.count == 3)
    }

    @Test func theOldestStrangerOfAllGoesWhenThereIsNoRoom() {
        var table = table(2, perAddress: 2)
        _ = table.enter(1, from: "a")
        _ = table.enter(2, from: "b")
        #expect(table.enter(3, from: "c") == .replacing(1))
        // One that was replaced is not in anybody's way any more, and its end is no other's.
        table.leave(1)
        #expect(table.count == 2)
        #expect(table.enter(4, from: "a") == .replacing(2))
    }

    @Test func whoRestsGoesAfterEveryStrangerAndWhoIsBusyNever() {
        var table = table(3, perAddress: 3)
        for id in 1...3 { _ = table.enter(id, from: "a") }
        table.note(1, .busy)
        table.note(2, .resting)
        #expect(table.enter(4, from: "b") == .replacing(3))
        table.note(4, .busy)
        #expect(table.enter(5, from: "b") == .replacing(2))
        table.note(5, .busy)
        #expect(table.enter(6, from: "b") == .refused(.connections))
        #expect(table.count == 3)
        table.leave(5)
        #expect(table.enter(6, from: "b") == .admitted)
    }

    @Test func anAddressWhoseConnectionsAreBusyGetsNoOthersPlace() {
        var table = table(3, perAddress: 1)
        _ = table.enter(1, from: "a")
        table.note(1, .busy)
        _ = table.enter(2, from: "b")
        #expect(table.enter(3, from: "a") == .refused(.perAddress))
        #expect(table.count == 2)
    }

    @Test func theOrderIsThatOfTheLastChange() {
        var table = table(2, perAddress: 2)
        _ = table.enter(1, from: "a")
        _ = table.enter(2, from: "b")
        table.note(1, .busy)
        table.note(1, .resting)
        table.note(2, .resting)
        // The same once more changes nothing.
        table.note(1, .resting)
        #expect(table.enter(3, from: "c") == .replacing(1))
        // Nothing is known of one that has gone.
        table.note(1, .busy)
        #expect(table.count == 2)
    }
}
