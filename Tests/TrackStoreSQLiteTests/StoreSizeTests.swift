import Foundation
import GRDB
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// A drive recorded around The Hague, one point a second.
private enum RecordedDrive {
    static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "shared/data/tracks/gpsbabel-sbn-thehague.gpx")

    static func points() throws -> [TrackPoint] {
        let text = try String(contentsOf: file, encoding: .utf8)
        return text.components(separatedBy: "<trkpt ").dropFirst().compactMap(point)
    }

    private static func point(_ text: String) -> TrackPoint? {
        func value(_ start: String, _ end: String) -> String? {
            guard let from = text.range(of: start),
                let to = text.range(of: end, range: from.upperBound..<text.endIndex)
            else { return nil }
            return String(text[from.upperBound..<to.lowerBound])
        }
        func number(_ tag: String, by factor: Double) -> Int32? {
            value("<\(tag)>", "</\(tag)>").flatMap(Double.init).map { Int32(($0 * factor).rounded()) }
        }
        let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let latitude = value("lat=\"", "\"").flatMap(Double.init),
            let longitude = value("lon=\"", "\"").flatMap(Double.init),
            let place = Coordinate(latitude: latitude, longitude: longitude),
            let stamp = value("<time>", "</time>"),
            let date = (try? withFraction.parse(stamp)) ?? (try? Date.ISO8601FormatStyle().parse(stamp))
        else { return nil }
        return TrackPoint(
            Fix(
                time: Timestamp(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded())),
                coordinate: place, speed: number("speed", by: 100), course: number("course", by: 10).map { $0 % 3600 },
                altitude: number("ele", by: 10), accuracy: number("hdop", by: 19), mode: .threeDimensional,
                satellites: value("<sat>", "</sat>").flatMap { UInt8($0) }))
    }
}

@Suite struct StoreSizeTests {
    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: RecordedDrive.file.path()),
            "the recorded drive shared/data/tracks is not beside the repository"))
    func aRecordedDriveTakesAtMostTenBytesAPointOnceMerged() async throws {
        let bench = try Workbench()
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let drive = try RecordedDrive.points()
        try #require(drive.count > 3000)
        guard let first = drive.first, let last = drive.last else { return }
        let length = last.fix.time.milliseconds(since: first.fix.time) + 1000
        var stored = 0
        // The same drive again and again, live: six points a batch, received a varying moment later.
        for round in 0..<12 as Range<Int64> {
            let track = drive.map { point in
                var point = point
                point.fix.time = point.fix.time.adding(milliseconds: round * length)
                return point
            }
            let batches = stride(from: 0, to: track.count, by: 6).map { start in
                let points = Array(track[start..<min(start + 6, track.count)])
                let delay = Int64.random(in: 30...300)
                return upload(
                    points, to: service, received: points[points.count - 1].fix.time.adding(milliseconds: delay))
            }
            _ = await store.ingest(batches)
            stored += track.count
            while try await store.mergeChunks(limit: 1000) > 0 {}
        }
        #expect(try await store.counts().points == stored)
        try store.close()
        // Each table has a page of its own, points or none.
        let empty = try Workbench()
        try await empty.open().close()
        let size = try Self.bytes(bench) - Self.bytes(empty)
        print("store: \(Double(size) / Double(stored)) bytes a point for \(stored) points, free pages counted")
        #expect(size <= stored * 10)
    }

    private static func bytes(_ bench: Workbench) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: bench.path)[.size] as? Int)
    }
}
