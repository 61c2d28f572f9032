import Foundation

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
