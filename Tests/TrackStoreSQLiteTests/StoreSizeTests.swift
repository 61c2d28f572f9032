import Foundation
import ProgramTestKit
import SQLDatabase
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

@Suite struct StoreSizeTests {
    @Test(.needs(.recordings([Recordings.theHague])))
    func aRecordedDriveTakesAtMostTenBytesAPointOnceMerged() async throws {
        let bench = try Workbench()
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let drive = try RecordedTrack.theHague()
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
            while try await store.merge(limit: 1000) > 0 {}
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
