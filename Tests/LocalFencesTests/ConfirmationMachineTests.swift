import Testing
import TrackModel
import TrackTestKit

@testable import LocalFences

@Suite struct ConfirmationMachineTests {
    private let stream = StreamID(high: 1, low: 1)
    private let other = StreamID(high: 2, low: 2)

    private func machine(_ sequences: UInt64...) -> ConfirmationMachine {
        var machine = ConfirmationMachine()
        _ = machine.loggedIn(as: "van", now: 0)
        for (index, sequence) in sequences.enumerated() {
            machine.found(
                .init(
                    number: UInt64(index + 1), push: UInt64(index + 101), entity: "van",
                    cause: PointCause(stream: stream, sequence: sequence)))
        }
        return machine
    }

    @Test func anAlarmIsOverdueTenMinutesAfterTheServerHasItsPoint() {
        var machine = self.machine(10, 20)
        #expect(machine.acknowledged(through: 9, of: stream, now: 0) == [])
        #expect(machine.acknowledged(through: 12, of: stream, now: 1000) == [.setTimer(milliseconds: 600_000)])
        #expect(machine.acknowledged(through: 12, of: stream, now: 2000) == [])
        #expect(machine.acknowledged(through: 20, of: stream, now: 5000) == [.setTimer(milliseconds: 596_000)])
        #expect(machine.timerFired(now: 600_999) == [.setTimer(milliseconds: 1)])
        #expect(machine.timerFired(now: 601_000) == [.overdue([1]), .report([1]), .setTimer(milliseconds: 4000)])
        machine.confirmed(2)
        #expect(machine.timerFired(now: 700_000) == [] && machine.overdueCount == 1 && machine.count == 0)
    }

    /// On a full disk the server's push can be neither noted nor acknowledged. It has come all the same.
    @Test func anAlarmWhosePushTheDiskDidNotTakeIsNotOverdue() {
        var machine = self.machine(10, 20)
        _ = machine.acknowledged(through: 20, of: stream, now: 1000)
        machine.heard(push: 101)
        machine.heard(push: 103)
        #expect(machine.timerFired(now: 601_000) == [.overdue([2]), .report([2])])
        // The disk takes the alarm after the push had come.
        machine.found(.init(number: 3, push: 103, entity: "van", cause: PointCause(stream: stream, sequence: 30)))
        #expect(machine.acknowledged(through: 30, of: stream, now: 602_000) == [])
        #expect(machine.timerFired(now: 5_000_000) == [] && machine.overdueCount == 1 && machine.count == 0)
    }

    /// The server sends few pushes beside those that the agent has not acknowledged.
    @Test func timeInWhichTheDiskTakesNoPushDoesNotCount() {
        var machine = self.machine(10, 20)
        #expect(machine.acknowledged(through: 10, of: stream, now: 1000) == [.setTimer(milliseconds: 600_000)])
        machine.came(push: 900, now: 101_000)
        machine.came(push: 901, now: 102_000)
        machine.came(push: 900, now: 116_000)
        // It begins to wait in the meantime.
        #expect(machine.acknowledged(through: 20, of: stream, now: 151_000) == [.setTimer(milliseconds: 500_000)])
        #expect(machine.timerFired(now: 651_000) == [])
        #expect(machine.acknowledged(push: 900, now: 700_000) == [])
        #expect(machine.acknowledged(push: 900, now: 700_000) == [])
        #expect(machine.acknowledged(push: 901, now: 701_000) == [.setTimer(milliseconds: 500_000)])
        // Short work of the disk moves no timer.
        machine.came(push: 902, now: 1_200_000)
        #expect(machine.acknowledged(push: 902, now: 1_200_005) == [])
        #expect(machine.timerFired(now: 1_201_000) == [.setTimer(milliseconds: 5)])
        #expect(machine.timerFired(now: 1_201_005) == [.overdue([1]), .report([1]), .setTimer(milliseconds: 100_000)])
        // What was not acknowledged when the link closed counts no longer: the server sends it again.
        machine.came(push: 903, now: 1_202_000)
        machine.linkClosed()
        #expect(machine.loggedIn(as: "van", now: 1_300_000) == [.setTimer(milliseconds: 600_000)])
        #expect(machine.acknowledged(push: 903, now: 1_300_001) == [])
        #expect(machine.timerFired(now: 1_900_000) == [.overdue([2]), .report([2])])
    }

    /// Without a link the server cannot send its push.
    @Test func onlyTheTimeOfASessionCounts() {
        var machine = self.machine(10)
        _ = machine.acknowledged(through: 10, of: stream, now: 1000)
        machine.linkClosed()
        #expect(machine.timerFired(now: 5_000_000) == [])
        #expect(machine.loggedIn(as: "van", now: 5_000_000) == [.setTimer(milliseconds: 600_000)])
        #expect(machine.timerFired(now: 5_599_999) == [.setTimer(milliseconds: 1)])
        #expect(machine.timerFired(now: 5_600_000) == [.overdue([1]), .report([1])])
    }

    /// The server sends pushes of an entity to the agent that is logged in as this entity.
    @Test func anAlarmOfAnotherEntityWaitsForItsLogin() {
        var machine = self.machine(10)
        #expect(machine.loggedIn(as: "tram", now: 0) == [])
        #expect(machine.acknowledged(through: 10, of: stream, now: 1000) == [])
        #expect(machine.timerFired(now: 5_000_000) == [] && machine.count == 1)
        #expect(machine.loggedIn(as: "van", now: 6_000_000) == [.setTimer(milliseconds: 600_000)])
        #expect(machine.timerFired(now: 6_600_000) == [.overdue([1]), .report([1])])
    }

    @Test func anAlarmWhosePointTheRingHasLostIsReported() {
        var machine = self.machine(10, 20, 30)
        #expect(
            machine.acknowledged(through: 10, of: stream, isLogin: true, now: 0).first
                == .look([
                    2: PointCause(stream: stream, sequence: 20), 3: PointCause(stream: stream, sequence: 30),
                ]))
        // Meanwhile the server has got one of them.
        _ = machine.acknowledged(through: 20, of: stream, now: 1)
        #expect(machine.looked(missing: [2, 3, 9], unread: []) == [.report([3])])
        #expect(machine.looked(missing: [3], unread: []) == [])
        #expect(machine.count == 2)
    }

    /// The ring has lost a file, and the disk still refuses when the ring is asked. An acknowledgement of later points says
    /// nothing of the lost ones.
    @Test func anAlarmWhosePointTheDiskDidNotShowIsReportedInDoubt() {
        var machine = self.machine(10, 20, 30)
        _ = machine.pointsWereLost()
        #expect(machine.looked(missing: [], unread: [1, 2]) == [])
        #expect(machine.acknowledged(through: 15, of: stream, now: 0) == [.report([1])])
        // Another look finds the point.
        _ = machine.pointsWereLost()
        #expect(machine.looked(missing: [], unread: []) == [])
        #expect(machine.acknowledged(through: 30, of: stream, now: 0) == [.setTimer(milliseconds: 600_000)])
        #expect(machine.count == 2)
    }

    @Test func anAlarmOfAnotherStreamIsReportedAtTheLogin() {
        var machine = self.machine(10)
        #expect(machine.acknowledged(through: 50, of: other, now: 0) == [])
        #expect(machine.acknowledged(through: 50, of: other, isLogin: true, now: 0) == [.report([1])])
        #expect(machine.count == 0)
    }

    @Test func anAlarmWhosePointIsRefusedIsReported() {
        var machine = self.machine(10, 11)
        #expect(machine.refused([11, 12], of: other) == [])
        #expect(machine.refused([11, 12], of: stream) == [.report([2])])
    }

    /// The disk showed them late: what the server has said meanwhile counts.
    @Test func alarmsThatAreRecalledLateHearWhatTheServerHasSaid() {
        var machine = machine()
        func alarm(_ number: UInt64, _ sequence: UInt64, of stream: StreamID) -> ConfirmationMachine.Alarm {
            .init(
                number: number, push: number + 100, entity: "van", cause: PointCause(stream: stream, sequence: sequence)
            )
        }
        // Nobody has logged in for the ring: nothing is known.
        var early = machine
        #expect(early.recalled([alarm(1, 10, of: stream), alarm(2, 5, of: other)], now: 7) == [])
        #expect(early.count == 2)
        _ = machine.acknowledged(through: 8, of: stream, isLogin: true, now: 0)
        _ = machine.acknowledged(through: 20, of: stream, now: 1000)
        machine.found(alarm(4, 30, of: stream))
        let actions = machine.recalled(
            [alarm(1, 20, of: stream), alarm(2, 5, of: other), alarm(3, 25, of: stream), alarm(4, 30, of: stream)],
            now: 2000)
        #expect(
            actions == [
                .report([2]),
                .look([
                    3: PointCause(stream: stream, sequence: 25), 4: PointCause(stream: stream, sequence: 30),
                ]), .setTimer(milliseconds: 600_000),
            ])
        #expect(machine.timerFired(now: 602_000) == [.overdue([1]), .report([1])])
    }

    /// A second reading brings the same alarms, and changes nothing.
    @Test func whatIsWaitedForIsNotBegunAnew() {
        var machine = machine(10)
        _ = machine.acknowledged(through: 10, of: stream, isLogin: true, now: 1000)
        let cause = PointCause(stream: stream, sequence: 10)
        _ = machine.recalled([.init(number: 1, push: 101, entity: "van", cause: cause)], now: 500_000)
        #expect(machine.timerFired(now: 601_000) == [.overdue([1]), .report([1])])
    }
}

@Suite struct AlarmReportingTests {
    private func item(_ number: UInt64) -> AlarmReporting.Item {
        .init(number: number, key: [UInt8](repeating: UInt8(number), count: 16), type: 4, json: "{}")
    }

    @Test func oneMessageIsUnderWayAtATime() {
        var reporting = AlarmReporting()
        #expect(reporting.added() == [])
        #expect(reporting.linkOpened() == [.read])
        #expect(reporting.read([item(1), item(2)]) == [.send(1, [item(1), item(2)])])
        #expect(reporting.added() == [])
        #expect(reporting.acknowledged(9, refused: [:]) == [])
        #expect(
            reporting.acknowledged(1, refused: [item(2).key: "no such fence"])
                == [.settle([1]), .refuse(2, reason: "no such fence"), .read])
        #expect(reporting.read([]) == [])
        #expect(reporting.added() == [.read])
        #expect(reporting.counters.reported == 1 && reporting.counters.refused == 1)
    }

    @Test func whatTheServerDidNotAnswerIsSentAgain() {
        var reporting = AlarmReporting()
        _ = reporting.linkOpened()
        _ = reporting.read([item(1)])
        reporting.linkClosed()
        #expect(reporting.acknowledged(1, refused: [:]) == [])
        #expect(reporting.linkOpened() == [.read])
        #expect(reporting.read([item(1)]) == [.send(2, [item(1)])])
    }

    @Test func whatComesWhileTheJournalIsReadIsReadNext() {
        var reporting = AlarmReporting()
        _ = reporting.linkOpened()
        #expect(reporting.added() == [])
        #expect(reporting.read([]) == [.read])
        #expect(reporting.readFailed("EIO") == [.complain(reason: "EIO"), .setTimer(milliseconds: 1000)])
        #expect(reporting.added() == [.read])
        reporting.linkClosed()
        #expect(reporting.read([item(1)]) == [.relieved])
    }

    @Test func anAlarmThatCannotBeReportedIsGivenUp() {
        var reporting = AlarmReporting()
        _ = reporting.linkOpened()
        #expect(reporting.read([], unusable: [3: "too long"]) == [.refuse(3, reason: "too long"), .read])
        #expect(reporting.counters.refused == 1)
    }

    /// Nothing else may happen for days.
    @Test func whatCouldNotBeReadIsReadAgainByItself() {
        var reporting = AlarmReporting()
        #expect(reporting.linkOpened() == [.read])
        #expect(reporting.readFailed("EIO") == [.complain(reason: "EIO"), .setTimer(milliseconds: 1000)])
        #expect(reporting.readFailed("EIO") == [])
        #expect(reporting.timerFired() == [.read])
        #expect(reporting.timerFired() == [])
        #expect(reporting.readFailed("EIO") == [.setTimer(milliseconds: 2000)])
        reporting.linkClosed()
        #expect(reporting.timerFired() == [])
        #expect(reporting.linkOpened() == [.read])
        #expect(reporting.read([item(1)]) == [.relieved, .send(1, [item(1)])])
        #expect(reporting.timerFired() == [])
    }

    @Test func whatWasReadForAnEarlierLoginIsReadAgain() {
        var reporting = AlarmReporting()
        #expect(reporting.readOutdated() == [])
        _ = reporting.linkOpened()
        #expect(reporting.readOutdated() == [.read])
    }
}
