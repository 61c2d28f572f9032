import Foundation
package import TrackModel

/// Receivers and tracks that other people recorded. They are in the folder `shared/data` beside the repository, and no
/// part of it.
package enum Recordings {
    package static let folder =
        URL(fileURLWithPath: repository).deletingLastPathComponent().appendingPathComponent("shared/data").path

    /// The folder of this repository.
    package static let repository: String = {
        var folder = URL(fileURLWithPath: #filePath)
        repeat {
            folder.deleteLastPathComponent()
        } while folder.path != "/" && !FileManager.default.fileExists(atPath: folder.path + "/Package.swift")
        return folder.path
    }()

    /// Every recorded receiver, as named in ``path(_:)``.
    package static let receivers = ["bt451.log", "haicom-305N.log", "ublox-glo.log", "sirf2.log", "beidou-bd.log"]

    /// A drive around The Hague, one point a second.
    package static let theHague = "tracks/gpsbabel-sbn-thehague.gpx"
    /// A trip in Beijing.
    package static let beijing = "tracks/geolife-007-beijing-20081028.plt"

    /// `name`: below the folder, such as `receivers/sirf2.log`.
    package static func path(_ name: String) -> String { folder + "/" + name }

    /// The bytes of one of the ``receivers``, without the comments of the people who keep the collection.
    package static func receiver(_ name: String) throws -> [UInt8] {
        let path = path("receivers/" + name)
        let bytes = try require(FileManager.default.contents(atPath: path).map(Array.init), "there is no \(path)")
        let begin = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).prefix { $0.first == 0x23 }
            .reduce(0) { $0 + $1.count + 1 }
        return Array(bytes.dropFirst(begin))
    }
}

/// The data of a receiver, cut into pieces of about one second.
package struct RecordedInput: Sendable {
    package let name: String
    package let pieces: [[UInt8]]

    /// All inputs: recorded receivers byte for byte, and recorded tracks as NMEA of a receiver. Without recordings, a
    /// made-up drive.
    ///
    /// Two recordings are left out because they go back in time, so that the receiver itself causes points with the
    /// same time: bt451.log, and sirf2.log, whose dates gpsd sometimes moves by 1,024 weeks.
    package static func all() -> [RecordedInput] {
        let logs = ["haicom-305N.log", "ublox-glo.log"].compactMap(receiver)
        let tracks = [gpx(Recordings.path(Recordings.theHague)), geolife(Recordings.path(Recordings.beijing))]
            .compactMap(\.self)
        let found = logs + tracks
        return found.isEmpty ? [made()] : found
    }

    package static func made() -> RecordedInput {
        RecordedInput(
            name: "a made-up drive",
            pieces: ReceiverSource.drive(seconds: 7200, from: 1_780_000_020).map { Array($0.utf8) })
    }

    /// The bytes of a receiver: groups of sentences, or equal parts of a binary stream.
    private static func receiver(_ name: String) -> RecordedInput? {
        guard let body = try? Recordings.receiver(name) else { return nil }
        let length = 400
        let pieces = stride(from: 0, to: body.count, by: length).map { Array(body[$0..<min($0 + length, body.count)]) }
        return RecordedInput(name: name, pieces: pieces)
    }

    private static func gpx(_ path: String) -> RecordedInput? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let dates = ISO8601DateFormatter()
        dates.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let fixes = text.components(separatedBy: "<trkpt").dropFirst().compactMap { part -> (Int, Double, Double)? in
            guard let latitude = part.between("lat=\"", "\"").flatMap(Double.init),
                let longitude = part.between("lon=\"", "\"").flatMap(Double.init),
                let date = part.between("<time>", "</time>").flatMap(dates.date(from:))
            else { return nil }
            return (Int(date.timeIntervalSince1970), latitude, longitude)
        }
        return told((path as NSString).lastPathComponent, fixes)
    }

    private static func geolife(_ path: String) -> RecordedInput? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let dates = ISO8601DateFormatter()
        let fixes = text.split(whereSeparator: \.isNewline).compactMap { line -> (Int, Double, Double)? in
            let fields = line.split(separator: ",").map(String.init)
            guard fields.count == 7, let latitude = Double(fields[0]), let longitude = Double(fields[1]),
                let date = dates.date(from: "\(fields[5])T\(fields[6])Z")
            else { return nil }
            return (Int(date.timeIntervalSince1970), latitude, longitude)
        }
        return told((path as NSString).lastPathComponent, fixes)
    }

    /// Moves the times to this year by whole weeks. Otherwise gpsd may take the old dates for a week rollover and add
    /// 1,024 weeks, at some starts and not at others.
    private static func told(_ name: String, _ fixes: [(time: Int, Double, Double)]) -> RecordedInput? {
        guard let origin = fixes.first?.time else { return nil }
        let week = 604_800
        let shift = max((1_780_000_000 - origin) / week, 0) * week
        var last = Int.min
        let pieces = fixes.compactMap { fix -> [UInt8]? in
            guard fix.time > last else { return nil }
            last = fix.time
            return Array(ReceiverSource.epoch(time: fix.time + shift, latitude: fix.1, longitude: fix.2).utf8)
        }
        return pieces.isEmpty ? nil : RecordedInput(name: name, pieces: pieces)
    }
}

extension String {
    fileprivate func between(_ start: String, _ end: String) -> String? {
        guard let from = range(of: start), let to = range(of: end, range: from.upperBound..<endIndex) else {
            return nil
        }
        return String(self[from.upperBound..<to.lowerBound])
    }
}

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
