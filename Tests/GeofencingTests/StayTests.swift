import Geodesy
import Testing
import TrackModel

@testable import Geofencing

@Suite struct StayTests {
    /// S14's way, stopping inside: enter at 5.0.
    private func inside(_ times: [Double]) -> [FencePoint] {
        [point(0, 40, 115.9976579), point(10, 40, 116.0)] + times.map { point($0, 40, 116.0) }
    }

    private func round(_ stay: StayAlarmRule?, settle: Int = 0) -> FencePlan {
        plan(circle(40.0, 116.0, 100)) {
            $0.rule = [.enter, .exit, .stay]
            $0.stay = stay
            $0.settle = settle
        }
    }

    @Test func staysCountFromTheCrossing() {
        // Rule 10
        var drive = Drive(round(StayAlarmRule(after: 60, every: 60)))
        drive.play(inside(stride(from: 20.0, through: 130, by: 10).map { $0 }))
        #expect(drive.told == ["enter 1 5.0 by 10.0", "stay 1 65.0 by 70.0", "stay 1 125.0 by 130.0"])
        #expect(drive.alarms.map(\.inside) == [nil, 60_000, 120_000])
    }

    @Test func manyDueStaysAreOne() {
        // Rule 11
        var drive = Drive(round(StayAlarmRule(after: 60, every: 60)))
        drive.play(inside([1810]))
        #expect(drive.told == ["enter 1 5.0 by 10.0", "stay 1 1805.0 by 1810.0"])
        #expect(drive.alarms.last?.skipped == 29)
    }

    @Test func aDwellIsToldOnceAVisit() {
        // Rules 12 and 13
        var drive = Drive(round(StayAlarmRule(after: 300)))
        drive.play(inside([200, 400, 800]))
        #expect(drive.told == ["enter 1 5.0 by 10.0", "stay 1 305.0 by 400.0"])
        drive.play(point(810, 40, 116.0024, speed: 20), point(820, 40, 116.0, speed: 20), point(1200, 40, 116.0))
        #expect(drive.alarms.map(\.action) == [.enter, .stay, .exit, .enter, .stay])
    }

    @Test func noStayIsDueAfterTheExitsCrossing() {
        // Rule 12: out at 245.6.
        var drive = Drive(round(StayAlarmRule(after: 300)))
        drive.play(inside([240]) + [point(250, 40, 116.0020874, speed: 20), point(400, 40, 116.01)])
        #expect(drive.told == ["enter 1 5.0 by 10.0", "exit 1 245.61 by 250.0"])
        // Across a gap only the last inside point counts.
        drive = Drive(round(StayAlarmRule(after: 300)))
        drive.play(inside([240]) + [point(4000, 40, 116.01, speed: 20)])
        #expect(drive.told == ["enter 1 5.0 by 10.0", "exit 1 4000.0 by 4000.0"])
        #expect(drive.alarms.last?.crossing.earliest == time(240))
    }

    @Test func aStayBeforeTheExitIsToldWithIt() {
        var drive = Drive(round(StayAlarmRule(after: 60)))
        drive.play(inside([60]) + [point(70, 40, 116.002, speed: 30)])
        // The last point inside was at 60, the edge at 65.9: the stay of 65 was inside.
        #expect(drive.alarms.map(\.action) == [.enter, .stay, .exit])
    }

    @Test func aStayWaitsWhileTheEntityMayHaveLeft() {
        var drive = Drive(round(StayAlarmRule(after: 60)))
        // In the margin from 55 on, and back at 90.
        drive.play(inside([50]) + [point(60, 40, 116.00121), point(80, 40, 116.00121)])
        #expect(drive.told == ["enter 1 5.0 by 10.0"])
        drive.play(point(90, 40, 116.0))
        #expect(drive.told == ["enter 1 5.0 by 10.0", "stay 1 65.0 by 90.0"])
    }

    @Test func settleDropsShortVisits() {
        // Rule 14
        func come(_ seconds: Double) -> FencePoint { point(seconds, 40, 116.0, speed: 30) }
        func go(_ seconds: Double) -> FencePoint { point(seconds, 40, 116.01, speed: 90) }
        var drive = Drive(round(nil, settle: 30))
        drive.play(go(-10), come(0), go(10))
        #expect(drive.alarms.isEmpty)
        #expect(drive.place() == .out)
        drive.play(come(20), come(30), come(45))
        // In at 18.8, still in 30 s later.
        #expect(drive.told == [])
        drive.play(come(49))
        #expect(drive.told == ["enter 1 18.82 by 49.0"])
        #expect(drive.place() == .in)
        // Out and in again within 30 s: nothing; and its exit when it holds.
        drive.play(go(60), come(70), come(110))
        #expect(drive.alarms.count == 1)
        drive.play(go(120), go(140), go(152))
        #expect(drive.alarms.count == 2)
        #expect(drive.alarms.last?.action == .exit)
        #expect(drive.alarms.last?.point.time == time(152))
        #expect(drive.alarms.last?.crossing.time ?? time(0) < time(122))
    }

    @Test func settleTellsAVisitThatWasLongEnoughBetweenTwoPoints() {
        var drive = Drive(round(nil, settle: 30))
        drive.play(point(0, 40, 115.99, speed: 40), point(10, 40, 116.0, speed: 90), point(100, 40, 116.002, speed: 30))
        // Inside from 8.8 to 62.7: told when it ended, and the exit is held.
        #expect(drive.alarms.map(\.action) == [.enter, .exit])
    }

    @Test func settleComparesCrossings() {
        var drive = Drive(round(nil, settle: 30))
        drive.play(point(10, 40, 116.01, speed: 90), point(20, 40, 116.0, speed: 90), point(45, 40, 116.0, speed: 90))
        // In at 18.8, out at 46.2, known at 55.
        drive.play(point(55, 40, 116.01, speed: 90), point(100, 40, 116.01, speed: 90))
        #expect(drive.alarms.isEmpty)
    }

    @Test func staysGoOnThroughADroppedExit() {
        var drive = Drive(round(StayAlarmRule(after: 60, every: 60), settle: 30))
        drive.play(inside([50]) + [point(60, 40, 116.005, speed: 50), point(75, 40, 116.0, speed: 50)])
        drive.play(point(140, 40, 116.0))
        #expect(drive.told == ["enter 1 5.0 by 50.0", "stay 1 65.0 by 75.0", "stay 1 125.0 by 140.0"])
    }
}

@Suite struct OverspeedTests {
    private func zone(_ id: Int32, _ radius: Double, _ limit: Int32?, duration: Int = 10) -> FencePlan {
        plan(circle(40.0, 116.0, radius), id: id) {
            $0.rule = []
            $0.speedLimit = limit.flatMap { SpeedLimit(speed: $0 * 100, duration: duration) }
        }
    }

    private func fast(_ times: [Double], _ speed: Double?) -> [FencePoint] {
        times.map { point($0, 40, 116, speed: speed) }
    }

    @Test func tooFastForTheDurationIsToldOnce() {
        var drive = Drive(zone(1, 500, 15))
        drive.play(fast([0, 5], 15) + fast([10, 15, 19.9], 15.01))
        #expect(drive.alarms.isEmpty)
        drive.play(fast([20, 25, 30], 16))
        #expect(drive.told == ["overspeed 1 10.0 by 20.0"])
        #expect(drive.alarms.first?.speedLimit == 1500)
        // Slow once, and it begins anew.
        drive.play(fast([35], 15) + fast([40, 50], 16))
        #expect(drive.alarms.count == 2)
    }

    @Test func withoutADurationOnePointIsEnough() {
        var drive = Drive(zone(1, 500, 15, duration: 0))
        drive.play(fast([0], 20))
        #expect(drive.told == ["overspeed 1 0.0 by 0.0"])
    }

    @Test func theLowestLimitHolds() {
        var drive = Drive(zone(1, 500, 15), zone(2, 400, 10), zone(3, 300, nil), zone(4, 450, 10))
        drive.play(fast([0, 10], 12))
        #expect(drive.told == ["overspeed 2 0.0 by 10.0"])
        // Between 400 and 450 m the limit of fence 4 holds: an episode of its own.
        let farther = [12.0, 22].map { point($0, 40, 116 + 430 / metresPerDegreeEast, speed: 12) }
        drive.play(farther)
        #expect(drive.told.count == 1 || drive.told.last == "overspeed 4 12.0 by 22.0")
    }

    @Test func pointsWithoutSpeedAndGaps() {
        var drive = Drive(zone(1, 500, 15))
        drive.play(fast([0], 20) + fast([5], nil) + fast([10], 20))
        #expect(drive.alarms.count == 1)
        drive = Drive(zone(1, 500, 15))
        drive.play(fast([0], 20) + fast([121], 20))
        #expect(drive.alarms.isEmpty)
    }

    @Test func leavingEndsIt() {
        var drive = Drive(zone(1, 500, 15))
        drive.play(fast([0], 20) + [point(5, 40, 116.02, speed: 300), point(10, 40, 116.02, speed: 300)])
        drive.play([point(15, 40, 116, speed: 300)] + fast([20], 20))
        #expect(drive.alarms.isEmpty)
        #expect(SpeedLimit(speed: 0, duration: 1) == nil)
        #expect(SpeedLimit(speed: 1, duration: 3601) == nil)
    }

    /// Whether a set has other limits, or had some before, changes nothing.
    @Test func aFenceThatIsGoneEndsIt() {
        for others in [[], [zone(2, 500, nil)], [zone(2, 500, 100)]] {
            for isRebuilt in [false, true] {
                var drive = Drive(zone(1, 500, 15))
                drive.play(fast([0], 20))
                #expect(drive.fenceState.overspeed?.fence == 1)
                for other in others { drive.fences.put(other) }
                drive.fences.remove(1)
                if isRebuilt { drive.fences = drive.fences.rebuilt() }
                drive.play(fast([5], 20))
                #expect(drive.fenceState.overspeed == nil, "rebuilt: \(isRebuilt)")
                drive.fences.put(zone(1, 500, 15))
                drive.play(fast([10], 20))
                #expect(drive.alarms.isEmpty)
            }
        }
    }
}
