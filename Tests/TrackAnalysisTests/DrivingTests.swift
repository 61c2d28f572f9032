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
                    place = GreatCircle.destination(
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

    @Test func pairsAreOneToThreeSecondsLong() {
        #expect(rated(samples([10, 16], spacing: 3)).accelerations.count == 1)
        #expect(rated(samples([10, 16.1], spacing: 3.001)).accelerations.isEmpty)
        #expect(rated(samples([10, 12], spacing: 0.95)).accelerations.count == 1)
        #expect(rated(samples([10, 12], spacing: 0.94)).accelerations.isEmpty)
    }

    @Test func aPairThatNoTyreHoldsIsAnError() {
        #expect(rated(samples([10, 18])).accelerations.count == 1)
        #expect(rated(samples([10, 18.1])).accelerations.isEmpty)
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

    @Test func roadLimitsBelongToTheirPoints() {
        var analyzer = DrivingAnalyzer(DrivingOptions())
        let limits: [Double?] = [50, 50, 30, 30, nil, 50, 80, 80]
        for (sample, limit) in zip(samples([15, 15, 15, 15, 15, 15, 15, 15]), limits) {
            analyzer.add(sample, limit: limit, path: 100)
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
        }
    }

    @Test func backwardsAccelerationIsBraking() {
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
        }
    }

    @Test func fiveCopiesASecondGiveTheSameEvents() {
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
        }
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
