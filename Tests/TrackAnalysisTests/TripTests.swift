import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

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
