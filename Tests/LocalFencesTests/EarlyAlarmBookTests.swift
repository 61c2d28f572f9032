import Testing
import TrackModel
import TrackTestKit

@testable import LocalFences

@Suite struct EarlyAlarmBookTests {
    private let stream = StreamID(high: 1, low: 1)
    private let other = StreamID(high: 2, low: 2)

    private func book(_ sequences: UInt64...) -> EarlyAlarmBook {
        var book = EarlyAlarmBook()
        _ = book.loggedIn(as: "van", now: 0)
        for (index, sequence) in sequences.enumerated() {
            book.found(
                UInt64(index + 1), push: UInt64(index + 101), of: "van",
                cause: PointCause(stream: stream, sequence: sequence))
        }
        return book
    }

    @Test func anAlarmIsOverdueTenMinutesAfterTheServerHasItsPoint() {
        var book = book(10, 20)
        #expect(book.acknowledged(through: 9, of: stream, now: 0) == [])
        #expect(book.acknowledged(through: 12, of: stream, now: 1000) == [.setTimer(milliseconds: 600_000)])
        #expect(book.acknowledged(through: 12, of: stream, now: 2000) == [])
        #expect(book.acknowledged(through: 20, of: stream, now: 5000) == [.setTimer(milliseconds: 596_000)])
        #expect(book.timerFired(now: 600_999) == [.setTimer(milliseconds: 1)])
        #expect(book.timerFired(now: 601_000) == [.overdue([1]), .setTimer(milliseconds: 4000)])
        book.confirmed(2)
        #expect(book.timerFired(now: 700_000) == [] && book.overdueCount == 1 && book.count == 0)
    }

    /// On a full disk the server's push can be neither noted nor acknowledged. It has come all the same.
    @Test func anAlarmWhosePushTheDiskDidNotTakeIsNotOverdue() {
        var book = book(10, 20)
        _ = book.acknowledged(through: 20, of: stream, now: 1000)
        book.heard(push: 101)
        book.heard(push: 103)
        #expect(book.timerFired(now: 601_000) == [.overdue([2])])
        // The disk takes the alarm after the push had come.
        book.found(3, push: 103, of: "van", cause: PointCause(stream: stream, sequence: 30))
        #expect(book.acknowledged(through: 30, of: stream, now: 602_000) == [])
        #expect(book.timerFired(now: 5_000_000) == [] && book.overdueCount == 1 && book.count == 0)
    }

    /// Without a link the server cannot send its push.
    @Test func onlyTheTimeOfASessionCounts() {
        var book = book(10)
        _ = book.acknowledged(through: 10, of: stream, now: 1000)
        book.linkClosed()
        #expect(book.timerFired(now: 5_000_000) == [])
        #expect(book.loggedIn(as: "van", now: 5_000_000) == [.setTimer(milliseconds: 600_000)])
        #expect(book.timerFired(now: 5_599_999) == [.setTimer(milliseconds: 1)])
        #expect(book.timerFired(now: 5_600_000) == [.overdue([1])])
    }

    /// The server sends pushes of an entity to the agent that is logged in as this entity.
    @Test func anAlarmOfAnotherEntityWaitsForItsLogin() {
        var book = book(10)
        #expect(book.loggedIn(as: "tram", now: 0) == [])
        #expect(book.acknowledged(through: 10, of: stream, now: 1000) == [])
        #expect(book.timerFired(now: 5_000_000) == [] && book.count == 1)
        #expect(book.loggedIn(as: "van", now: 6_000_000) == [.setTimer(milliseconds: 600_000)])
        #expect(book.timerFired(now: 6_600_000) == [.overdue([1])])
    }

    @Test func anAlarmWhosePointTheRingHasLostIsReported() {
        var book = book(10, 20, 30)
        #expect(
            book.acknowledged(through: 10, of: stream, isLogin: true, now: 0).first
                == .look([
                    2: PointCause(stream: stream, sequence: 20), 3: PointCause(stream: stream, sequence: 30),
                ]))
        // Meanwhile the server has got one of them.
        _ = book.acknowledged(through: 20, of: stream, now: 1)
        #expect(book.looked(missing: [2, 3, 9], unread: []) == [.report([3])])
        #expect(book.looked(missing: [3], unread: []) == [])
        #expect(book.count == 2)
    }

    /// The ring has lost a file, and the disk still refuses when the ring is asked. An acknowledgement of later points says
    /// nothing of the lost ones.
    @Test func anAlarmWhosePointTheDiskDidNotShowIsReportedInDoubt() {
        var book = book(10, 20, 30)
        _ = book.pointsWereLost()
        #expect(book.looked(missing: [], unread: [1, 2]) == [])
        #expect(book.acknowledged(through: 15, of: stream, now: 0) == [.report([1])])
        // Another look finds the point.
        _ = book.pointsWereLost()
        #expect(book.looked(missing: [], unread: []) == [])
        #expect(book.acknowledged(through: 30, of: stream, now: 0) == [.setTimer(milliseconds: 600_000)])
        #expect(book.count == 2)
    }

    @Test func anAlarmOfAnotherStreamIsReportedAtTheLogin() {
        var book = book(10)
        #expect(book.acknowledged(through: 50, of: other, now: 0) == [])
        #expect(book.acknowledged(through: 50, of: other, isLogin: true, now: 0) == [.report([1])])
        #expect(book.count == 0)
    }

    @Test func anAlarmWhosePointIsRefusedIsReported() {
        var book = book(10, 11)
        #expect(book.refused([11, 12], of: other) == [])
        #expect(book.refused([11, 12], of: stream) == [.report([2])])
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
        reporting.readFailed()
        #expect(reporting.added() == [.read])
        reporting.linkClosed()
        #expect(reporting.read([item(1)]) == [])
    }

    @Test func anAlarmThatCannotBeReportedIsGivenUp() {
        var reporting = AlarmReporting()
        _ = reporting.linkOpened()
        #expect(reporting.read([], unusable: [3: "too long"]) == [.refuse(3, reason: "too long"), .read])
        #expect(reporting.counters.refused == 1)
    }
}
