import Foundation
package import TrackModel

/// A recorded drive as track points.
package enum RecordedTrack {
    /// ``Recordings/theHague``: one point a second, with altitude, course, speed, satellites and precision.
    package static func theHague() throws -> [TrackPoint] { try points(of: Recordings.theHague) }

    /// A GPX file of ``Recordings``.
    package static func points(of name: String) throws -> [TrackPoint] {
        try String(contentsOfFile: Recordings.path(name), encoding: .utf8)
            .components(separatedBy: "<trkpt ").dropFirst().compactMap(point)
    }

    private static func point(_ text: String) -> TrackPoint? {
        func between(_ start: String, _ end: String) -> String? {
            guard let from = text.range(of: start) else { return nil }
            guard let to = text.range(of: end, range: from.upperBound..<text.endIndex) else { return nil }
            return String(text[from.upperBound..<to.lowerBound])
        }
        let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let latitude = between("lat=\"", "\"").flatMap(Double.init),
            let longitude = between("lon=\"", "\"").flatMap(Double.init),
            let coordinate = Coordinate(latitude: latitude, longitude: longitude),
            let stamp = between("<time>", "</time>"),
            let date = (try? withFraction.parse(stamp)) ?? (try? Date.ISO8601FormatStyle().parse(stamp))
        else { return nil }
        func tenths(_ tag: String, by factor: Double) -> Int32? {
            between("<\(tag)>", "</\(tag)>").flatMap(Double.init).map { Int32(($0 * factor).rounded()) }
        }
        return TrackPoint(
            Fix(
                time: Timestamp(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded())),
                coordinate: coordinate, speed: tenths("speed", by: 100),
                course: tenths("course", by: 10).map { $0 % 3600 },
                altitude: tenths("ele", by: 10),
                // The receiver gave its dilution of precision; a satellite receiver's range error is about 1.9 m.
                accuracy: tenths("hdop", by: 19), mode: .threeDimensional, status: .plain,
                satellites: between("<sat>", "</sat>").flatMap { UInt8($0) }))
    }
}
