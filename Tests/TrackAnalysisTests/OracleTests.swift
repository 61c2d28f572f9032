import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

/// Numbers that other programs found for the recorded drives. Each holds for the track cut into chunks of any size.
@Suite struct OracleTests {
    static let chunks = [1, 7, 1000, 20_000]

    private func cleaned(_ columns: TrackColumns, _ options: CleaningOptions, chunk: Int) -> (
        [TrackSample], DropReasons
    ) {
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
        (RecordedTrack.theHague, 3453, 3541.455, 37_516.23, 37_516.23, 2_004.8),
        (.beijing, 3473, 28_077, 87_809.68, 87_708.98, 16_473.5),
        (.liechtenstein, 3536, 3965, 37_734.81, 36_038.52, 1_873.8),
        (.andorra, 394, 2130, 25_465.22, 25_465.22, 341.0),
    ])
    func lengths(
        _ track: RecordedTrack, _ points: Int, _ span: Double, _ straight: Double, _ none: Double, _ slow: Double
    ) throws {
        let columns = try track.columns()
        let raw = columns.samples
        #expect(raw.count == points)
        #expect(raw[raw.count - 1].seconds(since: raw[0]) == span)
        let length = LengthMeter.length(of: raw, slowBelow: 20)
        #expect(isNear(length.total(.straight).metres, straight, 1e-6))
        #expect(isNear(length.total(.none).metres, none, 1e-6))
        #expect(isNear(length.total(.none).slow, slow, 1e-3))
        // The searches measure in another way.
        let sum = zip(raw, raw.dropFirst()).reduce(0) { $0 + SurfaceDistance.between($1.0.place, $1.1.place) }
        #expect(isNear(length.total(.straight).metres, sum, 1e-6))
    }

    @Test func interruptions() throws {
        let beijing = try RecordedTrack.beijing.columns()
        let liechtenstein = try RecordedTrack.liechtenstein.columns()
        let length = LengthMeter.length(of: beijing.samples)
        #expect(length.interruptions.count == 4)
        #expect(near(length.interruptions.reduce(0) { $0 + $1.straight }, 100.69, 0.1))
        let gap = LengthMeter.length(of: liechtenstein.samples)
        #expect(gap.interruptions.map(\.seconds) == [331])
        #expect(near(gap.interruptions[0].straight, 1_696.3, 0.2))
        // With the routes that a road engine found: driving, riding, walking.
        for (route, total) in [(4_119.1, 40_157.6), (2_935.1, 38_973.6), (2_926.1, 38_964.6)] {
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
            var drops = DropReasons()
            let kept = TimeRatioThinning.apply(TimeRatioThinning(metres: grade.tolerance), to: columns.samples, &drops)
            #expect(isNear(Double(kept.count), Double(count), 0.03), "\(grade)")
            #expect(drops.counts[.thinned] == columns.count - kept.count)
            if metres > 0 {
                #expect(isNear(LengthMeter.length(of: kept).total(.straight).metres, metres, 3e-3), "\(grade)")
            }
        }
    }

    @Test(arguments: [
        // At five points on the move the receiver says 0.
        (RecordedTrack.theHague, [81, 487, 507, 2_758, 2_803], 37_333.2, 1_914.0),
        // The vehicle cannot have driven from the first eleven points to the others.
        (
            .beijing,
            Array(stride(from: 0, through: 50, by: 5)) + [
                970, 18_340, 18_375, 18_970, 19_826, 19_856, 19_886, 19_891, 19_896, 19_901, 19_906, 19_911, 26_255,
            ], 84_506, 0
        ),
        (.liechtenstein, [500, 501, 1_900, 2_200], 33_555.2, 1_052.0),
        (.andorra, [], 25_465.2, 341.0),
    ])
    func cleaning(
        _ track: RecordedTrack, _ times: [Int64], _ collapsed: Double, _ slow: Double
    ) throws {
        let columns = try track.columns()
        let raw = columns.samples
        for chunk in Self.chunks {
            let (kept, drops) = cleaned(columns, CleaningOptions(speedCap: usualCap), chunk: chunk)
            let strays = drops.dropped.map { (raw[$0.index].milliseconds(since: raw[0]) + 999) / 1000 }
            #expect(strays == times, "chunks of \(chunk)")
            #expect(drops.dropped.allSatisfy { $0.reason == .excursion })
            let steps = zip(kept, kept.dropFirst()).filter {
                $1.milliseconds(since: $0) < Interruption.span && !$1.followsBreak
            }
            let sum = steps.reduce(0) { $0 + SurfaceDistance.between($1.0.place, $1.1.place) }
            #expect(isNear(LengthMeter.length(of: kept).total(.none).metres, sum, 1e-6))
            #expect(kept.count { $0.followsBreak } == (track == .beijing ? 1 : 0))
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
            (440, 485), (6330, 485), (7005, 9285), (16785, 515), (17475, 380), (18975, 851), (19926, 345), (21876, 930),
        ]
        let expected: [(RecordedTrack, Double, Int64, Stays)] = [
            (.liechtenstein, 20, 600, [(1003, 763)]), (.liechtenstein, 20, 300, [(1003, 763)]),
            (.liechtenstein, 50, 600, [(1001, 769)]), (.liechtenstein, 50, 300, [(1001, 769)]),
            (.beijing, 20, 600, [(7010, 8575), (21941, 855)]),
            (.beijing, 20, 300, [(460, 465), (6375, 440), (7010, 8575), (15890, 320), (21941, 855)]),
            (.beijing, 50, 600, [(7005, 9285), (18975, 851), (21876, 930)]),
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
                default: []
                }
            for (stay, centre) in zip(found, centres) {
                #expect(near(stay.place.latitude, centre.0, 1e-5) && near(stay.place.longitude, centre.1, 1e-5))
            }
        }
    }

    @Test(arguments: [
        (RecordedTrack.theHague, [14, 18], [12_287.9, 19_897.8], [27, 18, 3, 6], [1, 20], 37.960, 100.87),
        // Without speeds the places tell the greatest: here that of a stray.
        (.beijing, [0, 0], [0, 0], [0, 0, 0, 0], [0, 0], 11.087, 452.69),
        (.liechtenstein, [1, 32], [1_215.9, 12_231.6], [1, 2, 1, 1], [4, 29], 31.967, 98.24),
        (.andorra, [0, 20], [0, 3_713.7], [0, 0, 0, 0], [0, 0], 43.040, 75.10),
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
        #expect(near(usual.maximumSpeed ?? 0, maximum, 0.01))
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
