import JSON
import Logging
import StoreRecords
import Systemd
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

/// A store that cannot read the points of a stretch.
private struct RottenStore: StoreDecorator {
    let inner: any EngineStore
    let rotten: ClosedRange<Timestamp>

    func track(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> StoredTrack {
        var track = try await inner.track(of: entity, in: service, from: from, through: through, limit: limit)
        let lost = track.points.filter { rotten.contains($0.point.fix.time) }
        guard let first = lost.first, let last = lost.last else { return track }
        track.points = StoredPoints(track.points.filter { !rotten.contains($0.point.fix.time) })
        track.holes = [
            TrackHole(
                from: first.point.fix.time, through: last.point.fix.time, count: lost.count,
                reason: "chunk 7 cannot be read")
        ]
        return track
    }
}

@Suite("Tracks with unreadable points")
struct HoleTests {
    private let start = Bench.now.seconds - 100

    private func bench(log: any LogHandler = SwiftLogNoOpLogHandler()) async throws -> Bench {
        let rotten = Timestamp(seconds: start + 3)...Timestamp(seconds: start + 5)
        let bench = try await Bench(store: RottenStore(inner: TestStore(), rotten: rotten), log: log)
        try await bench.upload("van", (0..<10).map { try point(start + $0, 52 + Double($0) / 1000, 4, accuracy: 50) })
        return bench
    }

    private func query(_ from: Int64, _ through: Int64) -> String {
        "entity_name=van&start_time=\(start + from)&end_time=\(start + through)"
    }

    @Test func theRestIsAnsweredAndTheHoleIsTold() async throws {
        let bench = try await bench()
        let answer = try await bench.get("track/gettrack", query(0, 60))
        #expect(answer.status == 0)
        #expect(answer["total"]?.integerValue == 7)
        let holes = try #require(answer["unreadable"]?.arrayValue)
        #expect(holes.map { $0["start_time"]?.integerValue } == [start + 3])
        #expect(holes.map { $0["end_time"]?.integerValue } == [start + 5])
        #expect(holes.map { $0["points"]?.integerValue } == [3])
        #expect(try await bench.get("track/getdistance", query(0, 60))["unreadable"]?.arrayValue?.count == 1)
        #expect(bench.router.counters.readingsWithHoles == 2)
        // The pages after the first tell it too.
        _ = try await bench.get("track/gettrack", query(0, 60) + "&page_size=4")
        let second = try await bench.get("track/gettrack", query(0, 60) + "&page_size=4&page_index=2")
        #expect(second["size"]?.integerValue == 3)
        #expect(second["unreadable"]?.arrayValue?.count == 1)
    }

    @Test func aHoleIsAnEventOfTheJournal() async throws {
        let log = EventRecorder()
        let bench = try await bench(log: log)
        _ = try await bench.get("track/gettrack", query(6, 60))
        #expect(log.fields == [])
        _ = try await bench.get("track/gettrack", query(0, 60))
        #expect(
            log.fields == [
                [
                    "message_id": MessageID.pointsUnreadable.description, "reason": "chunk 7 cannot be read",
                    "chunks": "1", "call": "track/gettrack", "service": "\(bench.service.rawValue)",
                ]
            ])
    }

    @Test func aRangeBesideTheHoleSaysNothingOfIt() async throws {
        let bench = try await bench()
        let answer = try await bench.get("track/gettrack", query(6, 60))
        #expect(answer["total"]?.integerValue == 4)
        #expect(answer["unreadable"] == nil)
        #expect(bench.router.counters.readingsWithHoles == 0)
    }

    @Test func theLatestAccuratePointIsFoundBesideTheHole() async throws {
        let bench = try await bench()
        try await bench.upload("van", [try point(start + 20, 53, 4, accuracy: 900)])
        let option = "&process_option=radius_threshold%3D20"
        let answer = try await bench.get("track/getlatestpoint", "entity_name=van" + option)
        #expect(answer["latest_point"]?["loc_time"]?.integerValue == start + 9)
    }
}
