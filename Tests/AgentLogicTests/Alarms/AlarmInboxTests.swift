import Testing

@testable import AgentLogic

@Suite struct AlarmInboxTests {
    @Test func aPushIsAcknowledgedWhenItIsOnTheDiskAndToldOnce() {
        var inbox = AlarmInbox()
        #expect(inbox.received(7, bytes: 100) == [.journal(7)])
        #expect(inbox.received(7, bytes: 100) == [])
        #expect(inbox.journaled(7, isNew: true) == [.acknowledge(7), .tell(7)])
        #expect(inbox.received(7, bytes: 100) == [.journal(7)])
        #expect(inbox.journaled(7, isNew: false) == [.acknowledge(7)])
        #expect(inbox.journaled(7, isNew: true) == [])
        #expect(inbox.counters.taken == 1)
        #expect(inbox.counters.repeated == 1)
    }

    @Test func whatCannotBeWrittenIsSaidOnceAndNotAcknowledged() {
        var inbox = AlarmInbox()
        _ = inbox.received(1, bytes: 1)
        _ = inbox.received(2, bytes: 1)
        #expect(inbox.failed(1, reason: "full") == [.complain(reason: "full")])
        #expect(inbox.failed(2, reason: "full") == [])
        #expect(inbox.trouble == "full")
        _ = inbox.received(1, bytes: 1)
        #expect(inbox.failed(1, reason: "broken") == [.complain(reason: "broken")])
        _ = inbox.received(1, bytes: 1)
        #expect(inbox.journaled(1, isNew: true) == [.acknowledge(1), .tell(1), .relieved])
        #expect(inbox.trouble == nil)
        #expect(inbox.failed(1, reason: "late") == [])
    }

    @Test func whatWaitsForTheDiskIsBounded() {
        var limits = AlarmInbox.Limits()
        (limits.waiting, limits.bytes) = (3, 1000)
        var inbox = AlarmInbox(limits: limits)
        #expect(inbox.received(1, bytes: 600) == [.journal(1)])
        #expect(inbox.received(2, bytes: 600) == [])
        #expect(inbox.received(3, bytes: 400) == [.journal(3)])
        #expect(inbox.received(4, bytes: 0) == [.journal(4)])
        #expect(inbox.received(5, bytes: 0) == [])
        _ = inbox.failed(1, reason: "x")
        #expect(inbox.received(2, bytes: 600) == [.journal(2)])
    }

    @Test func whatNobodyCouldRecogniseOrKeepIsRefusedOnce() {
        var inbox = AlarmInbox()
        #expect(inbox.received(0, bytes: 1) == [.refuse(0, .noNumber)])
        #expect(inbox.received(0, bytes: 1) == [])
        #expect(inbox.received(5, bytes: 16_385) == [.refuse(5, .tooLong)])
        #expect(inbox.received(5, bytes: 16_385) == [])
        #expect(inbox.received(6, bytes: 16_384) == [.journal(6)])
        #expect(inbox.counters.refused == 2)
    }
}

@Suite struct RetryPauseTests {
    @Test func eachPauseIsTwiceTheOneBeforeUpToTheLongest() {
        var pause = RetryPause(1000...5000)
        #expect(!pause.isFailing)
        #expect((0..<5).map { _ in pause.failed() } == [1000, 2000, 4000, 5000, 5000])
        #expect(pause.isFailing)
        pause.succeeded()
        #expect(!pause.isFailing && pause.failed() == 1000)
    }

    @Test func pausesDoNotOverflow() {
        var pause = RetryPause(1...Int64.max)
        for _ in 0..<200 { #expect(pause.failed() > 0) }
        var one = RetryPause(7...7)
        #expect(one.failed() == 7 && one.failed() == 7 && one.isFailing)
    }
}

@Suite struct JournalNotesTests {
    @Test func whatTheJournalRefusesIsGivenToItAgainInItsOrder() {
        var notes = JournalNotes<Int>()
        #expect(notes.add(1) == [.write])
        #expect(notes.refused() == [.complain, .setTimer(milliseconds: 1000)])
        // Nothing is tried before its time.
        #expect(notes.add(2) == [] && notes.add(1) == [])
        #expect(notes.waiting == [2, 1])
        #expect(notes.timerFired() == [.write])
        #expect(notes.refused() == [.setTimer(milliseconds: 2000)])
        #expect(notes.timerFired() == [.write])
        #expect(notes.taken() == [.relieved(lost: 0)] && notes.waiting == [])
        #expect(notes.add(3) == [.write] && notes.taken() == [])
        #expect(notes.timerFired() == [])
    }

    @Test func fewNotesWaitForADiskThatHangsForEver() {
        var notes = JournalNotes<Int>()
        _ = notes.add(0)
        _ = notes.refused()
        for note in 1..<JournalNotes<Int>.most { #expect(notes.add(note) == []) }
        // Told once, with the count at the end.
        #expect(notes.add(JournalNotes<Int>.most) == [.complainOfLoss] && notes.add(-1) == [])
        #expect(notes.waiting.count == JournalNotes<Int>.most && notes.waiting.first == 2 && notes.lost == 2)
        #expect(notes.taken() == [.relieved(lost: 2)])
        for note in 0..<JournalNotes<Int>.most { _ = notes.add(note) }
        #expect(notes.add(-1) == [.complainOfLoss, .write] && notes.lost == 3)
    }
}
