import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import Geofencing

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
