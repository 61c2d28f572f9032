import Foundation
import ProgramTestKit
import TrackModel

@testable import TrackAnalysis

/// Drives beside the repository: two real ones and two made ones with their truth.
enum RecordedTrack: String, CaseIterable {
    case theHague = "tracks/gpsbabel-sbn-thehague.gpx"
    case beijing = "tracks/geolife-007-beijing-20081028.plt"
    case liechtenstein = "roads/li-loop.gpx"
    case andorra = "roads/ad-tunnel.gpx"

    /// Ends the running case where the file is absent.
    func columns() throws -> TrackColumns {
        try Need.recordings([rawValue]).demand()
        let text = try String(contentsOfFile: Recordings.path(rawValue), encoding: .utf8)
        var columns = TrackColumns()
        for fix in self == .beijing ? Self.plt(text) : Self.gpx(text) {
            columns.append(fix, at: fix.coordinate, isParked: false)
        }
        return columns
    }

    private static func gpx(_ text: String) -> [Fix] {
        let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let without = Date.ISO8601FormatStyle()
        return text.components(separatedBy: "<trkpt ").dropFirst().compactMap { text in
            func between(_ start: String, _ end: String) -> String? {
                guard let from = text.range(of: start) else { return nil }
                guard let to = text.range(of: end, range: from.upperBound..<text.endIndex) else { return nil }
                return String(text[from.upperBound..<to.lowerBound])
            }
            guard let latitude = between("lat=\"", "\"").flatMap(Double.init),
                let longitude = between("lon=\"", "\"").flatMap(Double.init),
                let coordinate = Coordinate(latitude: latitude, longitude: longitude),
                let stamp = between("<time>", "</time>"),
                let date = (try? without.parse(stamp)) ?? (try? withFraction.parse(stamp))
            else { return nil }
            func scaled(_ tag: String, by factor: Double) -> Int32? {
                between("<\(tag)>", "</\(tag)>").flatMap(Double.init).map { Int32(($0 * factor).rounded()) }
            }
            return Fix(
                time: Timestamp(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded())),
                coordinate: coordinate, speed: scaled("speed", by: 100),
                course: scaled("course", by: 10).map { $0 % 3600 })
        }
    }

    /// Latitude, longitude, 0, feet, days since 1899-12-30, date, time.
    private static func plt(_ text: String) -> [Fix] {
        text.split(whereSeparator: \.isNewline).dropFirst(6).compactMap { line in
            let fields = line.split(separator: ",")
            guard fields.count == 7, let latitude = Double(fields[0]), let longitude = Double(fields[1]),
                let coordinate = Coordinate(latitude: latitude, longitude: longitude), let days = Double(fields[4])
            else { return nil }
            let seconds = ((days - 25569) * 86400).rounded()
            return Fix(time: Timestamp(seconds: Int64(seconds)), coordinate: coordinate)
        }
    }
}
