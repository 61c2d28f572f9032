import AgentLogic
import Geofencing
import Testing

@testable import LocalFences

@Suite struct AlarmOutboxTests {
    private let alarms = someAlarms(3).alarms
    private let fenceState = someAlarms(3).fenceState
    private var first: LocalAlarm { alarms[0] }

    private func writing(_ alarms: [LocalAlarm], told: Bool = false) -> AlarmOutbox.Action {
        .write(
            .init(
                alarms: alarms.map { .init(alarm: $0, isTold: told) }, isDurable: true, entity: "van_07",
                fenceState: fenceState))
    }

    private func note(_ fenceState: EntityFenceState, isDurable: Bool = false) -> AlarmOutbox.Action {
        .write(.init(alarms: [], isDurable: isDurable, entity: "van_07", fenceState: fenceState))
    }

    @Test func anAlarmIsToldWhenItIsWritten() {
        var outbox = AlarmOutbox()
        #expect(
            outbox.judged([first], of: "van_07", fenceState: fenceState)
                == [.setTimer(.timeout, milliseconds: 2000), writing([first])])
        #expect(
            outbox.written([.new(5)])
                == [.cancelTimer(.timeout), .tell(first, .durable(5)), .runHooks(first, .durable(5))])
        #expect(outbox.waitingCount == 0)
        #expect(outbox.counters.taken == 1)
    }

    /// A fence state that the disk does not take holds no alarm back.
    @Test func anAlarmBehindAFenceStateHasTheDisksTimeoutToo() {
        var outbox = AlarmOutbox()
        _ = outbox.judged([], of: "van_07", fenceState: fenceState)
        #expect(
            outbox.judged([first], of: "van_07", fenceState: fenceState) == [.setTimer(.timeout, milliseconds: 2000)])
        // Later alarms do not make the first one wait longer.
        #expect(outbox.judged([alarms[1]], of: "van_07", fenceState: fenceState) == [])
        let told = outbox.timerFired(.timeout)
        #expect(told.contains(.tell(first, .notDurable)) && told.contains(.tell(alarms[1], .notDurable)))
        // The disk answers: the alarms are written, and not told again.
        #expect(
            outbox.written([]) == [
                .relieved, .setTimer(.timeout, milliseconds: 2000), writing([first, alarms[1]], told: true),
            ])
        // Or it refuses the fence state: the timer has nothing left to do.
        var refused = AlarmOutbox()
        _ = refused.judged([], of: "van_07", fenceState: fenceState)
        _ = refused.judged([first], of: "van_07", fenceState: fenceState)
        let actions = refused.refused(reason: "full")
        #expect(actions.contains(.cancelTimer(.timeout)) && actions.contains(.tell(first, .notDurable)))
    }

    @Test func whatTheJournalKnowsIsNotToldAgain() {
        var outbox = AlarmOutbox()
        _ = outbox.judged([first], of: "van_07", fenceState: fenceState)
        #expect(outbox.written([.known]) == [.cancelTimer(.timeout)])
    }

    /// The push of the server came first, and the disk takes nothing since: everybody has heard of the alarm.
    @Test(arguments: [true, false]) func whatAPushHasToldIsNotToldAgain(isFoundFirst: Bool) {
        var outbox = AlarmOutbox()
        if !isFoundFirst { outbox.heard(push: first.id) }
        _ = outbox.judged([first, alarms[1]], of: "van_07", fenceState: fenceState)
        if isFoundFirst { outbox.heard(push: first.id) }
        #expect(outbox.hasTold(first.id) && !outbox.hasTold(alarms[1].id))
        let actions = outbox.refused(reason: "full")
        #expect(!actions.contains(.tell(first, .notDurable)) && !actions.contains(.runHooks(first, .notDurable)))
        #expect(actions.contains(.tell(alarms[1], .notDurable)))
        _ = outbox.timerFired(.retry)
        #expect(outbox.written([.known, .new(7)]) == [.cancelTimer(.timeout), .settleHooks(7), .relieved])
    }

    @Test func ofMorePushesTheNewestAreKnown() {
        var limits = AlarmOutbox.Limits()
        limits.pushed = 2
        var outbox = AlarmOutbox(limits: limits)
        for alarm in alarms { outbox.heard(push: alarm.id) }
        _ = outbox.judged(alarms, of: "van_07", fenceState: fenceState)
        #expect(alarms.map { outbox.hasTold($0.id) } == [false, true, true])
    }

    @Test func aMemoryThatMustLastIsWrittenDurablyAlsoInANewerOne() {
        var outbox = AlarmOutbox()
        #expect(outbox.judged([], of: "van_07", fenceState: fenceState) == [note(fenceState)])
        #expect(outbox.judged([], of: "van_07", fenceState: fenceState, isDurable: true) == [])
        #expect(outbox.judged([], of: "van_07", fenceState: EntityFenceState()) == [])
        #expect(outbox.written([]) == [note(EntityFenceState(), isDurable: true)])
        // The disk refuses it, and a newer one came meanwhile.
        #expect(outbox.judged([], of: "van_07", fenceState: fenceState) == [])
        _ = outbox.refused(reason: "full")
        #expect(outbox.timerFired(.retry) == [note(fenceState, isDurable: true)])
    }

    @Test func alarmsDuringAWriteGoIntoTheNextOneTogether() {
        var outbox = AlarmOutbox()
        _ = outbox.judged([first], of: "van_07", fenceState: fenceState)
        #expect(outbox.judged([alarms[1]], of: "van_07", fenceState: fenceState) == [])
        #expect(outbox.judged([alarms[2]], of: "van_07", fenceState: fenceState) == [])
        #expect(outbox.written([.new(5)]).suffix(1) == [writing([alarms[1], alarms[2]])])
    }

    /// What follows from the last alarm follows from all of them.
    @Test func aWriteOfSeveralAlarmsHasTheMemoryOfTheLast() {
        var outbox = AlarmOutbox()
        _ = outbox.judged([], of: "van_07", fenceState: EntityFenceState())
        _ = outbox.judged([first], of: "van_07", fenceState: someAlarms(1).fenceState)
        _ = outbox.judged([alarms[1]], of: "van_07", fenceState: fenceState)
        #expect(outbox.written([]).suffix(1) == [writing([first, alarms[1]])])
    }

    /// Written after an alarm, the fence state of before would take the entity back to its old place.
    @Test func anOlderMemoryIsNotWrittenAfterAnAlarm() {
        var outbox = AlarmOutbox()
        _ = outbox.judged([], of: "van_07", fenceState: EntityFenceState())
        _ = outbox.judged([], of: "van_07", fenceState: someAlarms(1).fenceState)
        _ = outbox.judged([first], of: "van_07", fenceState: fenceState)
        #expect(outbox.written([]).suffix(1) == [writing([first])])
        #expect(
            outbox.written([.new(5)])
                == [.cancelTimer(.timeout), .tell(first, .durable(5)), .runHooks(first, .durable(5))])
        // The disk refuses it, and the alarm waits already.
        var refused = AlarmOutbox()
        _ = refused.judged([], of: "van_07", fenceState: EntityFenceState())
        _ = refused.judged([first], of: "van_07", fenceState: fenceState)
        _ = refused.refused(reason: "full")
        #expect(refused.timerFired(.retry).suffix(1) == [writing([first], told: true)])
        #expect(refused.written([.new(5)]) == [.cancelTimer(.timeout), .settleHooks(5), .relieved])
    }

    @Test func aRefusedAlarmIsToldAtOnceAndWrittenLaterInItsOrder() {
        var outbox = AlarmOutbox()
        _ = outbox.judged([first], of: "van_07", fenceState: fenceState)
        #expect(
            outbox.refused(reason: "full")
                == [
                    .cancelTimer(.timeout), .complain(reason: "full"), .tell(first, .notDurable),
                    .runHooks(first, .notDurable), .setTimer(.retry, milliseconds: 1000),
                ])
        // The next is told without waiting for the disk, and nothing is tried before the timer.
        #expect(
            outbox.judged([alarms[1]], of: "van_07", fenceState: fenceState)
                == [.tell(alarms[1], .notDurable), .runHooks(alarms[1], .notDurable)])
        #expect(outbox.timerFired(.retry).suffix(1) == [writing([first, alarms[1]], told: true)])
        #expect(outbox.refused(reason: "full") == [.cancelTimer(.timeout), .setTimer(.retry, milliseconds: 2000)])
        _ = outbox.timerFired(.retry)
        #expect(
            outbox.written([.new(5), .new(6)])
                == [.cancelTimer(.timeout), .settleHooks(5), .settleHooks(6), .relieved])
        #expect(outbox.counters.early == 2)
        #expect(outbox.waitingCount == 0)
        // And a refusal after that waits for one second again.
        _ = outbox.judged([alarms[2]], of: "van_07", fenceState: fenceState)
        #expect(outbox.refused(reason: "full").last == .setTimer(.retry, milliseconds: 1000))
    }

    @Test func theEndOfTheProcessIsAnAttempt() {
        var outbox = AlarmOutbox()
        _ = outbox.judged([first], of: "van_07", fenceState: fenceState)
        // The disk has it already.
        #expect(outbox.closing() == [])
        _ = outbox.refused(reason: "full")
        #expect(
            outbox.closing() == [
                .cancelTimer(.retry), .setTimer(.timeout, milliseconds: 2000), writing([first], told: true),
            ])
        #expect(outbox.closing() == [])
    }

    @Test func aDiskThatDoesNotAnswerHoldsNothingBackForLong() {
        var outbox = AlarmOutbox()
        _ = outbox.judged([first], of: "van_07", fenceState: fenceState)
        #expect(
            outbox.timerFired(.timeout)
                == [
                    .complain(reason: "the disk has not answered for 2 s"), .tell(first, .notDurable),
                    .runHooks(first, .notDurable),
                ])
        #expect(outbox.written([.new(5)]) == [.cancelTimer(.timeout), .settleHooks(5), .relieved])
    }

    @Test func aMemoryIsWrittenAfterTheAlarmsBeforeIt() {
        var outbox = AlarmOutbox()
        let note = note(fenceState)
        #expect(outbox.judged([], of: "van_07", fenceState: fenceState) == [note])
        _ = outbox.judged([first], of: "van_07", fenceState: fenceState)
        #expect(outbox.judged([], of: "van_07", fenceState: fenceState) == [])
        #expect(outbox.written([]).suffix(1) == [writing([first])])
        #expect(outbox.written([.new(5)]).suffix(1) == [note])
        #expect(outbox.refused(reason: "full").last == .setTimer(.retry, milliseconds: 1000))
        #expect(outbox.timerFired(.retry) == [note])
        // A fence state that came meanwhile takes its place.
        _ = outbox.judged([], of: "van_07", fenceState: EntityFenceState())
        _ = outbox.refused(reason: "full")
        #expect(
            outbox.timerFired(.retry) == [self.note(EntityFenceState())])
    }

    @Test func twoEntitiesAreNeverInOneWrite() {
        var outbox = AlarmOutbox()
        _ = outbox.judged([first], of: "van_07", fenceState: fenceState)
        _ = outbox.judged([alarms[1]], of: "van_07", fenceState: fenceState)
        _ = outbox.judged([alarms[2]], of: "van_08", fenceState: EntityFenceState())
        #expect(outbox.written([.new(1)]).suffix(1) == [writing([alarms[1]])])
        guard case .write(let last)? = outbox.written([.new(2)]).last else {
            Issue.record("nothing is written")
            return
        }
        #expect(last.entity == "van_08" && last.fenceState == EntityFenceState())
    }

    @Test func tooManyThatWaitLoseTheOldest() {
        var limits = AlarmOutbox.Limits()
        limits.waiting = 3
        var outbox = AlarmOutbox(limits: limits)
        _ = outbox.judged([first], of: "van_07", fenceState: fenceState)
        _ = outbox.refused(reason: "full")
        _ = outbox.judged([alarms[1]], of: "van_07", fenceState: fenceState)
        _ = outbox.judged([alarms[2]], of: "van_07", fenceState: fenceState)
        #expect(outbox.judged([alarms[0]], of: "van_07", fenceState: fenceState).last == .dropped(1))
        #expect(outbox.counters.dropped == 1)
        #expect(
            outbox.timerFired(.retry).suffix(1) == [writing([alarms[1], alarms[2], alarms[0]], told: true)])
    }

    @Test func lateAndRepeatedEventsAreNothing() {
        var outbox = AlarmOutbox()
        #expect(outbox.written([.new(1)]) == [])
        #expect(outbox.refused(reason: "full") == [])
        #expect(outbox.timerFired(.timeout) == [])
        #expect(outbox.timerFired(.retry) == [])
    }
}
