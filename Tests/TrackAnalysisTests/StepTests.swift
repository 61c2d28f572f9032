import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

/// What holds of every step: the cut into chunks changes nothing, and no track breaks a step.
@Suite struct StepTests {
    /// Drives with strays, silences, parked clouds, at any rate, across the antimeridian and near the poles.
    static func wildTrack(_ random: inout Dice) -> TrackColumns {
        var drive = MadeDrive()
        drive.start = [
            Degrees(latitude: 47.1, longitude: 9.5), Degrees(latitude: -17, longitude: 179.999),
            Degrees(latitude: 89.99, longitude: 10), Degrees(latitude: -89.999, longitude: -120),
            Degrees(latitude: 0, longitude: 0),
        ].one(&random)
        drive.spacing = [100, 200, 1000, 5000, 30_000, 300_000].one(&random)
        drive.seconds = min(3600, drive.spacing * 600 / 1000)
        drive.noise = Double.random(in: 0...6, using: &random)
        drive.speeds = Bool.random(using: &random)
        var fixes = drive.fixes(using: &random)
        for index in fixes.indices where Double.random(in: 0..<1, using: &random) < 0.03 {
            let metres = Double.random(in: 1...4, using: &random)
            fixes[index] = fixes[index].displaced(
                by: metres * metres * metres * 300, towards: Double.random(in: 0..<360, using: &random))
        }
        if Bool.random(using: &random), fixes.count > 20 {
            let start = Int.random(in: 0..<fixes.count - 10, using: &random)
            fixes.removeSubrange(start..<min(fixes.count, start + Int.random(in: 1...400, using: &random)))
        }
        for index in fixes.indices where Double.random(in: 0..<1, using: &random) < 0.2 {
            fixes[index].accuracy = Int32.random(in: 0...2000, using: &random)
        }
        if Bool.random(using: &random) {
            for index in fixes.indices.randomElement(using: &random).map({ $0..<min($0 + 9, fixes.count) }) ?? 0..<0 {
                fixes[index].coordinate = MadeDrive.coordinate(Degrees(latitude: 0, longitude: 0))
            }
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
            fixes = Array(fixes.prefix(Int.random(in: 0...2, using: &random)))
        }
        return TrackColumns(
            fixes.map { TrackPoint($0, isParked: Int.random(in: 0..<50, using: &random) == 0) })
    }

    struct Everything: Equatable {
        var samples: [TrackSample] = []
        var drops = DropReasons()
        var thinned: [TrackSample] = []
        var stays: [StayPoint] = []
        var trips: [Trip] = []
        var driving: DrivingBehaviour
        var length: TrackLength
    }

    /// All of the analysis, with the track fed in chunks of random sizes up to `largest`.
    static func everything(_ track: TrackColumns, largest: Int, _ random: inout Dice) -> Everything {
        var cleaner = TrackCleaner(CleaningOptions(denoiseGrade: 3, speedCap: usualCap))
        var thinning = TimeRatioThinning(metres: 5)
        var trips = TripFinder()
        var driving = DrivingAnalyzer(DrivingOptions(speeding: 50))
        var length = LengthMeter(slowBelow: 20)
        var result = Everything(driving: DrivingBehaviour(), length: length.result)
        var thinDrops = DropReasons()
        var position = 0
        func feed(_ samples: ArraySlice<TrackSample>) {
            for sample in samples {
                thinning.add(sample, to: &result.thinned, &thinDrops)
                trips.add(sample)
                driving.add(sample)
                driving.travel(to: sample)
                length.add(sample)
            }
        }
        while position < track.count {
            let next = min(track.count, position + Int.random(in: 1...largest, using: &random))
            let known = result.samples.count
            cleaner.add(track[position..<next], to: &result.samples)
            feed(result.samples[known...])
            position = next
        }
        let known = result.samples.count
        cleaner.finish(to: &result.samples)
        feed(result.samples[known...])
        thinning.finish(to: &result.thinned, &thinDrops)
        result.stays = StayFinder.stays(.stay(radius: 20, seconds: 120), in: result.samples)
        result.trips = trips.finish()
        result.driving = driving.finish()
        result.length = length.result
        result.drops = cleaner.drops
        return result
    }

    @Test func anyCutGivesTheSame() {
        for seed in Dice.seeds(60) {
            var random = Dice(seed: seed)
            let track = Self.wildTrack(&random)
            let whole = Self.everything(track, largest: 1, &random)
            for largest in [7, 1000, 100_000] {
                #expect(Self.everything(track, largest: largest, &random) == whole, "seed \(seed)")
            }
        }
    }

    @Test func everyPointIsKeptInItsOrderOrHasAReason() {
        for seed in Dice.seeds(100) {
            var random = Dice(seed: seed)
            let track = Self.wildTrack(&random)
            let (kept, drops) = TrackCleaner.clean(track, CleaningOptions(denoiseGrade: 4, speedCap: usualCap))
            #expect(zip(kept, kept.dropFirst()).allSatisfy { $0.index < $1.index }, "seed \(seed)")
            #expect(kept.allSatisfy { drops[$0.index] == nil }, "seed \(seed)")
            #expect(kept.count + drops.counts.values.reduce(0, +) == track.count, "seed \(seed)")
            for sample in kept where !sample.isInStop {
                #expect(sample.place == track.sample(at: sample.index, index: 0).place, "seed \(seed)")
            }
        }
    }

    @Test func emptyAndTinyTracksHaveEmptyAnswers() {
        var random = Dice(seed: 1)
        let none = Self.everything(TrackColumns(), largest: 1, &random)
        #expect(none.samples.isEmpty && none.stays.isEmpty && none.trips.isEmpty && none.driving == DrivingBehaviour())
        #expect(none.length.total(.straight) == (0, 0))
        let one = TrackColumns(fixes: [.at(0, 10, 20, speed: 5)])
        let single = Self.everything(one, largest: 1, &random)
        #expect(single.samples.count == 1 && single.thinned.count == 1 && single.driving.duration == 0)
        #expect(single.driving.averageSpeed == 0 && single.driving.maximumSpeed == 18)
    }

    @Test func timesAndSpeedsFromOutsideNeverTrap() {
        func fix(
            _ time: Int64, _ latitude: Double, _ longitude: Double, speed: Int32? = nil, course: Int32? = nil,
            accuracy: Int32? = nil
        ) -> Fix {
            Fix(
                time: Timestamp(milliseconds: time),
                coordinate: MadeDrive.coordinate(Degrees(latitude: latitude, longitude: longitude)), speed: speed,
                course: course, accuracy: accuracy)
        }
        let fixes = [
            fix(.min, -90, -180, speed: .max), fix(0, 90, 180, speed: -5, course: .max),
            fix(0, 0, 0, speed: .min, accuracy: .max), fix(.max, 1, 1, speed: .max, course: -1),
            fix(.max, 1, 1, speed: 1, course: 1),
        ]
        let near = [
            fix(0, 1, 1, speed: .max, course: .max, accuracy: .min),
            fix(1000, 1, 1, speed: .max, course: .min, accuracy: .max),
            fix(2000, 1, 1, speed: .max, course: -1), fix(3000, 1, 1, speed: .max, course: .max),
        ]
        var random = Dice(seed: 1)
        /// What can be said of every track: each point is kept or has a reason, and nothing is less than nothing.
        func check(_ track: TrackColumns, _ what: String) {
            let found = Self.everything(track, largest: 1, &random)
            #expect(found.samples.count + found.drops.counts.values.reduce(0, +) == track.count, "\(what)")
            #expect(found.thinned.count <= found.samples.count, "\(what)")
            let (length, driving) = (found.length.total(.straight), found.driving)
            #expect(length.0.isFinite && length.0 >= 0 && length.1 >= 0, "\(what): \(length)")
            #expect(driving.distance.isFinite && driving.distance >= 0 && driving.duration >= 0, "\(what)")
            #expect(driving.averageSpeed.isFinite && driving.maximumSpeed?.isFinite ?? true, "\(what)")
            #expect(found.stays.allSatisfy { $0.end >= $0.start }, "\(what)")
        }
        for count in 0...fixes.count {
            check(TrackColumns(fixes: fixes.prefix(count)), "\(count) points")
            check(TrackColumns(fixes: fixes.prefix(count).reversed()), "\(count) points backwards")
        }
        check(TrackColumns(fixes: near), "near points")
        let behaviour = DrivingAnalyzer.behaviour(DrivingOptions(), in: TrackColumns(fixes: near).samples)
        #expect(behaviour.averageSpeed.isFinite && behaviour.duration == 3)
    }

    @Test func columnsKeepWhatAPointSaysInWGS84() throws {
        let place = Degrees(latitude: 31.2304, longitude: 121.4737)
        for (type, datum) in [(CoordinateType.wgs84, Datum.wgs84), (.gcj02, .gcj02), (.bd09ll, .bd09)] {
            let there = DatumConversion.convert(place, from: .wgs84, to: datum)
            let fix = Fix.at(5, there.latitude, there.longitude, speed: 3, course: 359, radius: 8)
            let columns = TrackColumns([TrackPoint(fix, coordinateType: type, isParked: true)])
            let sample = columns.sample(at: 0, index: 9)
            #expect(GreatCircle.distance(from: sample.place, to: place) < 0.02, "\(type)")
            #expect(sample.speed == 300 && sample.course == 3590 && sample.accuracy == 80)
            #expect(sample.index == 9 && sample.time == fix.time.milliseconds && sample.isParked)
        }
        let bare = TrackColumns(fixes: [.at(0, 1, 2)]).sample(at: 0, index: 0)
        #expect(bare.speed == nil && bare.course == nil && bare.accuracy == nil && !bare.isParked)
    }
}
