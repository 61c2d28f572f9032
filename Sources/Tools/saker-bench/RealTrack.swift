import ArgumentParser
import Foundation
import TrackModel

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
