import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

@Suite struct DistanceTests {
    /// Samples at (seconds, metres along a meridian, m/s).
    private func samples(_ points: [(Double, Double, Double?)]) -> [TrackSample] {
        TrackColumns(
            fixes: points.map { seconds, metres, speed in
                let place = destination(
                    from: Degrees(latitude: 47, longitude: 9), bearing: 0, distance: metres)
                return .at(seconds, place.latitude, place.longitude, speed: speed)
            }
        ).samples
    }

    private func length(_ points: [(Double, Double, Double?)], slowBelow threshold: Double? = nil) -> TrackLength {
        LengthMeter.length(of: samples(points), slowBelow: threshold)
    }

    @Test func noneOrOnePointHasNoLength() {
        #expect(length([]).total(.straight) == (0, 0))
        #expect(length([(0, 0, 5)], slowBelow: 100).total(.straight) == (0, 0))
    }

    @Test func fiveMinutesAreAnInterruption() {
        let short = length([(0, 0, nil), (299.999, 1000, nil)])
        #expect(short.interruptions.isEmpty && near(short.driven, 1000, 0.02))
        let long = length([(0, 0, nil), (300, 1000, nil)])
        #expect(long.interruptions.map(\.seconds) == [300] && long.driven == 0)
    }

    @Test func everyModeCountsAnInterruptionItsWay() {
        let found = length([(0, 0, nil), (10, 100, nil), (400, 1100, nil), (800, 3100, nil), (810, 3200, nil)])
        #expect(near(found.total(.none).metres, 200, 0.05))
        #expect(near(found.total(.straight).metres, 3200, 0.05))
        #expect(near(found.total(.routes([1500, nil], factor: 1.3)).metres, 200 + 1500 + 2600, 0.1))
        // Fewer routes than interruptions: the rest is straight.
        #expect(near(found.total(.routes([], factor: 1)).metres, 3200, 0.05))
    }

    @Test func lowSpeedIsTheUploadedOneOfTheEnd() {
        // 100 m in 10 s are 36 km/h; the end says 18.
        let points: [(Double, Double, Double?)] = [(0, 0, 20), (10, 100, 5), (20, 200, 20)]
        #expect(near(length(points, slowBelow: 20).total(.none).slow, 100, 0.02))
        #expect(near(length(points, slowBelow: 18).total(.none).slow, 0, 0.02), "18 km/h is not below 18")
        #expect(near(length(points, slowBelow: 100).total(.none).slow, 200, 0.05))
        #expect(length(points).total(.none).slow == 0)
    }

    @Test func lowSpeedIsTheWaysOwnWithoutAnUploadedOne() {
        let points: [(Double, Double, Double?)] = [(0, 0, nil), (10, 100, nil), (20, 120, nil)]
        #expect(near(length(points, slowBelow: 36.1).total(.none).slow, 120, 0.02))
        #expect(near(length(points, slowBelow: 35.9).total(.none).slow, 20, 0.02))
    }

    @Test func anInterruptionIsSlowByItsOwnWay() {
        // 3,000 m in 600 s are 18 km/h; the end says 72.
        let found = length([(0, 0, 20), (600, 3000, 20)], slowBelow: 20)
        #expect(found.total(.none) == (0, 0))
        #expect(near(found.total(.straight).slow, 3000, 0.1))
        // A route of 6,000 m takes 36 km/h.
        #expect(found.total(.routes([6000], factor: 1)) == (6000, 0))
    }

    @Test func aKnownPathReplacesTheStraightLine() {
        var meter = LengthMeter()
        for (number, sample) in samples([(0, 0, nil), (10, 100, nil), (20, 200, nil)]).enumerated() {
            meter.add(sample, path: number == 1 ? 150 : nil)
        }
        #expect(near(meter.result.driven, 250, 0.02))
    }

    @Test func partsOfATrackAddUp() {
        for seed in Dice.seeds(60) {
            var random = Dice(seed: seed)
            let track = StepTests.wildTrack(&random).samples
            guard track.count > 2 else { continue }
            let cut = Int.random(in: 1..<track.count - 1, using: &random)
            let parts = [Array(track[...cut]), Array(track[cut...])].map { LengthMeter.length(of: $0, slowBelow: 20) }
            let whole = LengthMeter.length(of: track, slowBelow: 20)
            for mode in [Supplement.none, .straight] {
                let sum = parts.reduce(0) { $0 + $1.total(mode).metres }
                #expect(near(sum, whole.total(mode).metres, 1e-6 * max(1, sum)), "seed \(seed)")
                let slow = parts.reduce(0) { $0 + $1.total(mode).slow }
                #expect(near(slow, whole.total(mode).slow, 1e-6 * max(1, slow)), "seed \(seed)")
            }
            #expect(whole.total(.none).metres <= whole.total(.straight).metres, "seed \(seed)")
        }
    }

    @Test func aTurnOfTheEarthChangesNoLength() {
        for seed in Dice.seeds(40) {
            var random = Dice(seed: seed)
            let track = StepTests.wildTrack(&random).samples
            let turn = Int64.random(in: -1_800_000_000...1_800_000_000, using: &random)
            let moved = track.map { sample in
                var longitude = Int64(sample.longitudeE7) + turn
                if longitude > 1_800_000_000 { longitude -= 3_600_000_000 }
                if longitude < -1_800_000_000 { longitude += 3_600_000_000 }
                return TrackSample(
                    index: sample.index, time: sample.time, latitudeE7: sample.latitudeE7,
                    longitudeE7: Int32(longitude))
            }
            let (one, other) = (LengthMeter.length(of: track), LengthMeter.length(of: moved))
            // A millimetre a kilometre.
            #expect(near(one.driven, other.driven, 1e-6 * max(1, one.driven)), "seed \(seed)")
        }
    }
}

@Suite struct TripTests {
    /// Legs of (seconds, m/s) eastwards, a point every `spacing` seconds; a negative speed is silence at that speed.
    private func samples(_ legs: [(Int, Double)], spacing: Int = 5) -> [TrackSample] {
        var (second, east) = (0, 0.0)
        var fixes: [Fix] = []
        for (seconds, speed) in legs {
            for _ in 0..<seconds {
                if second % spacing == 0, speed >= 0 {
                    let place = destination(
                        from: Degrees(latitude: 47, longitude: 9), bearing: 90, distance: east)
                    fixes.append(.at(Double(second), place.latitude, place.longitude, speed: speed))
                }
                second += 1
                east += speed.magnitude
            }
        }
        return TrackColumns(fixes: fixes).samples
    }

    private func trips(_ legs: [(Int, Double)]) -> [Trip] { TripFinder.trips(in: samples(legs)) }

    @Test func aTripRunsFromStayToStay() {
        let found = trips([(600, 0), (300, 10), (600, 0), (200, 20), (400, 0)])
        #expect(found.count == 2)
        #expect(zip(found, [3000.0, 4000]).allSatisfy { near($0.distance, $1, 120) })
        #expect(zip(found, [300, 200]).allSatisfy { ($0.duration - Int64($1)).magnitude <= 15 })
        #expect(found.map(\.maximumSpeed) == [36, 72])
        #expect(found.allSatisfy { !$0.isOpenAtStart && !$0.isOpenAtEnd })
    }

    @Test func lightsDoNotSplitATrip() {
        #expect(trips([(600, 0), (300, 10), (120, 0), (300, 10), (280, 0), (300, 10), (600, 0)]).count == 1)
    }

    @Test func aTripWithoutItsEndsIsOpen() {
        #expect(trips([(600, 10)]).map { [$0.isOpenAtStart, $0.isOpenAtEnd] } == [[true, true]])
        #expect(trips([(600, 0), (600, 10)]).map { [$0.isOpenAtStart, $0.isOpenAtEnd] } == [[false, true]])
        #expect(trips([(600, 10), (600, 0)]).map { [$0.isOpenAtStart, $0.isOpenAtEnd] } == [[true, false]])
    }

    @Test func shortMovesAreNoTrips() {
        #expect(trips([(600, 0), (27, 10), (600, 0)]).isEmpty)
        #expect(trips([(600, 0), (32, 30), (600, 0)]).isEmpty)
        #expect(trips([(600, 0), (100, 5), (600, 0)]).count == 1)
    }

    @Test func anHourOfSilenceWithMovementCuts() {
        #expect(trips([(600, 10), (3500, -10), (600, 10)]).count == 1)
        let cut = trips([(600, 10), (3700, -10), (600, 10)])
        #expect(cut.count == 2)
        #expect(cut.allSatisfy { near($0.distance, 6000, 60) && $0.unrecorded == 0 })
    }

    @Test func anInterruptionIsToldApart() {
        let found = trips([(600, 10), (900, -10), (600, 10)])
        #expect(found.count == 1)
        #expect(found.allSatisfy { near($0.distance, 12_000, 120) && near($0.unrecorded, 9000, 60) })
    }

    @Test func aNightOfPointsWhileParkedIsNoTripAndPartsTwo() {
        // dawarich #3356: a trip of 36 h.
        #expect(trips([(600, 10), (40_000, 0), (600, 10)]).count == 2)
        // Silent, too: the box is off while the vehicle is parked.
        #expect(trips([(600, 10), (60, 0), (40_000, -0.0), (60, 0), (600, 10)]).count == 2)
    }

    @Test func tripsDoNotOverlapAndAddUpToLessThanTheTrack() {
        for seed in Dice.seeds(60) {
            var random = Dice(seed: seed)
            let samples = TrackCleaner.clean(
                StepTests.wildTrack(&random), CleaningOptions(denoiseGrade: 1, speedCap: usualCap)
            ).samples
            let found = TripFinder.trips(in: samples)
            #expect(zip(found, found.dropFirst()).allSatisfy { $0.end.time <= $1.start.time }, "seed \(seed)")
            let length = LengthMeter.length(of: samples)
            #expect(found.reduce(0) { $0 + $1.distance } <= length.driven + 1e-6, "seed \(seed)")
            #expect(found.reduce(0) { $0 + $1.unrecorded } <= length.total(.straight).metres - length.driven + 1e-6)
        }
    }
}
