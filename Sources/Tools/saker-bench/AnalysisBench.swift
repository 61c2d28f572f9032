import ArgumentParser
import Foundation
import TrackAnalysis
import TrackModel

/// Measures the analysis of one long track, step by step, in CPU time.
struct AnalysisBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "analysis", abstract: "Cleaning, stays, trips, behaviour and length of a recorded drive.")

    @Argument(help: "A GPX file with times.") var track: String
    @Option(help: "How many points; the drive is repeated until there are so many.") var points = 20_000
    @Option(help: "A CSV file for the same points, for another program.") var export: String?

    private static let rounds = 15
    /// m/s, for vehicles.
    private static let speedCap = 70.0
    /// Milliseconds between the end of the drive and its repetition.
    private static let pause: Int64 = 3_600_000

    func run() throws {
        let drive = try RealTrack.gpx(track)
        guard let first = drive.first?.fix.time, let last = drive.last?.fix.time, drive.count > 100 else {
            throw ValidationError("\(track) holds only \(drive.count) points with a time")
        }
        let length = last.milliseconds(since: first) + Self.pause
        let made = (0..<points).map { index in
            var point = drive[index % drive.count]
            point.fix.time = point.fix.time.adding(milliseconds: Int64(index / drive.count) * length)
            return point
        }
        if let export { try write(made, to: export) }
        let columns = TrackColumns(made)
        let options = CleaningOptions(denoiseGrade: 1, speedCap: Self.speedCap)
        let raw = TrackCleaner.clean(columns, CleaningOptions()).samples
        let (cleaned, drops) = TrackCleaner.clean(columns, options)
        figure("analysis.points", Double(columns.count), "points, \(drops.dropped.count) of them dropped by cleaning")
        let cleaning = measure("cleaning", "ms, denoising and collapse of stops") {
            TrackCleaner.clean(columns, options).samples.count
        }
        let stays = measure("stays", "ms, stays of 10 min within 20 m") {
            StayFinder.stays(.stay(radius: 20, seconds: 600), in: cleaned).count
        }
        let behaviour = measure("behaviour", "ms, driving behaviour") {
            DrivingAnalyzer.behaviour(DrivingOptions(speeding: 80), in: raw).accelerations.count
        }
        figure("analysis.all", cleaning + stays + behaviour, "ms, these three together")
        _ = measure("length", "ms, length") { Int(LengthMeter.length(of: cleaned).driven) }
        _ = measure("thinning", "ms, thinning to 10 m") {
            var drops = DropReasons()
            return TimeRatioThinning.apply(TimeRatioThinning(metres: 10), to: cleaned, &drops).count
        }
        _ = measure("trips", "ms, trips") { TripFinder.trips(in: cleaned).count }
    }

    /// The median of some rounds.
    private func measure(_ name: String, _ unit: String, _ work: () -> Int) -> Double {
        var results: Set<Int> = []
        let times = (0..<Self.rounds).map { _ in
            let start = FenceSpeed.processorSeconds
            results.insert(work())
            return (FenceSpeed.processorSeconds - start) * 1000
        }.sorted()
        // Using the results keeps the optimizer from leaving the work out.
        precondition(results.count == 1)
        figure("analysis.\(name)", times[Self.rounds / 2], unit)
        return times[Self.rounds / 2]
    }

    private func write(_ points: [TrackPoint], to path: String) throws {
        var text = "time,latitude,longitude\n"
        for point in points {
            let (time, place) = (point.fix.time.milliseconds, point.fix.coordinate)
            text += "\(time),\(place.latitude),\(place.longitude)\n"
        }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
}

/// A recorded drive as points with every field: from a GPX file, or made up if there is none.
enum RealTrack {
    /// Reads `trkpt` elements with `ele` and `time`. Computes speed and course from the neighbours.
    static func gpx(_ path: String) throws -> [TrackPoint] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ValidationError("\(path) cannot be read")
        }
        let times = ISO8601DateFormatter()
        var fixes: [Fix] = []
        for part in text.components(separatedBy: "<trkpt").dropFirst() {
            guard let latitude = number(part, "lat=\"", "\""), let longitude = number(part, "lon=\"", "\""),
                let coordinate = Coordinate(latitude: latitude, longitude: longitude),
                let stamp = between(part, "<time>", "</time>"), let time = times.date(from: stamp)
            else { continue }
            var fix = Fix(
                time: Timestamp(seconds: Int64(time.timeIntervalSince1970)), coordinate: coordinate,
                mode: .threeDimensional, status: .plain, satellites: 9)
            fix.altitude = number(part, "<ele>", "</ele>").map { Int32(($0 * 10).rounded()) }
            fix.accuracy = 30 + Int32(fixes.count / 40 % 12)
            fix.speed = number(part, "<speed>", "</speed>").map { Int32(($0 * 100).rounded()) }
            fix.course = number(part, "<course>", "</course>").map { Int32(($0 * 10).rounded()) % 3600 }
            if let last = fixes.last, fix.time <= last.time { continue }
            fixes.append(fix)
        }
        return fixes.map { TrackPoint($0) }
    }

    /// A made-up drive, for figures that do not depend on where it goes.
    static func madeUp(count: Int) -> [TrackPoint] {
        var latitude: Int32 = 520_000_000
        var longitude: Int32 = 43_000_000
        var state: UInt32 = 7
        return (0..<count).compactMap { index in
            state = state &* 1_664_525 &+ 1_013_904_223
            let noise = Int32(state >> 24) - 128
            latitude += 900 + noise
            longitude += 1300 - noise
            guard
                let coordinate = Coordinate(latitudeE7: latitude % 800_000_000, longitudeE7: longitude % 1_700_000_000)
            else { return nil }
            return TrackPoint(
                Fix(
                    time: Timestamp(seconds: 1_700_000_000 + Int64(index)), coordinate: coordinate,
                    speed: 1400 + noise, course: 550 + noise / 4, altitude: 120 + noise / 16, accuracy: 35,
                    mode: .threeDimensional, status: .plain, satellites: 9))
        }
    }

    private static func between(_ text: String, _ start: String, _ end: String) -> String? {
        guard let from = text.range(of: start), let to = text.range(of: end, range: from.upperBound..<text.endIndex)
        else { return nil }
        return String(text[from.upperBound..<to.lowerBound])
    }

    private static func number(_ text: String, _ start: String, _ end: String) -> Double? {
        between(text, start, end).flatMap(Double.init)
    }
}
