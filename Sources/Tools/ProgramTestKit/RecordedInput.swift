import Foundation

/// The data of a receiver, cut into pieces of about one second.
package struct RecordedInput: Sendable {
    package let name: String
    package let pieces: [[UInt8]]

    /// Recordings of other people, beside the repository; nil when they are absent.
    package static let folder: String? = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let data = folder.deletingLastPathComponent().appendingPathComponent("shared/data").path
            if FileManager.default.fileExists(atPath: folder.path + "/Package.swift"),
                FileManager.default.fileExists(atPath: data)
            {
                return data
            }
        }
        return nil
    }()

    /// All inputs: recorded receivers byte for byte, and recorded tracks as NMEA of a receiver. Without recordings, a
    /// made-up drive.
    ///
    /// Two recordings are left out because they go back in time, so that the receiver itself causes points with the
    /// same time: bt451.log, and sirf2.log, whose dates gpsd sometimes moves by 1,024 weeks.
    package static func all() -> [RecordedInput] {
        guard let folder else { return [made()] }
        let logs = ["haicom-305N.log", "ublox-glo.log"].compactMap {
            receiver("\(folder)/receivers/\($0)")
        }
        let tracks = [
            gpx("\(folder)/tracks/gpsbabel-sbn-thehague.gpx"),
            geolife("\(folder)/tracks/geolife-007-beijing-20081028.plt"),
        ].compactMap(\.self)
        let found = logs + tracks
        return found.isEmpty ? [made()] : found
    }

    package static func made() -> RecordedInput {
        RecordedInput(
            name: "a made-up drive",
            pieces: ReceiverSource.drive(seconds: 7200, from: 1_780_000_020).map { Array($0.utf8) })
    }

    /// The bytes of a receiver: groups of sentences, or equal parts of a binary stream.
    private static func receiver(_ path: String) -> RecordedInput? {
        guard let bytes = FileManager.default.contents(atPath: path).map(Array.init) else { return nil }
        // The recording begins with comments of the people who keep the collection.
        let begin = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).prefix { $0.first == 0x23 }
            .reduce(0) { $0 + $1.count + 1 }
        let body = bytes[min(begin, bytes.count)...]
        let length = 400
        let pieces = stride(from: body.startIndex, to: body.endIndex, by: length).map {
            Array(body[$0..<min($0 + length, body.endIndex)])
        }
        return RecordedInput(name: (path as NSString).lastPathComponent, pieces: pieces)
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
