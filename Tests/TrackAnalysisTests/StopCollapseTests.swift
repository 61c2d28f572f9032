import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

@Suite struct StopCollapseTests {
    private func collapse(_ fixes: [Fix], parked: Set<Int> = []) -> (samples: [TrackSample], drops: DropReasons) {
        let columns = TrackColumns(fixes.enumerated().map { TrackPoint($1, isParked: parked.contains($0)) })
        return TrackCleaner.clean(columns, CleaningOptions(collapsesStops: true))
    }

    /// Jitter of a parked receiver.
    private func jitter(
        _ seconds: Range<Int>, metres: Double, at place: Degrees = Degrees(latitude: 47, longitude: 9),
        every spacing: Int = 1, _ random: inout Dice
    ) -> [Fix] {
        stride(from: seconds.lowerBound, to: seconds.upperBound, by: spacing).map { second in
            let there = MadeDrive.moved(
                place, east: Double.random(in: -metres...metres, using: &random),
                north: Double.random(in: -metres...metres, using: &random))
            return .at(Double(second), there.latitude, there.longitude, speed: 0.3, course: 77)
        }
    }

    @Test func aStopIsAFewPointsAtOnePlace() {
        var random = Dice(seed: 1)
        let fixes = jitter(0..<1000, metres: 3, &random)
        let (samples, drops) = collapse(fixes)
        #expect(samples.map(\.index) == [0, 240, 480, 720, 960, 999])
        #expect(drops.counts == [.stop: 994])
        #expect(samples.allSatisfy { $0.isInStop && $0.speed == 0 && $0.course == nil })
        #expect(Set(samples.map(\.position)).count == 1)
        #expect(GreatCircle.distance(from: samples[0].place, to: Degrees(latitude: 47, longitude: 9)) < 0.5)
        #expect(samples.map(\.isPinned) == [true, false, false, false, false, true])
        #expect(LengthMeter.length(of: samples).total(.straight).metres == 0)
    }

    @Test func fiftyNineSecondsAreNoStop() {
        var random = Dice(seed: 2)
        #expect(collapse(jitter(0..<60, metres: 3, &random)).drops.counts.isEmpty)
        #expect(!collapse(jitter(0..<61, metres: 3, &random)).drops.counts.isEmpty)
    }

    @Test func noInterruptionIsMadeInsideAStop() {
        for spacing in [1, 7, 30, 100, 130, 200, 239, 240, 241, 299] {
            var random = Dice(seed: 3)
            let (samples, _) = collapse(jitter(0..<5000, metres: 3, every: spacing, &random))
            let gaps = zip(samples, samples.dropFirst()).map { $1.seconds(since: $0) }
            #expect(gaps.allSatisfy { $0 <= Double(max(240, spacing)) }, "\(spacing) s")
        }
    }

    @Test func aLargerRadiusWidensAStopUpTo30Metres() {
        func kept(_ metres: Double, radius: Double?) -> Bool {
            // Two places in turn.
            let fixes = (0..<100).map { second -> Fix in
                let place = MadeDrive.moved(
                    Degrees(latitude: 47, longitude: 9), east: second % 2 == 0 ? 0 : metres, north: 0)
                return .at(Double(second), place.latitude, place.longitude, radius: radius)
            }
            return collapse(fixes).drops.counts.isEmpty
        }
        #expect(!kept(14, radius: nil) && kept(16, radius: nil))
        #expect(!kept(24, radius: 25) && kept(26, radius: 25))
        #expect(!kept(29, radius: 500) && kept(31, radius: 500))
        #expect(!kept(14, radius: 1))
    }

    @Test func aStrayInsideAStopGoesWithIt() {
        var random = Dice(seed: 4)
        var fixes = jitter(0..<300, metres: 2, &random)
        fixes[200] = fixes[200].displaced(by: 200, towards: 45)
        let (samples, drops) = collapse(fixes)
        #expect(samples.map(\.index) == [0, 240, 299] && drops[200] == .stop)
        // Two in a row are a departure.
        fixes[201] = fixes[201].displaced(by: 200, towards: 45)
        #expect(collapse(fixes).samples.map(\.index) == [0, 199, 200, 201, 202, 299])
    }

    @Test func parkedPointsPassUnchanged() {
        var random = Dice(seed: 5)
        let fixes = jitter(0..<120, metres: 2, &random) + jitter(120..<2000, metres: 0.1, every: 240, &random)
        let (samples, drops) = collapse(fixes, parked: Set(120..<fixes.count))
        #expect(samples.suffix(fixes.count - 120).map(\.index) == Array(120..<fixes.count))
        #expect(samples.suffix(fixes.count - 120).allSatisfy { !$0.isInStop && $0.speed == 30 })
        #expect((120..<fixes.count).allSatisfy { drops[$0] == nil })
        #expect(samples.prefix(2).map(\.index) == [0, 119])
    }

    @Test func aNightOfJitterAndStraysIsNoJourney() {
        // dawarich #3417: 206 km in a day at home.
        let seed = UInt64.random(in: 0 ... .max)
        var random = Dice(seed: seed)
        var fixes = jitter(0..<43_200, metres: 6, every: 5, &random)
        for index in fixes.indices where Int.random(in: 0..<100, using: &random) == 0 {
            fixes[index] = fixes[index].displaced(
                by: Double.random(in: 1000...20_000, using: &random),
                towards: Double.random(in: 0..<360, using: &random))
        }
        let (samples, _) = TrackCleaner.clean(
            TrackColumns(fixes: fixes), CleaningOptions(denoiseGrade: 1, speedCap: usualCap))
        #expect(LengthMeter.length(of: samples).total(.straight).metres < 100, "seed \(seed)")
        #expect(TripFinder.trips(in: samples).isEmpty, "seed \(seed)")
    }

    @Test func oneFixFarAwayChangesNoDistance() {
        // Traccar #3693, traccar-web #1168.
        for seed in Dice.seeds(10) {
            var random = Dice(seed: seed)
            var fixes = MadeDrive().fixes(using: &random)
            let options = CleaningOptions(denoiseGrade: 1, speedCap: usualCap)
            let before = TrackCleaner.clean(TrackColumns(fixes: fixes), options).samples
            let index = fixes.count / 2
            fixes[index] = fixes[index].displaced(by: 1_000_000, towards: 200)
            let after = TrackCleaner.clean(TrackColumns(fixes: fixes), options).samples
            let (one, other) = (LengthMeter.length(of: before), LengthMeter.length(of: after))
            #expect(near(one.driven, other.driven, 30), "seed \(seed)")
            #expect(after.contains { $0.index > index + 1 })
        }
    }
}
