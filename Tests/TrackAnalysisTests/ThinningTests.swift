import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

@Suite struct ThinningTests {
    private func thinned(_ samples: [TrackSample], _ metres: Double) -> [TrackSample] {
        var drops = DropReasons()
        return TimeRatioThinning.apply(TimeRatioThinning(metres: metres), to: samples, &drops)
    }

    /// Metres from where even motion between two others would put a sample, along great circles.
    private func error(_ sample: TrackSample, _ start: TrackSample, _ end: TrackSample) -> Double {
        let share = sample.seconds(since: start) / end.seconds(since: start)
        let there = GreatCircle.destination(
            from: start.place, bearing: GreatCircle.bearing(from: start.place, to: end.place),
            distance: GreatCircle.distance(from: start.place, to: end.place) * share)
        return GreatCircle.distance(from: sample.place, to: there)
    }

    @Test func everyDroppedPointIsWithinTheTolerance() {
        for seed in Dice.seeds(30) {
            var random = Dice(seed: seed)
            let samples = StepTests.wildTrack(&random).samples
            let tolerance = [3.0, 5, 10, 20, 50].one(&random)
            let kept = thinned(samples, tolerance)
            // A metre of this oracle's sphere is up to 0.56 % another one than a metre of the ellipsoid.
            let bound = tolerance * 1.006 + 0.05
            guard samples.count > 0 else { continue }
            #expect(kept.first == samples.first && kept.last == samples.last, "seed \(seed)")
            for (start, end) in zip(kept, kept.dropFirst()) {
                let isShort = GreatCircle.distance(from: start.place, to: end.place) < 20_000
                for index in start.index + 1..<max(end.index, start.index + 1) where isShort {
                    #expect(error(samples[index], start, end) <= bound, "seed \(seed)")
                }
            }
        }
    }

    @Test func noToleranceKeepsAll() {
        var random = Dice(seed: 1)
        let samples = TrackColumns(fixes: MadeDrive().fixes(using: &random)).samples
        #expect(thinned(samples, 0) == samples)
        #expect(ThinningGrade.off.tolerance == 0)
        #expect(ThinningGrade.allCases.map(\.tolerance) == [0, 3, 5, 10, 20, 50])
    }

    @Test func aStopOnAStraightRoadStays() {
        // 60 s at 20 m/s, 60 s at a light, 60 s at 20 m/s.
        let fixes = (0...180).map { second in
            let along = Double(min(second, 60) + max(second - 120, 0)) * 20
            let place = GreatCircle.destination(
                from: Degrees(latitude: 47, longitude: 9), bearing: 30, distance: along)
            return Fix.at(Double(second), place.latitude, place.longitude)
        }
        #expect(thinned(TrackColumns(fixes: fixes).samples, 5).map(\.index) == [0, 60, 120, 180])
    }

    @Test func interruptionsBlocksAndPinsStay() {
        let fixes = (0..<3000).map { second in
            Fix.at(Double(second) + (second >= 500 ? 300 : 0), 47 + Double(second) * 0.0001, 9)
        }
        var samples = TrackColumns(fixes: fixes).samples
        samples[700].isPinned = true
        #expect(thinned(samples, 5).map(\.index) == [0, 499, 500, 700, 1723, 2746, 2999])
    }

    @Test func aLongStraightRoadIsStraight() {
        // 1,000 points over 130 km: the chord runs hundreds of metres below the ground.
        let fixes = (0..<1000).map { number in
            let place = GreatCircle.destination(
                from: Degrees(latitude: 60, longitude: 9), bearing: 80, distance: Double(number) * 130)
            return Fix.at(Double(number) * 5, place.latitude, place.longitude)
        }
        #expect(thinned(TrackColumns(fixes: fixes).samples, 5).count == 2)
    }
}
