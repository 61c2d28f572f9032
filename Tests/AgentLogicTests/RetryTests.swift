import Testing

@testable import AgentLogic

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
