import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import Geofencing

/// What holds for all fences and all drives. Seeds are fresh on every run, and a failure prints its own.
@Suite struct MachinePropertyTests {
    private func play(_ world: World, _ change: (inout Drive) -> Void = { _ in }) -> Drive {
        var drive = Drive(world.plans)
        change(&drive)
        drive.play(world.points)
        return drive
    }

    private func expectEqual(
        _ one: [FenceAlarm], _ two: [FenceAlarm], seed: UInt64, location: SourceLocation = #_sourceLocation
    ) {
        #expect(one.map(\.gist) == two.map(\.gist), "seed \(seed)", sourceLocation: location)
        for (left, right) in zip(one, two) {
            let difference = left.crossing.time.milliseconds - right.crossing.time.milliseconds
            #expect(difference.magnitude <= 2, "seed \(seed): \(left) \(right)", sourceLocation: location)
        }
    }

    @Test func drivesMakeAlarmsOfEveryKind() {
        var actions: [FenceAction: Int] = [:]
        for seed in Dice.seeds(100) {
            for alarm in play(World(seed: seed)).alarms { actions[alarm.action, default: 0] += 1 }
        }
        #expect(FenceAction.allCases.allSatisfy { actions[$0, default: 0] > 0 }, "\(actions)")
    }

    @Test func theLongitudeDoesNotMatter() {
        for seed in Dice.seeds(25) {
            let plain = play(World(seed: seed)).alarms
            var random = Dice(seed: seed ^ 1)
            for shift in [640_000_000, 639_990_000, Int64.random(in: -1_800_000_000...1_800_000_000, using: &random)] {
                expectEqual(plain, play(World(seed: seed, shift: shift)).alarms, seed: seed)
            }
        }
    }

    @Test func theIndexFindsWhatLookingAtAllFinds() {
        for seed in Dice.seeds(30) {
            let world = World(seed: seed, latitude: [0.0, 40, 69, -55][Int(seed % 4)], fences: 40)
            let plain = play(world)
            let all = play(world) { $0.judge.looksAtAll = true }
            #expect(plain.alarms == all.alarms, "seed \(seed)")
            #expect(plain.fenceState == all.fenceState, "seed \(seed)")
        }
    }

    @Test func hasteChangesNothing() {
        for seed in Dice.seeds(60) {
            let world = World(seed: seed, latitude: [0.0, 40, 69, -55][Int(seed % 4)], fences: 20)
            var random = Dice(seed: seed ^ 4)
            var (plans, drive) = (world.plans, Drive(world.plans))
            let denoises = Set(plans.map(\.denoise)).filter { $0 > 0 }.sorted()
            var (fenceState, alarms) = (EntityFenceState(), [FenceAlarm]())
            for point in world.points {
                drive.play(point)
                ReferenceJudge.judge(point, of: &fenceState, by: plans, denoises: denoises, into: &alarms)
                guard drive.fenceState == fenceState, drive.alarms == alarms else {
                    Issue.record("seed \(seed), \(point): \(drive.told.suffix(4)) \(alarms.suffix(4).map(Drive.short))")
                    break
                }
                // Now and then a fence takes the shape of another one, moves away, or goes.
                let index = Int.random(in: 0..<plans.count * 6, using: &random)
                guard plans.indices.contains(index), plans.count > 5 else { continue }
                if Bool.random(using: &random) {
                    drive.fences.remove(plans.remove(at: index).id)
                } else {
                    plans[index].revision += 1
                    // Half of the edits are of the rule alone.
                    if Bool.random(using: &random) {
                        plans[index].settle = [0, 5, 20][Int.random(in: 0..<3, using: &random)]
                    } else {
                        let shape = world.plans[Int.random(in: world.plans.indices, using: &random)].shape
                        Self.reshape(&plans[index], as: shape, after: point)
                    }
                    drive.fences.put(plans[index])
                }
            }
        }
    }

    private static func reshape(_ plan: inout FencePlan, as shape: Shape, after point: FencePoint) {
        plan.shape = shape
        plan.areaRevision = plan.revision
        plan.revisedAt = point.time.adding(milliseconds: 1)
    }

    @Test func theFencesNearbyAreEnough() {
        var (most, fewest) = (0, Int.max)
        for seed in Dice.seeds(60) {
            let shift: Int64 = seed % 3 == 0 ? 640_000_000 : 0
            let world = World(
                seed: seed, shift: shift, latitude: [0.0, 40, 69, -55][Int(seed % 4)], fences: 30, points: 160)
            var random = Dice(seed: seed ^ 8)
            var (plans, drive) = (world.plans, Drive(world.plans))
            var field = FenceField(count: plans.count, slack: [1, 20, 100, 500][Int(seed / 4 % 4)])
            for plan in plans { field.add(plan) }
            var (judge, fenceState, alarms) = (FenceJudge(), EntityFenceState(), [FenceAlarm]())
            for point in world.points {
                let near = field.near(point, fenceState) { number in plans.first { $0.id == number } }
                (most, fewest) = (max(most, near.count), min(fewest, near.count))
                _ = judge.judge(point, of: &fenceState, by: near, into: &alarms)
                drive.play(point)
                guard drive.fenceState == fenceState, drive.alarms == alarms else {
                    Issue.record("seed \(seed), \(point): \(drive.told.suffix(4)) \(alarms.suffix(4).map(Drive.short))")
                    break
                }
                let index = Int.random(in: 0..<plans.count * 8, using: &random)
                guard plans.indices.contains(index), plans.count > 5 else { continue }
                if Bool.random(using: &random) {
                    field.remove(plans[index].id)
                    drive.fences.remove(plans.remove(at: index).id)
                } else {
                    plans[index].revision += 1
                    let shape = world.plans[Int.random(in: world.plans.indices, using: &random)].shape
                    Self.reshape(&plans[index], as: shape, after: point)
                    field.put(plans[index])
                    drive.fences.put(plans[index])
                }
            }
        }
        #expect(fewest < 5 && most > 10, "\(fewest) to \(most) fences were near")
    }

    @Test func packedChangedAndOwnFencesAreTheSame() {
        for seed in Dice.seeds(25) {
            let world = World(seed: seed)
            let plain = play(world).alarms
            var changed = FenceSet(world.plans.prefix(5).map { FencePlan(id: $0.id, shape: .nowhere) })
            for plan in world.plans { changed.put(plan) }
            let overlay = changed
            #expect(play(world) { $0.fences = overlay }.alarms == plain, "seed \(seed)")
            #expect(play(world) { $0.fences = overlay.rebuilt() }.alarms == plain, "seed \(seed)")
            let (even, odd) = (
                FenceSet(world.plans.filter { $0.id % 2 == 0 }), FenceSet(world.plans.filter { $0.id % 2 == 1 })
            )
            var (judge, fenceState, alarms) = (FenceJudge(), EntityFenceState(), [FenceAlarm]())
            for point in world.points { _ = judge.judge(point, of: &fenceState, by: even, own: odd, into: &alarms) }
            #expect(alarms == plain, "seed \(seed)")
        }
    }

    @Test func aRestartAnywhereChangesNothing() throws {
        for seed in Dice.seeds(25) {
            let world = World(seed: seed)
            let plain = play(world)
            var drive = Drive(world.plans)
            for point in world.points {
                drive.fenceState = try EntityFenceState(encoded: drive.fenceState.encoded)
                drive.judge = FenceJudge()
                drive.play(point)
            }
            #expect(drive.alarms == plain.alarms, "seed \(seed)")
            let scope = AlarmScope(service: 1, entity: "van", source: .server)
            let keys = Set(plain.alarms.map { AlarmKey($0, in: scope) })
            #expect(keys.count == plain.alarms.count, "seed \(seed): keys are unique")
        }
    }

    @Test func replayAndLatePointsChangeNothing() {
        for seed in Dice.seeds(25) {
            let world = World(seed: seed)
            var drive = Drive(world.plans)
            var random = Dice(seed: seed ^ 2)
            for (index, point) in world.points.enumerated() {
                drive.play(point)
                let before = drive.fenceState
                drive.play(world.points[Int.random(in: 0...index, using: &random)])
                #expect(drive.fenceState == before, "seed \(seed)")
            }
            #expect(drive.late == world.points.count, "seed \(seed)")
            #expect(drive.alarms == play(world).alarms, "seed \(seed)")
        }
    }

    @Test func alarmsAlternateAndStaysLieInside() {
        var (visits, stays) = (0, 0)
        for seed in Dice.seeds(30) {
            let alarms = play(World(seed: seed)).alarms
            for fence in Set(alarms.map(\.fence)) {
                var (isIn, since, last) = (Bool?.none, Int64.min, Int64.min)
                for alarm in alarms where alarm.fence == fence && alarm.group == nil && alarm.action != .overspeed {
                    let crossing = alarm.crossing.time.milliseconds
                    #expect(crossing <= alarm.point.time.milliseconds, "seed \(seed): \(alarm)")
                    #expect(crossing >= last, "seed \(seed): \(alarm)")
                    #expect(alarm.crossing.earliest <= alarm.crossing.latest, "seed \(seed)")
                    last = crossing
                    switch alarm.action {
                    case .enter:
                        #expect(isIn != true, "seed \(seed)")
                        (isIn, since) = (true, crossing)
                    case .exit:
                        #expect(isIn != false, "seed \(seed)")
                        if isIn == true {
                            visits += 1
                            #expect(alarm.inside == crossing - since, "seed \(seed)")
                        }
                        isIn = false
                    case .stay, .overspeed:
                        #expect(isIn != false, "seed \(seed)")
                        if isIn == true {
                            stays += 1
                            #expect(alarm.inside == crossing - since, "seed \(seed)")
                        }
                    }
                }
            }
        }
        #expect(visits > 30 && stays > 3, "\(visits) visits, \(stays) stays")
    }

    @Test func alarmsOfOnePointAreInOrder() {
        var (ofOnePoint, ofOneTime) = (0, 0)
        for seed in Dice.seeds(25) {
            let world = World(seed: seed)
            // Each shape twice: every crossing is one of two fences at one time.
            let twins = world.plans.map { FencePlan(id: $0.id + 1000, revision: $0.revision, shape: $0.shape) }
            var drive = Drive(world.plans + twins)
            drive.play(world.points)
            for (left, right) in zip(drive.alarms, drive.alarms.dropFirst()) where left.point.time == right.point.time {
                ofOnePoint += 1
                #expect(left.crossing.time <= right.crossing.time, "seed \(seed)")
                guard left.crossing.time == right.crossing.time else { continue }
                ofOneTime += 1
                if left.action == .enter { #expect(right.action != .exit, "seed \(seed)") }
            }
        }
        #expect(ofOnePoint > 100 && ofOneTime > 100, "\(ofOnePoint) alarms of one point, \(ofOneTime) of one time")
    }

    /// At one time a vehicle leaves one fence and comes into its neighbour: the exit is told first, whatever their numbers are.
    /// No point lies on the shared edge, and the first one beyond it is clear of its error, so that one point tells both: an
    /// exit needs that, an enter does not.
    @Test(arguments: [(1, 2), (2, 1)] as [(Int32, Int32)]) func anExitIsToldBeforeAnEnterOfTheSameTime(
        west: Int32, east: Int32
    ) {
        let fences = [
            FencePlan(id: west, shape: polygon([(40, 116), (40, 116.002), (40.002, 116.002), (40.002, 116)])),
            FencePlan(id: east, shape: polygon([(40, 116.002), (40, 116.004), (40.002, 116.004), (40.002, 116.002)])),
        ]
        var drive = Drive(fences)
        for step in 0...8 {
            drive.play(point(Double(step) * 10, 40.001, 115.9994 + Double(step) * 0.0005))
        }
        let crossings = drive.alarms.map { "\($0.action) \($0.fence == west ? "west" : "east")" }
        #expect(crossings == ["enter west", "exit west", "enter east"], "\(drive.told)")
        #expect(drive.alarms.map(\.crossing.time) == [time(12), time(52), time(52)], "\(drive.told)")
        #expect(drive.alarms.map(\.point.time) == [time(20), time(60), time(60)], "\(drive.told)")
    }

    @Test func aGroupIsTheOrOfItsMembers() {
        var ofGroups = 0
        for seed in Dice.seeds(30) {
            var world = World(seed: seed)
            let group = GroupCode(name: "all", watch: "van")
            let plans = world.plans.map { plan in
                var plan = plan
                plan.group = group
                plan.initial = true
                return plan
            }
            world = World(seed: seed)
            var drive = Drive(plans)
            var isIn = false
            for point in world.points {
                let first = drive.alarms.count
                drive.play(point)
                for alarm in drive.alarms[first...] where alarm.group != nil {
                    ofGroups += 1
                    #expect(isIn == (alarm.action == .exit), "seed \(seed)")
                    isIn = alarm.action == .enter
                }
                #expect(isIn == drive.fenceState.pairs.contains { $0.place == .in }, "seed \(seed)")
            }
        }
        #expect(ofGroups > 30, "\(ofGroups) alarms of groups")
    }

    @Test func whatIsAbsentIsOut() {
        for seed in Dice.seeds(25) {
            let world = World(seed: seed)
            let plain = play(world)
            var drive = Drive(world.plans)
            for point in world.points {
                drive.play(point)
                for plan in world.plans where !drive.fenceState.pairs.contains(where: { $0.fence == plan.id }) {
                    // Only what was judged may be called out.
                    guard drive.fenceState.lastPoint(denoise: plan.denoise) != nil else { continue }
                    drive.fenceState.pairs.append(
                        FencePair(fence: plan.id, revision: 1, place: .out, since: Timestamp(milliseconds: 0)))
                }
                drive.fenceState.pairs.sort { $0.fence < $1.fence }
            }
            #expect(drive.alarms == plain.alarms, "seed \(seed)")
        }
    }

    @Test func aTrackBackwardsHasAsManyVisits() {
        var visits = 0
        for seed in Dice.seeds(60) {
            let world = World(seed: seed, fences: 8)
            var random = Dice(seed: seed ^ 3)
            let two = (0..<2).map { _ in world.points[Int.random(in: 0..<world.points.count, using: &random)].place }
            let (start, end) = (two[0], two[1])
            // Nearer than the error the first place would not be known.
            for plan in world.plans
            where plan.shape.signedDistance(to: start) > 20 && plan.shape.signedDistance(to: end) > 20 {
                let way = Way(from: start, to: end)
                let depths = plan.shape.passage(of: way).parts.map { part in
                    -plan.shape.signedDistance(to: way.place(at: (part.lowerBound + part.upperBound) / 2))
                }
                // On the grid the middle of a way is not the middle of the way back.
                guard depths.allSatisfy({ ($0 - 20).magnitude > 0.1 }) else { continue }
                var plain = FencePlan(id: 1, shape: plan.shape)
                plain.through = true
                let counts = [(start, end), (end, start)].map { way in
                    var drive = Drive(plain)
                    for (index, place) in [way.0, way.1].enumerated() {
                        drive.play(FencePoint(time: time(Double(index) * 60), place: place, accuracy: 20))
                    }
                    return drive.alarms.count
                }
                #expect(counts[0] == counts[1], "seed \(seed)")
                visits += counts[0]
            }
        }
        #expect(visits > 30, "\(visits) alarms")
    }

    @Test func exactPointsOnTheWayKeepTheCrossings() {
        for seed in Dice.seeds(60) {
            var random = Dice(seed: seed)
            let radius = Double.random(in: 60...400, using: &random)
            let shapes = [
                circle(40, 116, radius),
                polygon([(40.001, 116.0), (39.9985, 116.002), (39.999, 115.998)]),
                corridor([(40, 115.99), (40, 116.01)], 80),
            ]
            func odd() -> Int32 { Int32.random(in: -60_000...60_000, using: &random) * 2 }
            let start = (400_000_000 + odd(), 1_160_000_000 + odd())
            let end = (400_000_000 + odd(), 1_160_000_000 + odd())
            let middle = (start.0 + (end.0 - start.0) / 2, start.1 + (end.1 - start.1) / 2)
            let points = [start, middle, end].enumerated().compactMap { index, one in
                Coordinate(latitudeE7: one.0, longitudeE7: one.1).map {
                    FencePoint(time: time(Double(index) * 50), place: $0, accuracy: 0)
                }
            }
            for shape in shapes
            where [start, end].indices.allSatisfy({
                shape.signedDistance(to: points[$0 * 2].place) > 25 || shape.contains(points[$0 * 2].place)
            }) {
                let plan = plan(shape) { ($0.initial, $0.through) = (false, true) }
                var (two, three) = (Drive(plan), Drive(plan))
                two.play([points[0], points[2]])
                three.play(points)
                // A way may leave a bent boundary by less than anything can tell.
                let visits = shape.passage(of: Way(from: points[0].place, to: points[2].place)).parts
                guard visits.allSatisfy({ $0.upperBound - $0.lowerBound > 0.01 }) else { continue }
                #expect(
                    two.alarms.map(\.action) == three.alarms.map(\.action), "seed \(seed): \(two.told) \(three.told)")
                for (left, right) in zip(two.alarms, three.alarms) {
                    let difference = left.crossing.time.milliseconds - right.crossing.time.milliseconds
                    #expect(difference.magnitude <= 20, "seed \(seed): \(two.told) \(three.told)")
                }
            }
        }
    }
}
