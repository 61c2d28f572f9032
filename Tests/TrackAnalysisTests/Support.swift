import Foundation
import Geodesy
import ProgramTestKit
import TrackModel

@testable import TrackAnalysis

/// 200 km/h.
let usualCap = 200 / 3.6

extension TrackColumns {
    /// The points as they are, in their order.
    var samples: [TrackSample] { (0..<count).map { sample(at: $0, index: $0) } }
}

extension Array {
    /// One of the elements; the array has some.
    func one(_ random: inout Dice) -> Element { self[Int.random(in: 0..<count, using: &random)] }
}

/// The place `distance` metres on the ellipsoid from `start`, within a millionth; `bearing` is that of the sphere.
func destination(from start: Degrees, bearing: Double, distance: Double) -> Degrees {
    var angle = distance
    for _ in 0..<3 where distance > 0 {
        let length = SurfaceDistance.between(
            start, GreatCircle.destination(from: start, bearing: bearing, distance: angle))
        if length > 0 { angle *= distance / length }
    }
    return GreatCircle.destination(from: start, bearing: bearing, distance: angle)
}

/// A drive that a seed makes up: speeds, curves, stops, with places, speeds and courses that agree.
struct MadeDrive {
    var start = Degrees(latitude: 47.1, longitude: 9.5)
    /// Milliseconds between points.
    var spacing: Int64 = 1000
    var seconds: Int64 = 1800
    /// Metres on each axis that each fix is off, besides a slow drift of the same size.
    var noise = 1.0
    /// Whether the vehicle stops now and then, for up to two minutes.
    var stops = true
    /// Whether points tell speed and course.
    var speeds = true
    static let firstTime: Int64 = 1_767_600_000_000

    func fixes(using random: inout Dice) -> [Fix] {
        var (place, course, speed, target) = (start, Double.random(in: 0..<360, using: &random), 0.0, 12.0)
        var (turn, standing) = (0.0, 0.0)
        var (driftEast, driftNorth) = (0.0, 0.0)
        let step = Double(spacing) / 1000
        return (0...(seconds * 1000 / spacing)).map { number in
            if Double.random(in: 0..<1, using: &random) < step / 20 {
                target = Double.random(in: 3...28, using: &random)
                turn = Double.random(in: -8...8, using: &random)
                if stops, Double.random(in: 0..<1, using: &random) < 0.2 {
                    (target, standing) = (0, Double.random(in: 5...120, using: &random))
                }
            }
            if speed == 0, standing > 0 {
                standing -= step
                target = standing > 0 ? 0 : 10
            }
            let before = speed
            speed = speed < target ? min(target, speed + 1.2 * step) : max(target, speed - 1.2 * step)
            if speed > 2 { course += min(turn.magnitude, 100 / speed) * (turn < 0 ? -1 : 1) * step }
            course = (course + 360).truncatingRemainder(dividingBy: 360)
            if number > 0 {
                place = destination(from: place, bearing: course, distance: (before + speed) / 2 * step)
            }
            func wander(_ value: Double) -> Double {
                value * 0.9 + Double.random(in: -noise...noise, using: &random) * 0.4
            }
            (driftEast, driftNorth) = (wander(driftEast), wander(driftNorth))
            let shown = Self.moved(place, east: driftEast, north: driftNorth)
            return Fix(
                time: Timestamp(milliseconds: Self.firstTime + number * spacing), coordinate: Self.coordinate(shown),
                speed: speeds ? Int32((speed * 100).rounded()) : nil,
                course: speeds && speed > 0.5 ? Int32((course * 10).rounded()) % 3600 : nil)
        }
    }

    static func coordinate(_ place: Degrees) -> Coordinate {
        guard let coordinate = Coordinate(latitude: place.latitude, longitude: place.longitude) else {
            preconditionFailure("\(place) is no place")
        }
        return coordinate
    }

    static func moved(_ place: Degrees, east: Double, north: Double) -> Degrees {
        let distance = (east * east + north * north).squareRoot()
        guard distance > 0 else { return place }
        let there = EarthVector(place)
        let target = there + there.heading(0) * north + there.heading(90) * east
        return target.degrees
    }
}

extension TrackColumns {
    /// The columns of fixes in WGS 84.
    init(fixes: some Sequence<Fix>) {
        self.init(fixes.map { TrackPoint($0) })
    }
}

extension Fix {
    /// The fix somewhere else, with the same time, speed and course.
    func displaced(by metres: Double, towards bearing: Double) -> Fix {
        var fix = self
        let place = Degrees(latitude: coordinate.latitude, longitude: coordinate.longitude)
        fix.coordinate = MadeDrive.coordinate(destination(from: place, bearing: bearing, distance: metres))
        return fix
    }

    static func at(
        _ seconds: Double, _ latitude: Double, _ longitude: Double, speed: Double? = nil, course: Double? = nil,
        radius: Double? = nil
    ) -> Fix {
        Fix(
            time: Timestamp(milliseconds: MadeDrive.firstTime + Int64((seconds * 1000).rounded())),
            coordinate: MadeDrive.coordinate(Degrees(latitude: latitude, longitude: longitude)),
            speed: speed.map { Int32(($0 * 100).rounded()) }, course: course.map { Int32(($0 * 10).rounded()) % 3600 },
            accuracy: radius.map { Int32(($0 * 10).rounded()) })
    }
}

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
