import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

@Suite struct DrivingTests {
    /// A drive northwards with one speed (m/s) each `spacing` seconds; the places agree with the speeds.
    private func samples(_ speeds: [Double?], spacing: Double = 1, courses: [Double]? = nil) -> [TrackSample] {
        var place = Degrees(latitude: 47, longitude: 9)
        var previous: Double?
        return TrackColumns(
            fixes: speeds.enumerated().map { number, speed in
                let course = courses?[number] ?? 0
                if let before = previous {
                    place = destination(
                        from: place, bearing: course, distance: (before + (speed ?? before)) / 2 * spacing)
                }
                previous = speed ?? previous
                return .at(Double(number) * spacing, place.latitude, place.longitude, speed: speed, course: course)
            }
        ).samples
    }

    private func rated(_ samples: [TrackSample], _ options: DrivingOptions = DrivingOptions()) -> DrivingBehaviour {
        DrivingAnalyzer.behaviour(options, in: samples)
    }

    @Test func oneHardStopIsOneEvent() {
        let found = rated(samples([15, 15, 12, 9, 6, 3, 0, 0, 0]))
        #expect(found.brakings.count == 1 && found.accelerations.isEmpty)
        let event = found.brakings[0]
        #expect(event.index == 1 && event.seconds == 5 && event.acceleration == -3)
        #expect(event.initialSpeed == 54 && event.endSpeed == 0)
    }

    @Test func theThresholdIsInclusive() {
        #expect(rated(samples([10, 11.67, 11.67])).accelerations.map(\.acceleration) == [1.67])
        #expect(rated(samples([10, 11.66, 11.66])).accelerations.isEmpty)
        #expect(rated(samples([11.67, 10, 10])).brakings.map(\.acceleration) == [-1.67])
        #expect(rated(samples([11.66, 10, 10])).brakings.isEmpty)
    }

    @Test func aMeanOverTheThresholdProvesAnEventUpToTenSeconds() {
        #expect(rated(samples([10, 16], spacing: 3)).accelerations.count == 1)
        #expect(rated(samples([10, 20], spacing: 5)).accelerations.map(\.acceleration) == [2])
        #expect(rated(samples([20, 10, 10], spacing: 5)).brakings.map(\.acceleration) == [-2])
        #expect(rated(samples([10, 18], spacing: 5)).accelerations.isEmpty)
        #expect(rated(samples([8, 28], spacing: 10)).accelerations.count == 1)
        #expect(rated(samples([8, 28.1], spacing: 10.001)).accelerations.isEmpty)
        // What it does not prove may be hidden: the rate says so.
        #expect(rated(samples([10, 20, 20], spacing: 5)).rate.isInsufficient)
        // A curve too: 60 degrees in 4 s at 20 m/s.
        let curve = samples([20, 20, 20], spacing: 4, courses: [0, 60, 60])
        #expect(rated(curve).steerings.map(\.turn) == [.right])
        #expect(rated(samples([10, 12], spacing: 0.95)).accelerations.count == 1)
        #expect(rated(samples([10, 12], spacing: 0.94)).accelerations.isEmpty)
    }

    @Test func aPairThatNoVehicleReachesIsAnError() {
        #expect(rated(samples([10, 18.1])).accelerations.count == 1)
        #expect(rated(samples([20, 7.1, 7.1])).brakings.count == 1)
        #expect(rated(samples([10, 23.1])).accelerations.isEmpty)
    }

    @Test(arguments: [7.0, 8.1, 9, 9.8, 11, 12.5], [1.0, 2, 3, 5])
    func anEmergencyStopIsOneEventWithItsWholeFall(_ braking: Double, _ spacing: Double) {
        // 25 m/s, then the brake at any moment between two points, then rest. The places are those of the motion.
        for share in [0, 0.25, 0.5, 0.9] {
            let begin = 20 + share * spacing
            func speed(_ time: Double) -> Double { max(0, 25 - max(0, time - begin) * braking) }
            func way(_ time: Double) -> Double {
                let slow = min(max(0, time - begin), 25 / braking)
                return 25 * min(time, begin) + 25 * slow - braking * slow * slow / 2
            }
            let fixes = (0...Int(40 / spacing)).map { number in
                let time = Double(number) * spacing
                let place = destination(
                    from: Degrees(latitude: 47, longitude: 9), bearing: 0, distance: way(time))
                return Fix.at(time, place.latitude, place.longitude, speed: speed(time), course: 0)
            }
            let found = rated(TrackColumns(fixes: fixes).samples).brakings
            #expect(found.count == 1, "share \(share)")
            #expect(found.allSatisfy { $0.initialSpeed - $0.endSpeed >= 55 }, "share \(share)")
            if spacing == 1 {
                #expect(found.allSatisfy { $0.initialSpeed > 80 && $0.endSpeed <= 6.01 }, "share \(share)")
            }
        }
    }

    @Test func aSpeedThatThePlacesContradictIsNotUsed() {
        var speeds = [Double](repeating: 20, count: 20)
        let clean = samples(speeds)
        speeds[10] = 0
        let wrong = zip(clean, speeds).map { sample, speed in
            TrackSample(
                index: sample.index, time: sample.time, latitudeE7: sample.latitudeE7, longitudeE7: sample.longitudeE7,
                speed: Int32(speed * 100), course: sample.course)
        }
        let found = rated(wrong)
        #expect(found.accelerations.isEmpty && found.brakings.isEmpty)
        #expect(found.maximumSpeed == 72)
        speeds[10] = 60
        let fast = zip(clean, speeds).map { sample, speed in
            TrackSample(
                index: sample.index, time: sample.time, latitudeE7: sample.latitudeE7, longitudeE7: sample.longitudeE7,
                speed: Int32(speed * 100), course: sample.course)
        }
        #expect(rated(fast).maximumSpeed == 72)
    }

    @Test func curvesHaveTheirSideAndTheirSharpness() {
        // 90 degrees in 4 s at 10 m/s: 3.93 m/s².
        let courses: [Double] = [0, 0, 22.5, 45, 67.5, 90, 90, 90]
        let right = rated(samples(courses.map { _ in 10 }, courses: courses), DrivingOptions(steering: 3))
        #expect(right.steerings.map(\.turn) == [.right])
        #expect(right.steerings.allSatisfy { near($0.centripetalAcceleration, 10 * .pi / 8, 1e-9) && $0.speed == 36 })
        let mirrored = courses.map { ($0 == 0 ? 0 : 360 - $0) }
        let left = rated(samples(mirrored.map { _ in 10 }, courses: mirrored), DrivingOptions(steering: 3))
        #expect(left.steerings.map(\.turn) == [.left])
        #expect(
            rated(samples(courses.map { _ in 10 }, courses: courses), DrivingOptions(steering: 4)).steerings.isEmpty)
        let slow = samples(courses.map { _ in 4.9 }, courses: courses)
        #expect(rated(slow, DrivingOptions(steering: 1)).steerings.isEmpty)
        // A swing of 9 degrees at 28 m/s: nobody can say to which side the event went.
        let swing = samples([28, 28, 28, 28], courses: [0, 9, 9, 9])
        #expect(rated(swing, DrivingOptions(steering: 4)).steerings.map(\.turn) == [.unknown])
        #expect(SteeringEvent.Turn.unknown.rawValue == "unknow")
    }

    @Test func speedingNeedsTwoPointsInARow() {
        func episodes(_ speeds: [Double?], spacing: Double = 1) -> [SpeedingEpisode] {
            rated(samples(speeds, spacing: spacing), DrivingOptions(speeding: 72)).speeding
        }
        let found = episodes([20, 21, 22, 21, 20, 20, 21, 20])
        #expect(found.count == 1)
        #expect(found.map { [$0.start.index, $0.end.index] } == [[1, 3]])
        #expect(found.allSatisfy { near($0.distance, 43, 0.1) && $0.start.limit == 72 })
        #expect(found.allSatisfy { near($0.start.actualSpeed, 75.6, 1e-9) })
        #expect(episodes([20, 20, 20]).isEmpty, "at the limit is not over it")
        #expect(episodes([25, 25], spacing: 299).count == 1)
        #expect(episodes([25, 25], spacing: 300).isEmpty)
        #expect(rated(samples([40, 40, 40])).speeding.isEmpty, "no limit is known")
    }

    @Test func aSpeedAtItsLimitIsNotOverIt() {
        for limit in 1...250 {
            // As the Web API stores what a client uploads in km/h.
            let stored = Int32((Double(limit) / 0.036).rounded())
            func episodes(_ speed: Int32) -> Int {
                let track = samples([20, 20, 20, 20]).map { sample in
                    TrackSample(
                        index: sample.index, time: sample.time, latitudeE7: sample.latitudeE7,
                        longitudeE7: sample.longitudeE7, speed: speed)
                }
                return rated(track, DrivingOptions(speeding: Double(limit))).speeding.count
            }
            #expect(episodes(stored) == 0, "\(limit) km/h")
            #expect(episodes(stored + 3) == 1, "\(limit) km/h")
            let slow = TrackSample(index: 0, time: 0, latitudeE7: 0, longitudeE7: 0, speed: stored)
            #expect(slow.shownSpeed == Double(limit))
        }
        #expect(TrackSample(index: 0, time: 0, latitudeE7: 0, longitudeE7: 0, speed: 1391).shownSpeed == 50.08)
    }

    @Test func aParkedVehicleTravelsNowhere() {
        for (sigma, speeds) in [(2.0, true), (3, true), (5, true), (2, false), (5, false)] {
            let seed = UInt64.random(in: 0 ... .max)
            var random = Dice(seed: seed)
            func error() -> Double {
                (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &random) } * sigma
            }
            let fixes = (0..<8640).map { number in
                let place = MadeDrive.moved(
                    Degrees(latitude: 47, longitude: 9), east: error(), north: error())
                return Fix.at(Double(number) * 5, place.latitude, place.longitude, speed: speeds ? 0.1 : nil)
            }
            let cleaned = TrackCleaner.clean(TrackColumns(fixes: fixes), CleaningOptions(speedCap: usualCap)).samples
            let found = rated(cleaned)
            let collapsed = TrackCleaner.clean(
                TrackColumns(fixes: fixes), CleaningOptions(denoiseGrade: 1, speedCap: usualCap)
            ).samples
            #expect(near(found.distance, LengthMeter.length(of: collapsed).driven, 1e-6), "seed \(seed)")
            #expect(found.distance < 500, "seed \(seed), sigma \(sigma)")
            #expect(found.averageSpeed <= found.maximumSpeed ?? 0, "seed \(seed)")
            #expect(found.duration == 43_195)
        }
    }

    @Test func withoutUploadedSpeedsThePlacesTellTheFastest() {
        let speeds = [Double](repeating: 20, count: 60)
        for spacing in [0.1, 1, 5, 60] {
            let bare = samples(speeds, spacing: spacing).map { sample in
                TrackSample(
                    index: sample.index, time: sample.time, latitudeE7: sample.latitudeE7,
                    longitudeE7: sample.longitudeE7)
            }
            #expect(rated(bare).maximumSpeed.map { near($0, 72, 0.5) } == true, "\(spacing) s")
            #expect(rated(Array(bare.prefix(1))).maximumSpeed == nil)
            if spacing >= 5 {
                #expect(TripFinder.trips(in: bare).map { near($0.maximumSpeed ?? 0, 72, 0.5) } == [true])
            }
        }
        // A receiver that says 0 all the way is not believed.
        let still = samples(speeds).map { sample in
            TrackSample(
                index: sample.index, time: sample.time, latitudeE7: sample.latitudeE7, longitudeE7: sample.longitudeE7,
                speed: 0)
        }
        #expect(rated(still).maximumSpeed.map { near($0, 72, 0.5) } == true)
        #expect(rated([]).maximumSpeed == nil)
        #expect(rated(samples([0, 0, 0])).maximumSpeed == 0)
    }

    @Test func roadLimitsBelongToTheirPoints() {
        var analyzer = DrivingAnalyzer(DrivingOptions())
        let limits: [Double?] = [50, 50, 30, 30, nil, 50, 80, 80]
        for (sample, limit) in zip(samples([15, 15, 15, 15, 15, 15, 15, 15]), limits) {
            analyzer.add(sample, limit: limit, path: 100)
            analyzer.travel(to: sample, path: 100)
        }
        let found = analyzer.finish()
        #expect(found.speeding.map { [$0.start.index, $0.end.index] } == [[0, 3]])
        #expect(found.speeding.map { [$0.start.limit, $0.end.limit, $0.distance] } == [[50, 30, 300]])
        #expect(found.distance == 700)
    }

    @Test func anEmptyRatingSaysWhy() {
        let speeds = (0..<200).map { 10 + Double($0 % 10) / 10 }
        #expect(!rated(samples(speeds)).rate.isInsufficient)
        #expect(rated(samples(speeds)).rate.share == 1)
        let slow = rated(samples(speeds.map { $0 + 2 }, spacing: 5))
        #expect(slow.rate.isInsufficient && slow.rate.share == 0)
        #expect(slow.accelerations.isEmpty && slow.brakings.isEmpty && slow.steerings.isEmpty)
        let bare = samples(speeds).map { sample in
            TrackSample(
                index: sample.index, time: sample.time, latitudeE7: sample.latitudeE7, longitudeE7: sample.longitudeE7)
        }
        #expect(rated(bare).rate.isInsufficient && rated(bare).accelerations.isEmpty)
        let standing = rated(samples([Double](repeating: 0, count: 50)))
        #expect(standing.rate.share == nil && !standing.rate.isInsufficient)
    }

    // MARK: Properties

    @Test func accelerationEqualsItsFormula() {
        var events = 0
        for seed in Dice.seeds(40) {
            var random = Dice(seed: seed)
            let found = rated(
                TrackColumns(fixes: MadeDrive().fixes(using: &random)).samples,
                DrivingOptions(acceleration: 0.3, braking: -0.3))
            for event in found.accelerations + found.brakings {
                let formula = (event.endSpeed - event.initialSpeed) / 3.6 / event.seconds
                #expect(near(event.acceleration, formula, 1e-9), "seed \(seed)")
            }
            #expect(found.accelerations.allSatisfy { $0.acceleration >= 0.3 })
            #expect(found.brakings.allSatisfy { $0.acceleration <= -0.3 })
            events += min(found.accelerations.count, found.brakings.count)
        }
        #expect(events > 40, "\(events) events of each kind in 40 drives")
    }

    @Test func backwardsAccelerationIsBraking() {
        var events = 0
        for seed in Dice.seeds(40) {
            var random = Dice(seed: seed)
            let forward = TrackColumns(fixes: MadeDrive().fixes(using: &random)).samples
            let last = forward[forward.count - 1].time + forward[0].time
            let backward = forward.reversed().enumerated().map { index, sample in
                TrackSample(
                    index: index, time: last - sample.time, latitudeE7: sample.latitudeE7,
                    longitudeE7: sample.longitudeE7, speed: sample.speed)
            }
            let options = DrivingOptions(acceleration: 1, braking: -1)
            let (one, other) = (rated(forward, options), rated(backward, options))
            #expect(one.accelerations.count == other.brakings.count, "seed \(seed)")
            #expect(one.brakings.count == other.accelerations.count, "seed \(seed)")
            events += min(one.accelerations.count, one.brakings.count)
        }
        #expect(events > 20, "\(events) events of each kind in 40 drives")
    }

    @Test func fiveCopiesASecondGiveTheSameEvents() {
        var events = 0
        for seed in Dice.seeds(40) {
            var random = Dice(seed: seed)
            var drive = MadeDrive()
            drive.noise = 0
            let once = TrackColumns(fixes: drive.fixes(using: &random)).samples
            var often: [TrackSample] = []
            for (start, end) in zip(once, once.dropFirst()) {
                for part in 0..<5 {
                    func between(_ first: Int32, _ last: Int32) -> Int32 {
                        first + Int32((Double(last - first) * Double(part) / 5).rounded())
                    }
                    often.append(
                        TrackSample(
                            index: often.count, time: start.time + Int64(part) * 200,
                            latitudeE7: between(start.latitudeE7, end.latitudeE7),
                            longitudeE7: between(start.longitudeE7, end.longitudeE7),
                            speed: between(start.speed!, end.speed!)))
                }
            }
            let options = DrivingOptions(acceleration: 1.1, braking: -1.1)
            let (slow, fast) = (rated(Array(once.dropLast()), options), rated(often, options))
            #expect(slow.accelerations.map(\.time) == fast.accelerations.map(\.time), "seed \(seed)")
            #expect(slow.brakings.map(\.acceleration) == fast.brakings.map(\.acceleration), "seed \(seed)")
            events += min(slow.accelerations.count, slow.brakings.count)
        }
        #expect(events > 20, "\(events) events of each kind in 40 drives")
    }

    @Test func aHigherThresholdFindsNothingNew() {
        for seed in Dice.seeds(40) {
            var random = Dice(seed: seed)
            let samples = TrackColumns(fixes: MadeDrive().fixes(using: &random)).samples
            let (low, high) = (
                rated(samples, DrivingOptions(acceleration: 0.6)), rated(samples, DrivingOptions(acceleration: 1.1))
            )
            func seconds(_ events: [HarshEvent]) -> Double { events.reduce(0) { $0 + $1.seconds } }
            #expect(seconds(high.accelerations) <= seconds(low.accelerations), "seed \(seed)")
            for event in high.accelerations {
                #expect(
                    low.accelerations.contains {
                        $0.time <= event.time
                            && event.time.milliseconds < $0.time.milliseconds + Int64($0.seconds * 1000)
                    }, "seed \(seed)")
            }
        }
    }
}
