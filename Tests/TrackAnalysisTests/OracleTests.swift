import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

/// Numbers that other programs found for the recorded drives. Each holds for the track cut into chunks of any size.
@Suite struct OracleTests {
    static let chunks = [1, 7, 1000, 20_000]

    private func cleaned(_ columns: TrackColumns, _ options: CleaningOptions, chunk: Int) -> ([TrackSample], DropLedger)
    {
        var cleaner = TrackCleaner(options)
        var samples: [TrackSample] = []
        for start in stride(from: 0, to: columns.count, by: chunk) {
            cleaner.add(columns[start..<min(start + chunk, columns.count)], to: &samples)
        }
        cleaner.finish(to: &samples)
        return (samples, cleaner.drops)
    }

    private func isNear(_ value: Double, _ oracle: Double, _ share: Double) -> Bool {
        near(value, oracle, oracle * share)
    }

    @Test(arguments: [
        (RecordedTrack.theHague, 3453, 3541.455, 37_442.22, 37_442.22, 2_000.8),
        (.beijing, 3473, 28_077, 87_775.33, 87_674.64, 16_467.1),
        (.liechtenstein, 3536, 3965, 37_703.93, 36_012.39, 1_872.5),
        (.andorra, 394, 2130, 25_443.02, 25_443.02, 340.7),
    ])
    func lengths(
        _ track: RecordedTrack, _ points: Int, _ span: Double, _ straight: Double, _ none: Double, _ slow: Double
    ) throws {
        let columns = try track.columns()
        let raw = columns.samples
        #expect(raw.count == points)
        #expect(raw[raw.count - 1].seconds(since: raw[0]) == span)
        let length = LengthMeter.length(of: raw, slowBelow: 20)
        #expect(isNear(length.total(.straight).metres, straight, 1e-4))
        #expect(isNear(length.total(.none).metres, none, 1e-4))
        #expect(isNear(length.total(.none).slow, slow, 1e-3))
        let great = zip(raw, raw.dropFirst()).reduce(0) {
            $0 + GreatCircle.distance(from: $1.0.place, to: $1.1.place)
        }
        #expect(near(length.total(.straight).metres, great, 1e-3))
    }

    @Test func interruptions() throws {
        let beijing = try RecordedTrack.beijing.columns()
        let liechtenstein = try RecordedTrack.liechtenstein.columns()
        let length = LengthMeter.length(of: beijing.samples)
        #expect(length.interruptions.count == 4)
        #expect(near(length.interruptions.reduce(0) { $0 + $1.straight }, 100.69, 0.01))
        let gap = LengthMeter.length(of: liechtenstein.samples)
        #expect(gap.interruptions.map(\.seconds) == [331])
        #expect(near(gap.interruptions[0].straight, 1_691.54, 0.2))
        // With the routes that a road engine found: driving, riding, walking.
        for (route, total) in [(4_119.1, 40_131.5), (2_935.1, 38_947.5), (2_926.1, 38_938.5)] {
            let supplement = Supplement.routes([route], factor: 1)
            #expect(isNear(gap.total(supplement).metres, total, 1e-4))
        }
    }

    @Test(arguments: [
        (RecordedTrack.theHague, [583, 424, 283, 183, 102], [0, 37_265.5, 0, 36_858.4, 36_509.5]),
        (.beijing, [2_063, 1_609, 1_041, 648, 338], [0, 87_093.0, 0, 85_048.2, 82_445.2]),
        (.liechtenstein, [622, 419, 277, 169, 102], [0, 36_731.8, 0, 36_279.5, 36_021.8]),
        (.andorra, [352, 314, 220, 122, 66], [0, 25_426.0, 0, 25_241.4, 24_994.2]),
    ])
    func thinning(_ track: RecordedTrack, _ counts: [Int], _ metres: [Double]) throws {
        let columns = try track.columns()
        for (grade, (count, metres)) in zip(ThinningGrade.allCases.dropFirst(), zip(counts, metres)) {
            var drops = DropLedger()
            let kept = TimeRatioThinning.apply(TimeRatioThinning(metres: grade.tolerance), to: columns.samples, &drops)
            #expect(isNear(Double(kept.count), Double(count), 0.03), "\(grade)")
            #expect(drops.counts[.thinned] == columns.count - kept.count)
            if metres > 0 {
                #expect(isNear(LengthMeter.length(of: kept).total(.straight).metres, metres, 3e-3), "\(grade)")
            }
        }
    }

    @Test(arguments: [
        (RecordedTrack.theHague, [82, 83], 37_427.2, 37_259.6, 1_910.2),
        (.beijing, [55, 17_350, 17_355, 19_916], 87_668.7, 86_392.9, 0),
        (.liechtenstein, [500, 501, 1_900, 2_200], 34_360.3, 33_531.6, 1_051.3),
        (.andorra, [], 25_443.0, 25_443.0, 340.7),
    ])
    func cleaning(
        _ track: RecordedTrack, _ times: [Int64], _ denoised: Double, _ collapsed: Double, _ slow: Double
    ) throws {
        let columns = try track.columns()
        let raw = columns.samples
        for chunk in Self.chunks {
            let (kept, drops) = cleaned(columns, CleaningOptions(speedCap: usualCap), chunk: chunk)
            let strays = drops.dropped.map { (raw[$0.index].milliseconds(since: raw[0]) + 999) / 1000 }
            #expect(strays == times, "chunks of \(chunk)")
            #expect(drops.dropped.allSatisfy { $0.reason == .excursion })
            #expect(isNear(LengthMeter.length(of: kept).total(.none).metres, denoised, 1e-4))
            let (still, reasons) = cleaned(
                columns, CleaningOptions(denoiseGrade: 1, speedCap: usualCap), chunk: chunk)
            let length = LengthMeter.length(of: still, slowBelow: 20).total(.none)
            #expect(isNear(length.metres, collapsed, 3e-3))
            if slow > 0 { #expect(isNear(length.slow, slow, 3e-3)) }
            #expect(still.count + reasons.dropped.count == raw.count)
        }
    }

    @Test func stays() throws {
        typealias Stays = [(start: Int64, duration: Int64)]
        let beijing300: Stays = [
            (440, 485), (6330, 485), (7005, 9260), (17475, 380), (19334, 492), (19946, 320), (21866, 935),
        ]
        let expected: [(RecordedTrack, Double, Int64, Stays)] = [
            (.liechtenstein, 20, 600, [(1003, 763)]), (.liechtenstein, 20, 300, [(1003, 763)]),
            (.liechtenstein, 50, 600, [(997, 773)]), (.liechtenstein, 50, 300, [(997, 773)]),
            (.beijing, 20, 600, []), (.beijing, 20, 300, []), (.beijing, 50, 600, [(7005, 9260), (21866, 935)]),
            (.beijing, 50, 300, beijing300),
        ]
        let none: [(RecordedTrack, Double, Int64, Stays)] = [RecordedTrack.theHague, .andorra].flatMap { track in
            [(track, 20, 600, []), (track, 20, 300, []), (track, 50, 600, []), (track, 50, 300, [])]
        }
        for (track, reach, seconds, oracle) in expected + none {
            let columns = try track.columns()
            let raw = columns.samples
            let rule = StayRule(reach: reach, span: seconds * 1000, coldReach: 0)
            let found = StayFinder.stays(rule, in: raw)
            let starts = found.map { $0.start.seconds - raw[0].timestamp.seconds }
            #expect(found.count == oracle.count, "\(track) \(reach) \(seconds)")
            for (start, (stay, oracle)) in zip(starts, zip(found, oracle)) {
                #expect((start - oracle.start).magnitude <= 10)
                #expect((stay.duration - oracle.duration).magnitude <= 10)
            }
            let centres: [(Double, Double)] =
                switch (track, reach, seconds) {
                case (.liechtenstein, 20, _): [(47.165009, 9.508841)]
                case (.beijing, 50, 600): [(39.811132, 116.137610), (39.807979, 116.150273)]
                default: []
                }
            for (stay, centre) in zip(found, centres) {
                #expect(near(stay.place.latitude, centre.0, 1e-5) && near(stay.place.longitude, centre.1, 1e-5))
            }
        }
    }

    @Test(arguments: [
        (RecordedTrack.theHague, [14, 18], [12_268.4, 19_860.6], [26, 17, 3, 5], [1, 20], 38.061, 100.87),
        (.beijing, [0, 0], [0, 0], [0, 0, 0, 0], [0, 0], 11.24, 0),
        (.liechtenstein, [1, 32], [1_215.5, 12_225.7], [1, 2, 1, 1], [4, 29], 32.697, 98.24),
        (.andorra, [0, 20], [0, 3_710.9], [0, 0, 0, 0], [0, 0], 43.002, 75.10),
    ])
    func driving(
        _ track: RecordedTrack, _ episodes: [Int], _ metres: [Double], _ harsh: [Int], _ steering: [Int],
        _ average: Double, _ maximum: Double
    ) throws {
        let columns = try track.columns()
        let raw = columns.samples
        for (limit, (count, metres)) in zip([80.0, 50], zip(episodes, metres)) {
            let speeding = DrivingAnalyzer.behaviour(DrivingOptions(speeding: limit), in: raw).speeding
            #expect(speeding.count == count)
            #expect(near(speeding.reduce(0) { $0 + $1.distance }, metres, 0.1))
        }
        let usual = DrivingAnalyzer.behaviour(DrivingOptions(), in: raw)
        let strict = DrivingAnalyzer.behaviour(
            DrivingOptions(acceleration: 2.5, braking: -2.5, steering: 2.5), in: raw)
        #expect([usual, strict].flatMap { [$0.accelerations.count, $0.brakings.count] } == harsh)
        #expect([usual, strict].map(\.steerings.count) == steering)
        // The API's average divides by the duration that it tells, which is in whole seconds.
        #expect(isNear(usual.averageSpeed, average, 3e-4))
        #expect(near(usual.maximumSpeed, maximum, 0.01))
        #expect(usual.rate.isInsufficient == (track == .beijing || track == .andorra))
    }

    @Test func theOnlyHarshBrakingOfTheMadeDriveIsWhereItWasPut() throws {
        let columns = try RecordedTrack.liechtenstein.columns()
        let raw = columns.samples
        let found = DrivingAnalyzer.behaviour(DrivingOptions(speeding: 80), in: raw)
        let begin = found.brakings.map { $0.time.seconds - raw[0].timestamp.seconds }
        #expect(begin.first.map { (839...840).contains($0) } == true)
        #expect(found.brakings.first.map { near($0.acceleration, -3.1, 0.3) } == true)
        #expect(found.speeding.map { $0.end.time.seconds - $0.start.time.seconds } == [46])
    }
}
