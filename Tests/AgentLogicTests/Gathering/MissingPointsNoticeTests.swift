import AgentLogic
import Testing
import TrackModel

@Suite struct MissingPointsNoticeTests {
    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    @Test func aLongSilenceAfterAShortOneIsToldWhenItsTimeHasCome() {
        var notice = MissingPointsNotice()
        #expect(notice.changed(areMissing: true, now: at(0)) == [.tellMissing])
        #expect(notice.changed(areMissing: false, now: at(60)) == [.tellReturned])
        #expect(notice.changed(areMissing: true, now: at(200)) == [.setTimer(milliseconds: 400_000)])
        #expect(notice.timerFired(now: at(600)) == [.tellMissing])
        #expect(notice.timerFired(now: at(601)) == [])
        #expect(notice.changed(areMissing: false, now: at(700)) == [.tellReturned])
    }

    @Test func aSilenceThatEndsBeforeItsTimeIsNotTold() {
        var notice = MissingPointsNotice()
        _ = notice.changed(areMissing: true, now: at(0))
        _ = notice.changed(areMissing: false, now: at(10))
        for start in stride(from: Int64(20), to: 590, by: 20) {
            #expect(
                notice.changed(areMissing: true, now: at(start)) == [.setTimer(milliseconds: 600_000 - start * 1000)])
            #expect(notice.changed(areMissing: false, now: at(start + 10)) == [.cancelTimer])
            #expect(notice.timerFired(now: at(start + 11)) == [])
        }
        #expect(notice.changed(areMissing: true, now: at(600)) == [.tellMissing])
    }

    /// Whoever stops gathering misses no points, and later ones are made, not "again".
    @Test func nothingIsToldOfAGatheringThatWasStopped() {
        var notice = MissingPointsNotice()
        _ = notice.changed(areMissing: true, now: at(0))
        #expect(notice.gatheringStopped() == [.cancelTimer])
        #expect(notice.changed(areMissing: false, now: at(10)) == [.cancelTimer])
        #expect(notice.changed(areMissing: true, now: at(20)) == [.setTimer(milliseconds: 580_000)])
        #expect(notice.gatheringStopped() == [.cancelTimer])
        #expect(notice.timerFired(now: at(600)) == [])
    }
}
