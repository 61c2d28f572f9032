import Testing
import TrackModel

@testable import AgentLogic

/// When points are missing. Times are seconds.
@Suite struct PointProgressMonitorTests {
    private static func clock(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(milliseconds: 50_000_000 + seconds * 1000)
    }

    private func gathering(interval: Int = 5) -> PointProgressMonitor {
        var watch = PointProgressMonitor(interval: interval)
        _ = watch.started(now: Self.clock(0))
        return watch
    }

    @Test(arguments: [(2, 30), (5, 30), (10, 30), (11, 33), (300, 900)])
    func threeIntervalsAndAtLeastHalfAMinuteAreTooLong(_ interval: Int, _ seconds: Int64) {
        let watch = gathering(interval: interval)
        #expect(watch.silence(now: Self.clock(seconds) + -1) == nil)
        #expect(watch.silence(now: Self.clock(seconds)) == PointProgressMonitor.Silence(since: Self.clock(0)))
        #expect(PointProgressMonitor(interval: interval).silence(now: Self.clock(99_999)) == nil)
    }

    /// Each reason of the sampler: rejecting ones are named with their count, the others are points that were not wanted.
    @Test(arguments: Sampler.SkipReason.allCases)
    func everyReasonIsAnObstacleOrNone(_ reason: Sampler.SkipReason) {
        var watch = gathering()
        _ = watch.pointStored(now: Self.clock(0))
        for second in 1...60 as ClosedRange<Int64> { _ = watch.skipped(reason, now: Self.clock(second)) }
        let silence = watch.silence(now: Self.clock(60))
        switch reason {
        case .notLater: #expect(silence?.obstacle == .notLater)
        case .unconfirmedTime: #expect(silence?.obstacle == .unconfirmedTime)
        case .withoutTime: #expect(silence?.obstacle == .noTime)
        case .clockStands: #expect(silence?.obstacle == .clockStands)
        case .inaccurate: #expect(silence?.obstacle == .inaccurate)
        case .implausible: #expect(silence?.obstacle == .implausible)
        case .unmoved, .parked:
            #expect(silence == nil)
            #expect(watch.unmoved == (reason == .unmoved ? 60 : 0))
            return
        }
        #expect(silence?.rejected == 60 && silence?.since == Self.clock(0))
        _ = watch.pointStored(now: Self.clock(61))
        #expect(watch.silence(now: Self.clock(62)) == nil && watch.hasPoint)
        // What was before the point says nothing of the time after it.
        #expect(watch.silence(now: Self.clock(100)) == PointProgressMonitor.Silence(since: Self.clock(61)))
    }

    @Test func theReasonThatRejectsMostIsNamed() {
        var watch = gathering()
        for second in 1...10 as ClosedRange<Int64> { _ = watch.skipped(.inaccurate, now: Self.clock(second)) }
        for second in 11...31 as ClosedRange<Int64> { _ = watch.unusable(.noTime, now: Self.clock(second)) }
        #expect(watch.rejected == [.inaccurate: 10, .noTime: 21])
        let silence = watch.silence(now: Self.clock(31))
        #expect(silence == PointProgressMonitor.Silence(since: Self.clock(0), obstacle: .noTime, rejected: 21))
    }

    @Test func aParkedVehicleMayBeSilentForThreeOfItsIntervals() {
        var watch = gathering()
        _ = watch.pointStored(now: Self.clock(0))
        _ = watch.paced(interval: 5, parkingInterval: 240, now: Self.clock(1))
        #expect(watch.silence(now: Self.clock(719)) == nil)
        #expect(watch.silence(now: Self.clock(720)) != nil)
        _ = watch.paced(interval: 5, parkingInterval: nil, now: Self.clock(720))
        #expect(watch.silence(now: Self.clock(30)) != nil)
    }

    /// One timer, told once, and told again when points come.
    @Test func everybodyIsToldOnce() {
        var watch = PointProgressMonitor(interval: 5)
        #expect(watch.started(now: Self.clock(0)) == [.setTimer(milliseconds: 30_000)])
        #expect(watch.pointStored(now: Self.clock(20)) == [])
        #expect(watch.timerFired(now: Self.clock(30)) == [.setTimer(milliseconds: 20_000)])
        #expect(watch.timerFired(now: Self.clock(50)) == [.changed(isSilent: true)])
        #expect(watch.timerFired(now: Self.clock(51)) == [])
        #expect(
            watch.pointStored(now: Self.clock(70)) == [.changed(isSilent: false), .setTimer(milliseconds: 30_000)])
        #expect(watch.stopped() == [.cancelTimer])
        #expect(watch.timerFired(now: Self.clock(200)) == [])
        #expect(watch.silence(now: Self.clock(200)) == nil)
        #expect(watch.pointStored(now: Self.clock(201)) == [] && watch.skipped(.inaccurate, now: Self.clock(201)) == [])
    }
}

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
