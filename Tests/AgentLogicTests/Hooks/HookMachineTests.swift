import Testing

@testable import AgentLogic

@Suite struct HookMachineTests {
    private func run(_ number: UInt64) -> HookMachine.RunID { .init(rawValue: number) }

    @Test func theHooksOfAnEventRunBesideEachOtherAndThenItIsFinished() {
        var machine = HookMachine()
        #expect(machine.happened(1, alarm: 9).actions == [.list(1)])
        #expect(
            machine.listed(1, ["a", "b"]) == [.run(run(1), hook: "a", event: 1), .run(run(2), hook: "b", event: 1)])
        #expect(machine.ended(run(2), isFailure: true) == [])
        #expect(machine.ended(run(1), isFailure: false) == [.finished(1, alarm: 9)])
        #expect(machine.ended(run(1), isFailure: false) == [])
        #expect(machine.eventCount == 0)
        #expect(machine.counters.started == 2)
        #expect(machine.counters.failed == 1)
    }

    @Test func withoutHooksAnEventIsFinishedAtOnce() {
        var machine = HookMachine()
        _ = machine.happened(1)
        #expect(machine.listed(1, []) == [.finished(1, alarm: nil)])
        #expect(machine.listed(1, ["late"]) == [])
    }

    @Test func aHookTakesOneEventAfterTheOtherAndASlowOneHoldsUpNoOther() {
        var machine = HookMachine()
        #expect(machine.happened(1).actions == [.list(1)])
        #expect(machine.happened(2).actions == [])
        let first = machine.listed(1, ["fast", "slow"])
        #expect(first.contains(.list(2)))
        #expect(machine.listed(2, ["fast", "slow"]) == [])
        #expect(machine.ended(run(1), isFailure: false) == [.run(run(3), hook: "fast", event: 2)])
        #expect(machine.ended(run(3), isFailure: false) == [])
        // The slow hook ends: the first event is done, and it takes the second.
        #expect(
            machine.ended(run(2), isFailure: false) == [
                .run(run(4), hook: "slow", event: 2), .finished(1, alarm: nil),
            ])
    }

    /// Its hooks ran when it was told, before the disk took it.
    @Test func theHooksOfAnAlarmThatWasToldBeforeTheDiskHadItDoNotRunAgain() {
        var machine = HookMachine()
        #expect(machine.begin() == [.recall(limit: 32, without: [])])
        #expect(machine.settled(7) == [])
        // The journal was read before it knew that.
        #expect(
            machine.recalled([(event: 1, alarm: 6), (event: 2, alarm: 7), (event: 3, alarm: 8)], isAll: true)
                == [.finished(2, alarm: nil), .list(1)])
        #expect(machine.settled(8) == [.finished(3, alarm: nil)])
        // What has begun goes on.
        #expect(machine.settled(6) == [] && machine.eventCount == 1)
        #expect(machine.listed(1, []) == [.finished(1, alarm: 6)])
    }

    @Test func noMoreRunThanMay() {
        var limits = HookMachine.Limits()
        limits.running = 2
        var machine = HookMachine(limits: limits)
        _ = machine.happened(1)
        #expect(machine.listed(1, ["a", "b", "c"]).count == 2)
        #expect(machine.runningCount == 2)
        #expect(machine.ended(run(1), isFailure: false) == [.run(run(3), hook: "c", event: 1)])
    }

    @Test func whenTooMuchHappensAlarmsWaitInTheJournalAndOthersAreDropped() {
        var limits = HookMachine.Limits()
        limits.events = 4
        var machine = HookMachine(limits: limits)
        for id in 1...4 as ClosedRange<UInt64> { #expect(machine.happened(id, alarm: id * 10).isTaken) }
        #expect(!machine.happened(5, alarm: 50).isTaken)
        #expect(!machine.happened(6).isTaken)
        #expect(machine.counters.dropped == 1)
        #expect(!machine.listed(1, []).contains { if case .recall = $0 { true } else { false } })
        // Room, and still: no alarm overtakes the one in the journal.
        #expect(!machine.happened(7, alarm: 70).isTaken)
        #expect(machine.happened(8).isTaken)
        _ = machine.listed(2, [])
        #expect(machine.listed(3, []).contains(.recall(limit: 2, without: [40])))
        let actions = machine.recalled([(20, 50), (21, 70), (22, 40)], isAll: true)
        // 40 is in hand: its second event is forgotten.
        #expect(actions == [.finished(22, alarm: nil)])
        #expect(machine.eventCount == 4)
        #expect(machine.happened(23, alarm: 80).isTaken == false)
    }

    @Test func theBeginningFetchesWhatIsOwedUntilThereIsNoMore() {
        var limits = HookMachine.Limits()
        limits.events = 4
        var machine = HookMachine(limits: limits)
        #expect(machine.begin() == [.recall(limit: 2, without: [])])
        #expect(!machine.happened(1, alarm: 3).isTaken)
        #expect(
            machine.recalled([(10, 1), (11, 2)], isAll: false) == [.list(10), .recall(limit: 2, without: [1, 2])])
        #expect(machine.recalled([(12, 3)], isAll: true) == [])
        #expect(machine.listed(10, ["a"]).contains(.run(run(1), hook: "a", event: 10)))
        #expect(machine.recalled([(13, 4)], isAll: true) == [])
    }
}
