import Geodesy
import JSON
import ProgramTestKit
import Testing
import TrackAnalysis
import TrackModel
import TrackTestKit

@testable import RoadMatching

@Suite struct MatcherTests {
    /// 20 m/s, 3 m beside the road.
    private func drive(_ count: Int, every seconds: Double = 2, left: Double = 3) -> [TrackSample] {
        (0..<count).map {
            sample($0, Double($0) * seconds, along: 30 + Double($0) * 20 * seconds, left: left, speed: 20)
        }
    }

    @Test func aTrackComesToItsRoad() throws {
        let samples = drive(400)
        let track = try MadeEngine().track(samples)
        #expect(track.matched == 1)
        #expect(near(track.length().driven, 399 * 40, 2))
        #expect(
            track.samples.allSatisfy { road in
                GreatCircle.distance(from: road.sample.place, to: MadeRoad.place(30 + Double(road.sample.index) * 40))
                    < 0.3
            })
        #expect(track.samples.dropFirst().allSatisfy { $0.path.map { near($0, 40, 0.5) } == true })
        #expect(track.samples.allSatisfy { $0.edge?.way == Int64(30 + $0.sample.index * 40) / 100 })
        #expect(RoadsState(track, failures: []) == .used(matched: 1))
    }

    @Test func skippedPointsLieOnThePathAndNeverGoBack() throws {
        // Ten points a second that jitter back and forth: only one in many is sent.
        for seed in Dice.seeds(20) {
            var random = Dice(seed: seed)
            let samples = (0..<2000).map {
                sample(
                    $0, Double($0) / 10, along: 50 + Double($0) * 2 + Double.random(in: -5...5, using: &random),
                    left: Double.random(in: -5...5, using: &random))
            }
            let track = try MadeEngine().track(samples)
            #expect(track.matched == 1, "seed \(seed)")
            #expect(track.samples.allSatisfy { ($0.path ?? 0) >= 0 }, "seed \(seed)")
            // OSRM #5653: the zigzag of 20 s at 10 Hz would be kilometres.
            #expect(near(track.length().driven, 4000, 12), "seed \(seed)")
        }
    }

    @Test func cornersStandBetweenTheirSamples() throws {
        let track = try MadeEngine().track(drive(20, every: 4))
        let road = track.samples[3]
        // From 190 m to 270 m: corners at 200 m and 250 m.
        #expect(road.corners.count == 2)
        #expect(
            zip(road.corners, [200.0, 250]).allSatisfy {
                GreatCircle.distance(from: $0.place, to: MadeRoad.place($1)) < 0.2
            })
        let begin = track.samples[2].sample.timestamp
        #expect(road.corners.map { $0.time.milliseconds(since: begin) }.map { ($0 + 50) / 100 } == [5, 30])
    }

    @Test func chunksDoNotShow() throws {
        // 4,000 points 60 m apart: several chunks.
        let samples = (0..<4000).map { sample($0, Double($0) * 3, along: 30 + Double($0) * 60, left: 2) }
        let plan = TracePlan(samples)
        #expect(plan.chunks.count > 3)
        let track = try MadeEngine().track(samples)
        #expect(track.matched == 1 && near(track.length().driven, 3999 * 60, 30))
        #expect(track.samples.dropFirst().allSatisfy { $0.path.map { near($0, 60, 0.5) } == true })
    }

    @Test func aLostChunkCostsOnlyItself() throws {
        let samples = (0..<4000).map { sample($0, Double($0) * 3, along: 30 + Double($0) * 60, left: 2) }
        let plan = TracePlan(samples)
        let track = try MadeEngine().track(samples, lost: [1])
        // What the neighbours know of the lost chunk's ends is theirs.
        let lost = track.samples.filter { $0.edge == nil }.map(\.sample.index)
        let inner = plan.chunks[1].range.lowerBound + 40..<plan.chunks[1].range.upperBound - 40
        #expect(lost == Array(inner))
        #expect(near(track.length().driven, 3999 * 60, 60))
        #expect(RoadsState(track, failures: [.timeout]) == .partly(matched: track.matched))
    }

    @Test func noRoadIsDrawnAcrossAHole() throws {
        // valhalla #4267: the answer has a hole and no flag.
        let samples = drive(200).filter { !(2000..<3500).contains(Double($0.index) * 40) }
        let track = try MadeEngine(hole: 2000..<3500).track(samples)
        let behind = try #require(track.samples.first { $0.sample.index * 40 >= 3500 })
        #expect(behind.path == nil && behind.corners.isEmpty && behind.edge != nil)
        #expect(track.samples.filter { $0.path == nil }.count == 2)
    }

    @Test func theRecordedHoleIsAHole() throws {
        let samples = RecordedAnswers.tunnelFixes.enumerated().map { index, fix in
            TrackSample(
                index: index, time: fix.2 * 1000, latitudeE7: Int32((fix.0 * 1e7).rounded()),
                longitudeE7: Int32((fix.1 * 1e7).rounded()))
        }
        let answer = try TraceAnswer(RoadReply(RecordedAnswers.tunnelTrace), count: samples.count)
        let match = ChunkMatch(answer, for: samples)
        let places = match.places.compactMap(\.self)
        #expect(places.count == 10)
        #expect(match.isConnected(places[0], places[4]) && match.isConnected(places[5], places[9]))
        #expect(!match.isConnected(places[4], places[5]))
        // The tunnel parts the track before it is sent, and the route through it is believed.
        let plan = TracePlan(samples)
        #expect(plan.parts.map(\.range) == [0..<5, 5..<10])
        var track = TrackMatcher.track(plan, [nil, nil])
        for position in samples.indices { track.samples[position].edge = answer.edges[0] }
        let bridges = track.bridges
        #expect(bridges.map(\.position).contains(5))
        let bridge = try #require(bridges.first { $0.position == 5 })
        let route = try RouteAnswer(RoadReply(RecordedAnswers.tunnelRoute))
        #expect(bridge.accepts(route, speedCap: 200 / 3.6))
        track.lay(route, over: bridge)
        #expect(track.samples[5].path == route.metres && track.samples[5].corners.count > 3)
        let times = track.samples[5].corners.map(\.time)
        #expect(
            times == times.sorted() && times.allSatisfy { $0 > bridge.start.timestamp && $0 < bridge.end.timestamp })
    }

    @Test func aMatchTooFarFromItsFixIsNone() throws {
        func matched(_ left: Double, radius: Double?) throws -> Double {
            let samples = (0..<50).map {
                sample($0, Double($0) * 2, along: 30 + Double($0) * 40, left: left, radius: radius)
            }
            return try MadeEngine().track(samples).matched
        }
        #expect(try matched(24, radius: nil) == 1)
        #expect(try matched(26, radius: nil) == 0)
        #expect(try matched(59, radius: 30) == 1)
        #expect(try matched(61, radius: 30) == 0)
    }

    @Test func aDetourThatNobodyDroveIsNoPath() {
        // map-matching-2 #12: the fixes cross a car park, the path goes round it.
        let samples = [sample(0, 0, along: 0), sample(1, 20, along: 200)]
        func path(_ metres: Double) -> Double? {
            let aside = (metres * metres / 4 - 100 * 100).squareRoot()
            let vertices = [MadeRoad.place(0), MadeRoad.place(100, left: aside), MadeRoad.place(200)]
            let text = #"{"shape":"\#(encoded(vertices))","edges":[{"begin_shape_index":0,"end_shape_index":2}],"#
            let points = [0.0, 1].map { (share: Double) -> String in
                let place = MadeRoad.place(share * 200)
                return #"{"type":"matched","lat":\#(place.latitude),"lon":\#(place.longitude),"edge_index":0,"#
                    + #""distance_along_edge":\#(share),"distance_from_trace_point":3}"#
            }
            let reply = RoadReply(
                text.replacing("\\", with: "\\\\") + #""matched_points":[\#(points.joined(separator: ","))]}"#)
            guard let answer = try? TraceAnswer(reply, count: 2) else { return nil }
            let track = TrackMatcher.track(TracePlan(samples), [ChunkMatch(answer, for: samples)])
            return track.samples[1].path
        }
        #expect(path(399).map { near($0, 399, 1) } == true)
        #expect(path(402) == nil)
    }

    @Test func pointsAtTheEndStandAtTheLastPlace() throws {
        // The engine leaves the end of a trailing stop unmatched.
        let samples = drive(40) + [sample(40, 100, along: 30 + 39 * 40 + 15, left: 3)]
        let track = try MadeEngine(unmatched: [40]).track(samples)
        #expect(track.matched == 1 && track.samples[40].path == 0)
        #expect(track.samples[40].sample.place == track.samples[39].sample.place)
        // A point farther on is no stop.
        let away = drive(40) + [sample(40, 100, along: 30 + 39 * 40 + 40, left: 3)]
        #expect(try MadeEngine(unmatched: [40]).track(away).samples[40].edge == nil)
    }

    @Test func aShortSpurAtTheEndChangesNothing() throws {
        // FMM #106.
        let samples = drive(50)
        let spur = samples + [sample(50, 100, along: 30 + 49 * 40 + 1, left: 3)]
        let (before, after) = (try MadeEngine().track(samples), try MadeEngine().track(spur))
        #expect(after.matched == 1 && near(after.length().driven, before.length().driven + 1, 0.3))
    }

    @Test func manyEqualPointsChangeNothing() throws {
        // OSRM #5943: 200 points at one place in the middle of the drive.
        let first = drive(50)
        let equal = (0..<200).map { sample(50 + $0, 100 + Double($0) / 10, along: 30 + 49 * 40, left: 3, speed: 0) }
        let rest = (0..<50).map { sample(250 + $0, 122 + Double($0) * 2, along: 30 + Double(50 + $0) * 40, left: 3) }
        let track = try MadeEngine().track(first + equal + rest)
        #expect(track.matched == 1 && near(track.length().driven, 99 * 40, 2))
    }

    @Test func onePointInTheSeaLeavesTheRest() throws {
        // GraphHopper #156, #2621.
        let samples = drive(100).map { $0.index == 50 ? sample(50, 100, along: 2030, left: 400) : $0 }
        let track = try MadeEngine(unmatched: [50]).track(samples)
        #expect(track.samples.filter { $0.edge == nil }.map(\.sample.index) == [50])
    }

    @Test func limitsAndTollsComeFromTheRoad() throws {
        let samples = drive(100)
        let track = try MadeEngine(isToll: true).track(samples)
        #expect(near(track.toll, track.length().driven, 1e-6))
        // 72 km/h where 50 is the limit.
        let behaviour = track.behaviour(DrivingOptions(), denoised: samples)
        #expect(behaviour.speeding.count == 1)
        #expect(behaviour.speeding.allSatisfy { near($0.distance, 99 * 40, 2) && $0.start.limit == 50 })
        let free = try MadeEngine(limit: .string("unlimited")).track(samples)
        #expect(free.behaviour(DrivingOptions(), denoised: samples).speeding.isEmpty && free.toll == 0)
    }

    @Test func aHardStopBeforeACollapsedStopIsWhatItWas() throws {
        // 15 m/s, a stop at 3 m/s², 100 s at rest: the last metres of the braking are part of the stop.
        let speeds = [Double](repeating: 15, count: 30) + [12, 9, 6, 3] + [Double](repeating: 0, count: 100)
        var along = 30.0
        let denoised = speeds.enumerated().map { number, speed in
            along += number > 0 ? (speeds[number - 1] + speed) / 2 : 0
            return sample(number, Double(number), along: along, left: 2, speed: speed)
        }
        var drops = DropReasons()
        let collapsed = StopCollapse.apply(StopCollapse(), to: denoised, &drops)
        #expect(drops.counts[.stop].map { $0 > 90 } == true)
        let track = try MadeEngine().track(collapsed)
        let found = track.behaviour(DrivingOptions(), denoised: denoised)
        #expect(found.brakings.map(\.acceleration) == [-3] && found.brakings.map(\.initialSpeed) == [54])
        #expect(found.brakings.map(\.endSpeed) == [0] && found.accelerations.isEmpty)
        #expect(near(found.distance, track.length().driven, 1e-6))
        // At 54 km/h on a road of 50.
        #expect(found.speeding.map { [$0.start.index, $0.end.index] } == [[0, 29]])
    }

    @Test func statesSayWhatRoadsDid() throws {
        let good = try MadeEngine().track(drive(100))
        let none = TrackMatcher.track(TracePlan(drive(100)), [nil])
        #expect(RoadsState(none, failures: [.noMapHere]) == .none)
        // A refused route and an unknown road are told apart.
        let noWay = RoadsState(found: 0, asked: 2, failures: [.noMapHere, .noWay])
        #expect(noWay == .noWay && noWay.name == "none" && noWay.reason == "no_way")
        #expect(RoadsState(found: 0, asked: 2, failures: [.noWay, .timeout]) == .unavailable(.timeout))
        #expect(RoadsState(found: 0, asked: 1, failures: [.noMapHere]).reason == nil)
        #expect(RoadsState(none, failures: [.noMapHere, .timeout]) == .unavailable(.timeout))
        #expect(RoadsState(none, failures: [.timeout]).reason == "timeout")
        #expect(RoadsState(good, failures: [.busy]).name == "partly")
        #expect(RoadsState(good, failures: []).matched == 1 && RoadsState.off.matched == nil)
        // Most of it unmatched: partly.
        let some = try MadeEngine(unmatched: Set(0..<50)).track(drive(100))
        #expect(RoadsState(some, failures: []).name == "partly")
        // Nothing was worth sending: nothing failed.
        let parked = TrackMatcher.track(TracePlan([sample(0, 0, along: 0)]), [])
        #expect(RoadsState(parked, failures: []) == .used(matched: nil))
    }
}
