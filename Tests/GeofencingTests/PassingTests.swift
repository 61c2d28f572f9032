import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import Geofencing

/// Points that are passed over together leave what judging each of them leaves.
@Suite struct PassingTests {
    /// The world's drive with long parts of it far to the north, where no fence is.
    private static func drive(_ world: World, _ random: inout Dice) throws -> [FencePoint] {
        var points = world.points
        var index = 0
        while index < points.count {
            let count = Int.random(in: 1...70, using: &random)
            if Bool.random(using: &random) {
                for far in index..<min(index + count, points.count) {
                    let place = points[far].place
                    let latitude = place.latitudeE7 + 1_000_000
                    points[far].place = try #require(Coordinate(latitudeE7: latitude, longitudeE7: place.longitudeE7))
                }
            }
            index += count
        }
        // Now and then a point comes again.
        for index in points.indices.dropFirst() where Int.random(in: 0..<60, using: &random) == 0 {
            points[index] = points[index - 1]
        }
        return points
    }

    @Test func passingOverChangesNothing() throws {
        var passed = 0
        for seed in Dice.seeds(60) {
            var random = Dice(seed: seed ^ 9)
            let world = World(
                seed: seed, shift: [0, 640_000_000][Int(seed % 2)], fences: Int.random(in: 1...6, using: &random),
                points: 400)
            let points = try Self.drive(world, &random)
            let half = world.plans.count / 2
            var everyones = FenceSet(Array(world.plans.prefix(half)))
            let own = FenceSet(Array(world.plans.dropFirst(half)))
            var (one, many) = (FenceJudge(), FenceJudge())
            var (fenceState, other) = (EntityFenceState(), EntityFenceState())
            var (alarms, others) = ([FenceAlarm](), [FenceAlarm]())
            var rest = points[...]
            while let point = rest.first {
                let count = many.passOver(rest.prefix(100), of: &other, by: everyones, own: own)
                passed += count
                if count == 0 { _ = many.judge(point, of: &other, by: everyones, own: own, into: &others) }
                for point in rest.prefix(max(count, 1)) {
                    _ = one.judge(point, of: &fenceState, by: everyones, own: own, into: &alarms)
                }
                rest = rest.dropFirst(max(count, 1))
                guard fenceState == other, alarms == others else {
                    Issue.record("seed \(seed), at \(point), \(count) points passed over")
                    break
                }
                // A fence is moved beside the way: its place is unknown for a moment.
                if Int.random(in: 0..<40, using: &random) == 0, var plan = world.plans.first, half > 0 {
                    plan.revision += 1 + Int32(points.count - rest.count)
                    plan.areaRevision = plan.revision
                    plan.revisedAt = point.time.adding(milliseconds: 1)
                    everyones.put(plan)
                }
            }
        }
        #expect(passed > 500)
    }

    /// The way to a point beside the antimeridian is not the way around the earth.
    @Test func aFenceBehindTheAntimeridianIsFound() throws {
        let set = FenceSet([FencePlan(id: 1, shape: circle(0, -179.99, 500))])
        var (judge, fenceState) = (FenceJudge(), EntityFenceState())
        var alarms: [FenceAlarm] = []
        _ = judge.judge(point(0, 0, 179.9), of: &fenceState, by: set, into: &alarms)
        let way = (1...20).map { step -> FencePoint in
            let longitude = 179.9 + Double(step) * 0.01
            return point(Double(step) * 60, 0, longitude > 180 ? longitude - 360 : longitude)
        }
        var rest = way[...]
        while let next = rest.first {
            let count = judge.passOver(rest, of: &fenceState, by: set)
            if count == 0 { _ = judge.judge(next, of: &fenceState, by: set, into: &alarms) }
            rest = rest.dropFirst(max(count, 1))
        }
        #expect(alarms.map(\.action) == [.enter, .exit])
    }
}
