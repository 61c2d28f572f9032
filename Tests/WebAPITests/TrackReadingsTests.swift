import Logging
import Synchronization
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

@Suite("The pages of one track come from one reading") struct TrackReadingsTests {
    private static let start: Int64 = 1_772_670_000

    private final class Clock: Sendable {
        private let time = Mutex(Bench.now)
        var now: Timestamp { time.withLock { $0 } }
        func pass(milliseconds: Int64) { time.withLock { $0 = $0.adding(milliseconds: milliseconds) } }
    }

    private func query(_ number: Int) throws -> TrackQuery {
        let service = try #require(ServiceID(rawValue: 1))
        return TrackQuery(
            service: service, entity: "van", from: Timestamp(seconds: Int64(number)), through: Timestamp(seconds: 9000),
            option: nil, supplement: .none, slowBelow: nil)
    }

    private func reading(_ count: Int) throws -> TrackReading {
        let stored = StoredPoint(try point(Self.start, 0, 0), received: Bench.now)
        return TrackReading(
            points: Array(repeating: stored, count: count), distance: TrackDistance([TrackPoint](), supplement: .none))
    }

    @Test func whatIsUploadedBetweenTwoPagesIsOnTheNextFirstPage() async throws {
        let bench = try await Bench()
        let clock = Clock()
        let router = APIRouter(
            store: bench.store, ingest: bench.ingest, options: WebAPIOptions(),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), now: { clock.now })
        func page(_ index: Int) async throws -> (total: Int64, times: [Int64]) {
            let target =
                "/api/v3/track/gettrack?ak=\(Bench.key)&service_id=\(bench.service.rawValue)&entity_name=van"
                + "&start_time=\(Self.start)&end_time=\(Self.start + 3600)&page_size=2&page_index=\(index)"
            let answer = try JSONReader.read(await router.respond(to: APIRequest(method: "GET", target: target)).body)
            let times = answer["points"]?.items.compactMap { $0["loc_time"]?.number.map(Int64.init) } ?? []
            return (answer["total"]?.number.map(Int64.init) ?? -1, times.map { $0 - Self.start })
        }
        try await bench.upload("van", try [10, 20, 30].map { try point(Self.start + $0, 0, 0) })
        #expect(try await page(1) == (3, [10, 20]))
        try await bench.upload("van", [try point(Self.start + 5, 0, 0)])
        // With a reading of its own the second page would begin with 20 once more.
        #expect(try await page(2) == (3, [30]))
        #expect(try await page(1) == (4, [5, 10]))
        try await bench.upload("van", [try point(Self.start + 40, 0, 0)])
        #expect(try await page(2) == (4, [20, 30]))
        clock.pass(milliseconds: TrackReadings.lifetime + 1)
        #expect(try await page(2) == (5, [20, 30]))
        #expect(try await page(3) == (5, [40]))
    }

    @Test func aReadingIsKeptForItsTimeOnly() throws {
        let readings = TrackReadings()
        readings.keep(try reading(3), try query(1), now: Bench.now)
        #expect(readings.reading(try query(1), now: Bench.now.adding(milliseconds: 15_000))?.points.count == 3)
        #expect(readings.reading(try query(2), now: Bench.now) == nil)
        #expect(readings.reading(try query(1), now: Bench.now.adding(milliseconds: 15_001)) == nil)
        // A clock that was set back says nothing about how old it is.
        readings.keep(try reading(3), try query(1), now: Bench.now)
        #expect(readings.reading(try query(1), now: Bench.now.adding(milliseconds: -1)) == nil)
    }

    @Test func theOldestMakeRoom() throws {
        let readings = TrackReadings()
        for number in 0..<(TrackReadings.maximumReadings + 3) {
            readings.keep(try reading(1), try query(number), now: Bench.now)
        }
        #expect(readings.reading(try query(2), now: Bench.now) == nil)
        #expect(readings.reading(try query(3), now: Bench.now) != nil)
        readings.keep(try reading(TrackReadings.maximumPoints), try query(-1), now: Bench.now)
        #expect(readings.reading(try query(3), now: Bench.now) == nil)
        #expect(readings.reading(try query(-1), now: Bench.now) != nil)
        readings.keep(try reading(TrackReadings.maximumPoints + 1), try query(-2), now: Bench.now)
        #expect(readings.reading(try query(-2), now: Bench.now) == nil)
        #expect(readings.reading(try query(-1), now: Bench.now) != nil)
    }
}
