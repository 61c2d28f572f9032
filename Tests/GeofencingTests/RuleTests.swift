import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import Geofencing

@Suite struct RuleTests {
    private let area = circle(40.0, 116.0, 100)
    private func out(_ seconds: Double) -> FencePoint { point(seconds, 40, 116.01, speed: 100) }
    private func middle(_ seconds: Double) -> FencePoint { point(seconds, 40, 116.0, speed: 100) }

    // MARK: Which points

    @Test func latePointsChangeNothing() {
        var drive = Drive(plan(area))
        drive.play(out(0), middle(10), middle(5), middle(10))
        #expect(drive.late == 2)
        #expect(drive.alarms.count == 1)
    }

    @Test func pointsBeforeTheFenceAreNotJudged() {
        var drive = Drive(plan(area) { $0.from = time(100) })
        drive.play(out(80), middle(90))
        #expect(drive.place() == .unknown)
        drive.play(middle(110))
        #expect(drive.place() == .in)
        #expect(drive.alarms.isEmpty)
        // At its very time a point counts.
        drive = Drive(plan(area) { $0.from = time(100) })
        drive.play(out(100), middle(110))
        #expect(drive.alarms.count == 1)
    }

    @Test func theFirstPlaceIsToldWhenTheFenceAsks() {
        for initial in [false, true] {
            var drive = Drive(plan(area) { $0.initial = initial })
            drive.play(middle(10))
            #expect(drive.told == (initial ? ["enter 1 10.0 by 10.0"] : []))
            #expect(drive.place() == .in)
        }
    }

    @Test func onlyWhatTheRuleNamesIsTold() {
        for (rule, actions) in [
            (FenceRule.enter, [FenceAction.enter]), (.exit, [.exit]), ([], []), (.usual, [.enter, .exit]),
        ] {
            var drive = Drive(plan(area) { $0.rule = rule })
            drive.play(out(0), middle(10), out(20))
            #expect(drive.alarms.map(\.action) == actions)
        }
    }

    @Test func timeThatBeginsAnewKeepsPlaces() {
        var drive = Drive(plan(area), plan(circle(40.0, 116.01, 50), id: 2))
        drive.play(out(3590), middle(3600))
        drive.alarms = []
        drive.fenceState.timeRestarted()
        drive.play(middle(10))
        #expect(drive.alarms.isEmpty)
        #expect(drive.place() == .in)
        // The visit seems to have begun in the future: it is counted from here.
        #expect(drive.fenceState.pair(of: 1)?.since == time(10))
        // What was out is out, not unknown: coming in is told.
        drive.play(out(20), out(30))
        #expect(drive.alarms.map(\.action) == [.exit, .enter])
    }

    @Test func timeThatBeginsAnewKeepsWhatWasOut() {
        var drive = Drive(plan(area))
        drive.play(out(3590), out(3600))
        drive.fenceState.timeRestarted()
        drive.play(middle(10), middle(20))
        #expect(drive.alarms.map(\.action) == [.enter])
        #expect(drive.alarms.first?.crossing.isEstimated == false)
    }

    /// Rule 2: an outage of three hours with a visit in it, uploaded in order afterwards.
    @Test func aBacklogHasItsOwnTimes() {
        var drive = Drive(plan(area))
        drive.play(out(0), out(3600), middle(3610), middle(5000), out(5010), out(10_800))
        #expect(drive.alarms.map(\.action) == [.enter, .exit])
        #expect(drive.alarms.map(\.point.time) == [time(3610), time(5010)])
        #expect(drive.alarms.allSatisfy { $0.crossing.isEstimated && $0.crossing.time < $0.point.time })
    }

    /// Rule 9
    @Test func aNightParkedJustInsideIsSilent() {
        var drive = Drive(plan(circle(40.0, 116.0, 50)))
        drive.play(east(0, 200, speed: 10), east(10, 120, speed: 10), east(20, 45, speed: 8))
        #expect(drive.alarms.map(\.action) == [.enter])
        drive.play((1...600).map { east(20 + Double($0) * 60, 45, accuracy: 8, speed: 0) })
        #expect(drive.alarms.count == 1)
        #expect(drive.place() == .in)
    }

    // MARK: Floors, altitude, groups, validity

    @Test func floors() {
        // Rule 15
        var drive = Drive(plan(area) { $0.floor = FloorCode(name: "3") })
        let floors = [(60.0, "2"), (120, "3"), (180, nil), (240, "2")] as [(Double, String?)]
        drive.play(floors.map { point($0.0, 40, 116, floor: $0.1) })
        #expect(drive.told == ["enter 1 120.0 by 120.0", "exit 1 240.0 by 240.0"])
        #expect(drive.alarms.allSatisfy { !$0.crossing.isEstimated })
    }

    @Test func noVisitPassesBetweenPointsOnAnotherFloor() {
        var drive = Drive(plan(area) { $0.floor = FloorCode(name: "3") })
        drive.play(point(0, 40, 115.9976579, floor: "2"), point(20, 40, 116.0023421))
        drive.play(point(40, 40, 115.9976579, floor: "2"))
        #expect(drive.alarms.isEmpty)
        drive.play(point(60, 40, 116.0023421), point(80, 40, 115.9976579))
        #expect(drive.alarms.count == 2)
    }

    @Test func altitudes() {
        var drive = Drive(plan(area) { $0.altitude = AltitudeRange(lower: 500, upper: 1000) })
        let heights = [(0.0, 49.9), (10, 50.0), (20, 100.0), (30, 100.1), (40, nil)] as [(Double, Double?)]
        drive.play(heights.map { point($0.0, 40, 116, altitude: $0.1) })
        #expect(drive.told == ["enter 1 10.0 by 10.0", "exit 1 30.0 by 30.0", "enter 1 40.0 by 40.0"])
        #expect(AltitudeRange(lower: 2, upper: 1) == nil)
    }

    @Test func aGroupIsInWhenAMemberIs() {
        // Rule 16
        let corner = GroupCode(name: "corner", watch: "van")
        let metres = 1 / metresPerDegreeEast
        var drive = Drive(
            plan(circle(40.0, 116.0, 60), id: 1) { $0.group = corner },
            plan(circle(40.0, 116.0 + 100 * metres, 60), id: 2) { $0.group = corner })
        drive.play((0...40).map { east(Double($0), -120 + Double($0) * 10, speed: 10) }.filter { $0.time != time(1) })
        let rounded = drive.alarms.map { alarm in
            "\(alarm.action) \(alarm.group == nil ? "\(alarm.fence)" : "group") \((alarm.crossing.time.milliseconds + 500) / 1000)"
        }
        #expect(
            Set(rounded) == ["enter 1 6", "enter group 6", "exit 1 18", "enter 2 16", "exit 2 28", "exit group 28"])
        #expect(drive.alarms.count == 6)
    }

    @Test func aGroupHasVisitsBetweenPointsToo() {
        let corner = GroupCode(name: "corner", watch: "van")
        var drive = Drive(plan(area) { $0.group = corner })
        drive.play(point(0, 40, 115.9976579), point(20, 40, 116.0023421))
        #expect(
            drive.told == [
                "enter 1 5.0 by 20.0", "enter group 5.0 by 20.0", "exit 1 15.0 by 20.0", "exit group 15.0 by 20.0",
            ])
        #expect(GroupCode(name: "a", watch: "bc") != GroupCode(name: "ab", watch: "c"))
    }

    @Test func theCrossingDecidesWhetherAFenceIsValid() {
        // Rule 17: 1970-01-01 was a Thursday; the window closes at 00:01:00.
        let window = WeeklyWindow(days: 0b000_1000, from: 0, to: 60)
        let validity = Validity(windows: [window!])
        for (causing, told) in [(61.0, 1), (70, 0)] {
            var drive = Drive(plan(area) { $0.validity = validity })
            // The edge is 5.86 s after the first point.
            drive.play(middle(causing - 10), point(causing, 40, 116.002, speed: 30))
            #expect(drive.alarms.count == told, "\(drive.told)")
            #expect(drive.place() == .out)
        }
    }

    @Test func theCrossingOfAnEnterDecidesToo() {
        // In at 8.83, known by the point at 10.
        for (end, told) in [(9.0, 1), (8, 0)] {
            var drive = Drive(plan(area) { $0.validity = Validity(through: time(end)) })
            drive.play(out(0), middle(10))
            #expect(drive.alarms.count == told)
            #expect(drive.place() == .in)
        }
    }

    @Test func aWindowThatOpensInventsNoEnter() {
        var drive = Drive(plan(area) { $0.validity = Validity(from: time(100), through: time(200)) })
        drive.play(out(0), middle(10), middle(120))
        #expect(drive.alarms.isEmpty)
        drive.play(out(150), middle(160), out(300))
        #expect(drive.alarms.map(\.action) == [.exit, .enter])
    }

    // MARK: Changes

    @Test func aChangedShapeSetsThePlaceWithoutAnAlarm() {
        // Rule 18: inside r 100 at 60 m.
        func round(_ radius: Double, _ revision: Int32, _ seconds: Double) -> FencePlan {
            plan(circle(40.0, 116.0, radius)) {
                ($0.revision, $0.areaRevision, $0.revisedAt) = (revision, revision, time(seconds))
            }
        }
        let spot = 116.0 + 60 / metresPerDegreeEast
        var drive = Drive(round(100, 1, -1000))
        drive.play(out(0), point(10, 40, spot))
        #expect(drive.alarms.count == 1)
        drive.fences.put(round(50, 2, 11))
        #expect(drive.place() == .out)
        drive.play(point(20, 40, spot))
        #expect(drive.place() == .out)
        drive.fences.put(round(100, 3, 21))
        #expect(drive.place() == .in)
        drive.play(point(30, 40, spot))
        drive.play(out(40), out(50))
        #expect(drive.alarms.map(\.action) == [.enter, .exit])
    }

    @Test func aVisitGoesOnThroughARevision() {
        var drive = Drive(plan(area))
        drive.play(out(0), middle(10))
        let since = drive.alarms.first?.crossing.time
        drive.fences.put(
            plan(circle(40.0, 116.0, 80)) { ($0.revision, $0.areaRevision, $0.revisedAt) = (2, 2, time(11)) })
        drive.play(middle(20), out(30))
        #expect(drive.alarms.map(\.revision) == [1, 2])
        #expect(drive.alarms.last?.inside == drive.alarms.last?.crossing.time.milliseconds(since: since!))
    }

    @Test(arguments: [nil, false]) func aRevisionFindsWhoStoodOutside(through: Bool?) {
        var drive = Drive(plan(area))
        drive.play(out(0), out(10))
        drive.fences.put(
            plan(circle(40.0, 116.01, 80)) {
                ($0.revision, $0.areaRevision, $0.revisedAt, $0.through) = (2, 2, time(11), through)
            })
        // Placed by the point at 10, so leaving is an exit.
        drive.play(middle(20), middle(30))
        #expect(drive.alarms.map(\.action) == [.exit])
    }

    @Test func aDeletedFenceIsSilent() {
        // Rule 20
        var drive = Drive(plan(area))
        drive.play(out(0), middle(10))
        drive.fences.remove(1)
        drive.play(out(20), out(30))
        #expect(drive.alarms.count == 1)
        #expect(drive.fenceState.pairs.isEmpty)
    }

    @Test func aFenceMadeWhileInsideIsFoundSilently() {
        var drive = Drive(plan(circle(41, 117, 50), id: 9))
        drive.play(middle(0))
        drive.fences.put(plan(area) { $0.from = time(1) })
        drive.play(middle(10))
        #expect(drive.alarms.isEmpty)
        #expect(drive.place() == .in)
    }

    @Test func watchingAgainBeginsAnew() {
        // Rule 21
        var drive = Drive(plan(area))
        drive.play(out(0), middle(10))
        drive.fences.put(plan(area) { $0.from = time(11) })
        drive.play(out(20), out(30))
        #expect(drive.alarms.count == 1)
    }

    @Test func aStatusForAPlaceIsGeometry() {
        // Rule 27: S2 at t 10.
        let round = plan(circle(40.0, 116.0, 50))
        var drive = Drive(round)
        drive.play([(0.0, 20.0), (5, 45), (10, 65)].map { east($0.0, $0.1, speed: 4) })
        let status = drive.fenceState.status(of: round)
        #expect(status.place == .in)
        #expect(near(status.signedDistance ?? 0, 15, 0.01))
        #expect(!round.shape.contains(east(0, 65).place))
    }

    // MARK: Entities' own fences

    @Test func ownFencesAreJudgedBesideThoseOfAll() {
        let all = FenceSet([plan(area, id: 2)])
        let own = FenceSet([plan(circle(40.0, 116.0, 50), id: 1)])
        var (judge, fenceState, alarms) = (FenceJudge(), EntityFenceState(), [FenceAlarm]())
        for point in [out(0), middle(10), out(20)] {
            #expect(judge.judge(point, of: &fenceState, by: all, own: own, into: &alarms) == .judged)
        }
        #expect(
            alarms.map(Drive.short) == [
                "enter 2 8.82 by 10.0", "enter 1 9.41 by 10.0", "exit 1 10.58 by 20.0", "exit 2 11.17 by 20.0",
            ])
    }
}

/// What fences would have told of a recorded track.
@Suite struct FenceTrialTests {
    @Test func aTrackIsJudgedAsIfItHadBeenDriven() {
        let world = World(seed: 5)
        var drive = Drive(world.plans)
        drive.play(world.points)
        #expect(!drive.alarms.isEmpty)
        let trial = FenceTrial(of: world.points, by: world.plans)
        #expect(trial.alarms == drive.alarms)
        #expect(trial.judged == world.points.count && trial.repeated == 0)
    }

    @Test func theOrderOfThePointsDoesNotMatterAndOneOfTwoAtOneTimeCounts() {
        let world = World(seed: 6)
        var random = Dice(seed: 7)
        let straight = FenceTrial(of: world.points, by: world.plans)
        #expect(FenceTrial(of: world.points.shuffled(using: &random), by: world.plans).alarms == straight.alarms)
        let twice = FenceTrial(of: world.points + world.points, by: world.plans)
        #expect(twice.alarms == straight.alarms && twice.repeated == world.points.count)
    }

    @Test func aFenceThatIsYoungerThanTheTrackIsTriedAllTheSame() {
        let young = plan(circle(40, 116, 50)) { ($0.from, $0.revisedAt) = (time(1e9), time(1e9)) }
        let trial = FenceTrial(of: [east(0, 90, speed: 8), east(5, 60, speed: 8), east(10, 20, speed: 8)], by: [young])
        #expect(trial.alarms.map(Drive.short) == ["enter 1 6.25 by 10.0"])
    }

    @Test func nothingMakesNothing() {
        let trial = FenceTrial(of: [], by: [])
        #expect(trial.alarms.isEmpty && trial.judged == 0)
    }
}
