import Geodesy
import Testing
import TrackModel

@testable import Geofencing

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
                #expect(drive.memory.overspeed?.fence == 1)
                for other in others { drive.fences.put(other) }
                drive.fences.remove(1)
                if isRebuilt { drive.fences = drive.fences.rebuilt() }
                drive.play(fast([5], 20))
                #expect(drive.memory.overspeed == nil, "rebuilt: \(isRebuilt)")
                drive.fences.put(zone(1, 500, 15))
                drive.play(fast([10], 20))
                #expect(drive.alarms.isEmpty)
            }
        }
    }
}
