import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import TrackAnalysis

/// Runs of false samples, short or long: an excursion that the vehicle cannot have entered and cannot have left is false,
/// however long it lasts.
@Suite struct ExcursionTests {
    private static let options = CleaningOptions(speedCap: usualCap)

    /// 600 points, one a second at 20 m/s; `strays` of them are 5 km aside.
    private func line(strays: Range<Int>, speeds: Bool) -> TrackColumns {
        TrackColumns(
            fixes: (0..<600).map { second in
                let place = destination(
                    from: Degrees(latitude: 47, longitude: 9), bearing: 0, distance: Double(second) * 20)
                let fix = Fix.at(
                    Double(second), place.latitude, place.longitude, speed: speeds ? 20 : nil, course: speeds ? 0 : nil)
                return strays.contains(second) ? fix.displaced(by: 5000, towards: 90) : fix
            })
    }

    @Test(arguments: [1, 5, 6, 10, 30, 60, 120], [true, false])
    func aRunAsideIsDroppedWhole(_ count: Int, _ speeds: Bool) {
        let strays = 300..<300 + count
        let (samples, drops) = TrackCleaner.clean(line(strays: strays, speeds: speeds), Self.options)
        #expect(drops.dropped.map(\.index) == Array(strays))
        #expect(near(LengthMeter.length(of: samples).driven, 11_980, 20))
    }

    @Test func aShortStartOrEndElsewhereGoesAndALongOneStaysWithABreak() {
        for speeds in [true, false] {
            #expect(
                TrackCleaner.clean(line(strays: 0..<20, speeds: speeds), Self.options).drops.dropped.map(\.index)
                    == Array(0..<20))
            #expect(
                TrackCleaner.clean(line(strays: 560..<600, speeds: speeds), Self.options).drops.dropped.map(\.index)
                    == Array(560..<600))
            // Nobody can say which side is false. What lies between them counts in no distance.
            let (samples, drops) = TrackCleaner.clean(line(strays: 0..<200, speeds: speeds), Self.options)
            let length = LengthMeter.length(of: samples)
            #expect(drops.counts.isEmpty && length.breaks == 1 && near(length.total(.straight).metres, 11_960, 25))
            #expect(samples.filter(\.followsBreak).map(\.index) == [200])
        }
    }

    @Test func whatComesBackRefutesWhatLastedLonger() {
        // A hundred seconds, then three hundred elsewhere, then two hundred that go on as if nothing had been.
        for speeds in [true, false] {
            let drops = TrackCleaner.clean(line(strays: 100..<380, speeds: speeds), Self.options).drops
            #expect(drops.dropped.map(\.index) == Array(100..<380), "speeds \(speeds)")
        }
    }

    @Test func twoReceiversUnderOneNameLeaveOneTrack() {
        for speeds in [true, false] {
            var fixes = line(strays: 0..<0, speeds: speeds).samples.map { sample in
                Fix.at(
                    Double(sample.index), sample.place.latitude, sample.place.longitude, speed: speeds ? 20 : nil,
                    course: speeds ? 0 : nil)
            }
            for index in fixes.indices where index % 2 == 1 {
                fixes[index] = fixes[index].displaced(by: 30_000, towards: 45)
            }
            let samples = TrackCleaner.clean(TrackColumns(fixes: fixes), Self.options).samples
            #expect(samples.count == 300 && Set(samples.map { $0.index % 2 }).count == 1)
            #expect(near(LengthMeter.length(of: samples).driven, 11_960, 25))
        }
    }

    @Test(arguments: [60.0, 83, 150, 250], [1.0, 5, 10, 30])
    func aFastTrackLosesNothing(_ speed: Double, _ spacing: Double) {
        for speeds in [true, false] {
            let start = Degrees(latitude: 48, longitude: 2)
            let fixes = (0..<Int(2400 / spacing)).map { number in
                let distance = Double(number) * spacing * speed
                let place = destination(from: start, bearing: 120, distance: distance)
                let ahead = destination(from: start, bearing: 120, distance: distance + 10)
                return Fix.at(
                    Double(number) * spacing, place.latitude, place.longitude, speed: speeds ? speed : nil,
                    course: speeds ? GreatCircle.bearing(from: place, to: ahead) : nil)
            }
            let (samples, drops) = TrackCleaner.clean(TrackColumns(fixes: fixes), Self.options)
            #expect(drops.counts.isEmpty, "speeds \(speeds)")
            #expect(LengthMeter.length(of: samples).breaks == 0)
            // A stray of such a track goes alone.
            var wrong = fixes
            wrong[fixes.count / 2] = wrong[fixes.count / 2].displaced(by: 20_000, towards: 210)
            let found = TrackCleaner.clean(TrackColumns(fixes: wrong), Self.options)
            #expect(found.drops.dropped.map(\.index) == [fixes.count / 2], "speeds \(speeds)")
            #expect(LengthMeter.length(of: found.samples).breaks == 0, "speeds \(speeds)")
        }
    }

    @Test func whatThePlacesRefuteIsNotBelievedForItsSpeeds() {
        // A speed of 60 m/s that no place confirms: the cap counts.
        let fixes = (0..<60).map { second -> Fix in
            let fix = Fix.at(Double(second) * 30, 47, 9 + Double(second) * 0.002, speed: second == 30 ? 60 : 5)
            return second == 30 ? fix.displaced(by: 9000, towards: 0) : fix
        }
        #expect(TrackCleaner.clean(TrackColumns(fixes: fixes), Self.options).drops.dropped.map(\.index) == [30])
    }

    // MARK: Recorded drives

    private enum Shape: CaseIterable {
        case aside
        case onePlace
        case scattered
        /// Some hundred metres off, where false fixes happen to fit each other and the drive.
        case near
    }

    /// The drive, cleaned, with a fix each `spacing` seconds.
    private func drive(_ track: RecordedTrack, _ spacing: Int64) throws -> [Fix] {
        var due = Int64.min
        return TrackCleaner.clean(try track.columns(), Self.options).samples.compactMap { sample in
            guard sample.time >= due else { return nil }
            due = sample.time + spacing * 1000 - 100
            return Fix(
                time: sample.timestamp,
                coordinate: MadeDrive.coordinate(sample.place),
                speed: sample.speed, course: sample.course)
        }
    }

    /// Puts runs of fixes elsewhere, 2 % of all. No run begins or ends in a silence of a minute.
    private func displace(
        _ fixes: [Fix], _ lengths: ClosedRange<Int>, _ shape: Shape, _ random: inout Dice
    ) -> (fixes: [Fix], strays: Set<Int>) {
        var (moved, strays) = (fixes, Set<Int>())
        func metres() -> Double { 200 * pow2(Double.random(in: 0...8, using: &random)) }
        func bearing() -> Double { Double.random(in: 0..<360, using: &random) }
        let gap = Double(lengths.lowerBound + lengths.upperBound) / 2 * 49
        var start = 160 + Int(Double.random(in: 0...gap, using: &random))
        while true {
            let count = Int.random(in: lengths, using: &random)
            guard start + count + 160 < fixes.count else { return (moved, strays) }
            let (distance, direction) = (metres(), bearing())
            let isSilent = (start..<start + count + 1).contains {
                fixes[$0].time.milliseconds(since: fixes[$0 - 1].time) > 60_000
            }
            if !isSilent {
                let place = fixes[start].displaced(by: distance, towards: direction)
                for index in start..<start + count {
                    switch shape {
                    case .aside: moved[index] = fixes[index].displaced(by: distance, towards: direction)
                    case .onePlace: moved[index].coordinate = place.coordinate
                    case .scattered: moved[index] = fixes[index].displaced(by: metres(), towards: bearing())
                    case .near:
                        let distance = Double.random(in: 200...400, using: &random)
                        moved[index] = fixes[index].displaced(by: distance, towards: bearing())
                    }
                    strays.insert(index)
                }
            }
            start += count + 20 + Int(Double.random(in: 0...2 * gap, using: &random))
        }
    }

    private func pow2(_ exponent: Double) -> Double {
        var (power, rest) = (1.0, exponent)
        while rest >= 1 { (power, rest) = (power * 2, rest - 1) }
        return power * (1 + rest)
    }

    /// Of all runs on all drives, because few long runs fit into a short drive: a sparse run 200 m aside may be a way that the
    /// vehicle can have made, and such a run of sixty fixes must not decide.
    @Test(arguments: [
        (RecordedTrack.liechtenstein, Int64(1), 4, 0.99), (.theHague, 1, 4, 0.99), (.liechtenstein, 5, 60, 0.95),
        (.theHague, 5, 60, 0.95), (.andorra, 5, 60, 0.85), (.beijing, 5, 4, 0.75),
    ])
    func runsAreFoundOnRecordedDrives(_ track: RecordedTrack, _ spacing: Int64, _ drives: Int, _ least: Double) throws {
        let fixes = try drive(track, spacing)
        let clean = LengthMeter.length(of: TrackColumns(fixes: fixes).samples).driven
        let ranges = [1...1, 2...5, 6...15, 16...60, 61...120].prefix(spacing == 1 ? 5 : 4)
        let seeds = Dice.seeds(drives)
        var (allFound, allMissed, allLost, measured, off) = (0, 0, 0, 0, 0)
        for lengths in ranges {
            var (found, missed, lost, worst) = (0, 0, 0, 0.0)
            for (seed, shape) in seeds.flatMap({ seed in Shape.allCases.map { (seed, $0) } }) {
                var random = Dice(seed: seed)
                let (moved, strays) = displace(fixes, lengths, shape, &random)
                let (samples, drops) = TrackCleaner.clean(TrackColumns(fixes: moved), Self.options)
                let dropped = Set(drops.dropped.map(\.index))
                found += dropped.intersection(strays).count
                missed += strays.subtracting(dropped).count
                lost += dropped.subtracting(strays).count
                // A straight line where the run was is shorter than the way.
                let kept = moved.indices.filter { !strays.contains($0) }.map { fixes[$0] }
                let rest = LengthMeter.length(of: TrackColumns(fixes: kept).samples).driven
                let error = (LengthMeter.length(of: samples).driven - rest).magnitude / clean
                (measured, off, worst) = (measured + 1, off + (error < 0.003 ? 0 : 1), max(worst, error))
            }
            print(
                "\(track), \(spacing) s, \(lengths): \(found) found, \(missed) missed, \(lost) lost, length off by \(worst)"
            )
            (allFound, allMissed, allLost) = (allFound + found, allMissed + missed, allLost + lost)
        }
        #expect(Double(allFound) / Double(max(allFound + allMissed, 1)) >= least, "seeds \(seeds)")
        if track != .beijing {
            #expect(Double(allFound) / Double(max(allFound + allLost, 1)) >= least, "seeds \(seeds)")
        }
        // Scattered fixes may happen to fit the drive, so the length of one in twenty may be off.
        if spacing == 1 { #expect(off * 20 <= measured, "\(off) of \(measured) lengths are off, seeds \(seeds)") }
    }
}
