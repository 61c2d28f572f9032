import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

@Suite struct DenoiserTests {
    private let options = CleaningOptions(speedCap: usualCap)

    /// A point a second along a meridian at 20 m/s, the speeds told; `strays` are moved sidewards by metres.
    private func line(_ seconds: Int, strays: [Int: Double] = [:], speeds: Bool = true, spacing: Double = 1)
        -> TrackColumns
    {
        let start = Degrees(latitude: 47, longitude: 9)
        return TrackColumns(
            fixes: (0..<seconds).map { second in
                let along = destination(from: start, bearing: 0, distance: Double(second) * 20 * spacing)
                let fix = Fix.at(
                    Double(second) * spacing, along.latitude, along.longitude, speed: speeds ? 20 : nil,
                    course: speeds ? 0 : nil)
                return strays[second].map { fix.displaced(by: $0, towards: 90) } ?? fix
            })
    }

    private func dropped(_ columns: TrackColumns) -> [Int] {
        TrackCleaner.clean(columns, options).drops.dropped.map(\.index)
    }

    @Test func aStrayGoesAndThePointsAfterItStay() {
        #expect(dropped(line(60)) == [])
        #expect(dropped(line(60, strays: [30: 500])) == [30])
        #expect(dropped(line(60, strays: [30: 500], speeds: false)) == [30])
        #expect(dropped(line(60, strays: [30: 1_000_000])) == [30])
        #expect(dropped(line(60, strays: [30: 500, 31: 500, 32: 500, 33: 500, 34: 500])) == [30, 31, 32, 33, 34])
        #expect(dropped(line(60, strays: [30: 500, 31: 900, 32: 1500])) == [30, 31, 32])
    }

    @Test func aStraySidewardsIsFoundByDopplerAlone() {
        // 100 m in 5 s is 20 m/s, which no cap of speed forbids.
        #expect(dropped(line(60, strays: [30: 100], spacing: 5)) == [30])
        #expect(dropped(line(60, strays: [30: 100], speeds: false, spacing: 5)) == [])
        #expect(dropped(line(60, strays: [30: 20], spacing: 5)) == [])
    }

    @Test func theFirstPointMayBeTheStray() {
        #expect(dropped(line(60, strays: [0: 900])) == [0])
        #expect(dropped(line(60, strays: [59: 900])) == [59])
        // Two points: nobody knows which one is wrong, and the first is kept.
        #expect(dropped(line(2, strays: [1: 900])) == [1])
    }

    @Test func aJumpThatLastsIsABreak() {
        // From some second on everything is 5 km away. After half a minute the side with less goes.
        let moved = Dictionary(uniqueKeysWithValues: (20..<60).map { ($0, 5000.0) })
        #expect(dropped(line(60, strays: moved)) == Array(0..<20))
        let later = Dictionary(uniqueKeysWithValues: (40..<60).map { ($0, 5000.0) })
        #expect(dropped(line(60, strays: later)) == Array(40..<60))
        // After three minutes on each side nobody can say which one is false.
        let long = Dictionary(uniqueKeysWithValues: (180..<360).map { ($0, 5000.0) })
        #expect(dropped(line(360, strays: long)) == [])
        // Points at the end that nothing confirms.
        #expect(dropped(line(60, strays: [58: 5000, 59: 5000])) == [58, 59])
    }

    @Test func manyPointsInAMomentAreNoProof() {
        // Ten points a second: a reflection of 1.9 s makes 20 of them, one of 6 s makes 60.
        for count in [20, 21, 60] {
            let reflection = Dictionary(uniqueKeysWithValues: (100..<100 + count).map { ($0, 5000.0) })
            #expect(dropped(line(300, strays: reflection, spacing: 0.1)) == Array(100..<100 + count))
        }
    }

    @Test func sparsePointsAreJudgedByTheirTime() {
        let moved = Dictionary(uniqueKeysWithValues: (30..<60).map { ($0, 50_000.0) })
        #expect(dropped(line(60, strays: moved, spacing: 30)) == [])
        #expect(dropped(line(60, strays: [30: 50_000, 31: 50_000], spacing: 30)) == [30, 31])
        #expect(dropped(line(60, strays: [30: 50_000, 31: 50_000, 32: 50_000], spacing: 30)) == [30, 31, 32])
    }

    /// A receiver that is broken for hours after a drive: every sample is far from every other one.
    @Test func whatWaitsForADecisionIsBounded() {
        let (drive, strays) = (9000, 8800)
        let columns = line(drive)
        var denoiser = Denoiser(speedCap: usualCap)
        var (kept, drops, most) = ([TrackSample](), DropReasons(), 0)
        for number in 0..<(drive + strays) {
            var sample = columns.sample(at: min(number, drive - 1), index: number)
            if number >= drive {
                // Half a degree and more from those before, a second later each.
                sample = TrackSample(
                    index: number, time: sample.time + Int64(number - drive + 1) * 1000,
                    latitudeE7: Int32(number * 7_654_321 % 800_000_000),
                    longitudeE7: Int32(number * 5_432_123 % 1_700_000_000))
            }
            denoiser.add(sample, to: &kept, &drops)
            if number % 97 == 0 { most = max(most, number + 1 - kept.count - drops.dropped.count) }
        }
        // Those that wait, those that come between two attempts to decide, and those that tell the pace.
        #expect(most <= Denoiser.mostWaiting + 64 + Denoiser.around + 1, "\(most)")
        denoiser.finish(to: &kept, &drops)
        #expect(kept.map(\.index) == Array(0..<drive))
        #expect(drops.dropped.map(\.index) == Array(drive..<(drive + strays)))
    }

    @Test func silenceExcusesEveryDistance() {
        let flight: [Fix] = [
            .at(0, 47, 9), .at(1, 47, 9), .at(7200, 40.7, -74), .at(7201, 40.7, -74),
        ]
        // 6,300 km in two hours are more than 200 km/h, and more than an airliner's 1,200 km/h are not.
        #expect(
            TrackCleaner.clean(TrackColumns(fixes: flight), CleaningOptions(speedCap: 3200 / 3.6)).drops.counts.isEmpty)
        let ferry: [Fix] = [.at(0, 47, 9), .at(1, 47, 9), .at(7200, 47.5, 9), .at(7201, 47.5, 9)]
        #expect(dropped(TrackColumns(fixes: ferry)) == [])
    }

    @Test func aLargeRadiusExcusesASmallJump() {
        func pair(_ radius: Double?) -> [Int] {
            dropped(TrackColumns(fixes: [.at(0, 47, 9), .at(1, 47.001, 9, radius: radius), .at(2, 47, 9)]))
        }
        // 111 m.
        #expect(pair(nil) == [1])
        #expect(pair(18) == [1])
        #expect(pair(19) == [])
        // No radius excuses more than 300 m.
        let far: [Fix] = [.at(0, 47, 9), .at(1, 47.003, 9, radius: 900), .at(2, 47, 9)]
        #expect(dropped(TrackColumns(fixes: far)) == [1])
    }

    @Test func theZeroPlaceIsNoPlaceFarFromIt() {
        func reasons(_ fixes: [Fix]) -> [DropReason?] {
            let drops = TrackCleaner.clean(TrackColumns(fixes: fixes), options).drops
            return fixes.indices.map { drops[$0] }
        }
        let zeros = (10..<30).map { Fix.at(Double($0), 0, 0) }
        #expect(reasons([.at(0, 47, 9)] + zeros + [.at(60, 47, 9)]) == [nil] + zeros.map { _ in .zero } + [nil])
        #expect(reasons(zeros + [.at(60, 47, 9)]) == zeros.map { _ in .zero } + [nil])
        #expect(reasons(zeros) == zeros.map { _ in nil })
        #expect(reasons(zeros + [.at(60, 0.001, 0)]) == zeros.map { _ in nil } + [nil])
        #expect(reasons([.at(0, 0.5, 0.5)] + zeros).allSatisfy { $0 != .zero })
        let many = (0..<1100).map { Fix.at(Double($0), 0, 0) }
        #expect(reasons(many).allSatisfy { $0 == nil })
    }

    @Test func radiusGradesDropWhatTheySay() {
        let radii: [Double?] = [nil, 0, 20, 20.1, 50, 51, 100, 101, 500, 501]
        let columns = TrackColumns(fixes: radii.enumerated().map { .at(Double($0) * 60, 47, 9, radius: $1) })
        func kept(_ grade: Int, _ limit: Double? = nil) -> Int {
            let (samples, drops) = TrackCleaner.clean(
                columns, CleaningOptions(denoiseGrade: grade, radiusLimit: limit, speedCap: usualCap))
            let byRadius = drops.counts[.radius] ?? 0
            #expect(drops.dropped.allSatisfy { $0.reason != .excursion })
            return samples.count + (drops.counts[.stop] ?? 0) == columns.count - byRadius
                ? columns.count - byRadius : -1
        }
        #expect([0, 1, 2, 3, 4, 5, 9, -1].map { kept($0) } == [10, 10, 9, 7, 5, 3, 3, 10])
        #expect(kept(0, 50) == 5 && kept(2, 50) == 5 && kept(5, 500) == 3)
        #expect(CleaningOptions(denoiseGrade: 0, speedCap: 1).speedCap == nil)
        #expect(!CleaningOptions(denoiseGrade: 0, speedCap: 1).collapsesStops)
    }

    @Test func capsFollowTheNamedMode() {
        #expect(TravelMode.allCases.map { ($0.speedCap(driving: 100) * 3.6).rounded() } == [360, 360, 60, 20])
    }

    // MARK: Properties

    @Test func aCleanTrackLosesNothing() {
        for seed in Dice.seeds(60) {
            var random = Dice(seed: seed)
            var drive = MadeDrive()
            drive.spacing = [100, 200, 1000, 2000, 5000, 10_000, 30_000].one(&random)
            drive.speeds = Bool.random(using: &random)
            #expect(dropped(TrackColumns(fixes: drive.fixes(using: &random))) == [], "seed \(seed)")
        }
    }

    @Test func cleaningOnceIsEnough() {
        for seed in Dice.seeds(60) {
            var random = Dice(seed: seed)
            var drive = MadeDrive()
            drive.spacing = [1000, 5000].one(&random)
            var fixes = drive.fixes(using: &random)
            for index in fixes.indices where Int.random(in: 0..<40, using: &random) == 0 {
                fixes[index] = fixes[index].displaced(
                    by: Double.random(in: 300...3000, using: &random),
                    towards: Double.random(in: 0..<360, using: &random))
            }
            let first = TrackCleaner.clean(TrackColumns(fixes: fixes), options).samples
            let again = TrackCleaner.clean(TrackColumns(fixes: first.map { fixes[$0.index] }), options).drops
            #expect(again.counts.isEmpty, "seed \(seed)")
        }
    }

    @Test func aTurnOfTheEarthAndAnotherDayChangeNothing() {
        for seed in Dice.seeds(40) {
            var random = Dice(seed: seed)
            let track = StepTests.wildTrack(&random)
            let turn = Int64.random(in: -1_800_000_000...1_800_000_000, using: &random)
            let later = Int64.random(in: -1_000_000_000...1_000_000_000, using: &random)
            let moved = track.samples.map { sample in
                var longitude = Int64(sample.longitudeE7) + turn
                if longitude > 1_800_000_000 { longitude -= 3_600_000_000 }
                if longitude < -1_800_000_000 { longitude += 3_600_000_000 }
                return TrackSample(
                    index: sample.index, time: sample.time + later, latitudeE7: sample.latitudeE7,
                    longitudeE7: Int32(longitude), speed: sample.speed, course: sample.course,
                    accuracy: sample.accuracy)
            }
            // The zero place is special on purpose.
            guard track.samples.allSatisfy({ $0.latitudeE7 != 0 }) else { continue }
            var (before, after) = (DropReasons(), DropReasons())
            _ = Denoiser.apply(Denoiser(speedCap: usualCap), to: track.samples, &before)
            _ = Denoiser.apply(Denoiser(speedCap: usualCap), to: moved, &after)
            #expect(before == after, "seed \(seed)")
        }
    }

    /// The shares of single strays that are found, of the cleaned drive, by spacing and distance of the stray.
    private static let foundShares: [Int64: [Int]] = [
        1: [0, 100, 100, 100, 100, 100], 2: [0, 100, 100, 100, 100, 100], 5: [0, 0, 100, 99, 100, 100],
        10: [0, 0, 1, 94, 94, 100], 30: [0, 0, 0, 0, 0, 78],
    ]

    @Test(arguments: foundShares.keys.sorted()) func straysAreFound(_ spacing: Int64) throws {
        let shares = Self.foundShares[spacing]!
        let columns = try RecordedTrack.liechtenstein.columns()
        let clean = TrackCleaner.clean(columns, options).samples
        var due = Int64.min
        let samples = clean.filter { sample in
            guard sample.time >= due else { return false }
            due = sample.time + spacing * 1000
            return true
        }
        let fixes = samples.map {
            Fix(
                time: $0.timestamp, coordinate: Coordinate(latitudeE7: $0.latitudeE7, longitudeE7: $0.longitudeE7)!,
                speed: $0.speed, course: $0.course)
        }
        #expect(dropped(TrackColumns(fixes: fixes)) == [])
        for (metres, share) in zip([20.0, 50, 100, 200, 500, 2000], shares) {
            let seed = UInt64.random(in: 0 ... .max)
            var random = Dice(seed: seed)
            var (found, lost) = (0, 0)
            for _ in 0..<72 {
                let index = Int.random(in: 20..<fixes.count - 20, using: &random)
                var near = Array(fixes[index - 20...index + 20])
                near[20] = near[20].displaced(by: metres, towards: Double.random(in: 0..<360, using: &random))
                let drops = dropped(TrackColumns(fixes: near))
                if drops.contains(20) { found += 1 }
                lost += drops.filter { $0 != 20 }.count
            }
            print("strays of \(metres) m at \(spacing) s: \(found) of 72 found, \(lost) clean points lost")
            // Chance puts a stray along the way, where a vehicle may well be.
            #expect(found * 100 >= (share - 8) * 72, "seed \(seed), \(metres) m")
            #expect(lost <= 14, "seed \(seed), \(metres) m")
        }
    }
}

@Suite struct LatestPointTests {
    private let options = CleaningOptions(denoiseGrade: 4, speedCap: usualCap)

    private func shown(_ fixes: [Fix], age: Double = 0, _ options: CleaningOptions? = nil) -> Int? {
        let now = (fixes.last?.time.milliseconds ?? 0) + Int64(age * 1000)
        return LatestPoint.index(in: TrackColumns(fixes: fixes), options ?? self.options, now: now)
    }

    @Test func theLastKeptPointIsShown() {
        #expect(shown([]) == nil)
        #expect(shown([.at(0, 47, 9)]) == 0)
        #expect(shown([.at(0, 47, 9), .at(1, 47, 9.0001)]) == 1)
        // Parked: points of a stop are points.
        #expect(shown((0..<200).map { .at(Double($0), 47, 9) }) == 199)
    }

    @Test func aPointOfTooLargeARadiusIsNotShown() {
        #expect(shown([.at(0, 47, 9), .at(1, 47, 9, radius: 51), .at(2, 47, 9, radius: 2000)]) == 0)
        // Nothing passes: the newest is better than nothing.
        #expect(shown([.at(0, 47, 9, radius: 60), .at(1, 47, 9, radius: 51)]) == 1)
    }

    @Test func aJumpAtTheEndIsUndecidedForAMinute() {
        let jump: [Fix] = [.at(0, 47, 9), .at(1, 47, 9), .at(2, 47.1, 9)]
        #expect(shown(jump) == 1)
        #expect(shown(jump, age: 60) == 1)
        #expect(shown(jump, age: 60.001) == 2)
        // A second one there confirms it.
        #expect(shown(jump + [.at(3, 47.1, 9)]) == 3)
        // One back where the vehicle was refutes it.
        #expect(shown(jump + [.at(3, 47, 9)], age: 1000) == 3)
        // With denoising off the newest is shown.
        #expect(shown(jump, CleaningOptions(denoiseGrade: 0, speedCap: usualCap)) == 2)
        // A point that the radius limit drops does not confirm anything.
        #expect(shown(jump + [.at(3, 47.1, 9, radius: 51)], age: 5) == 1)
    }
}
