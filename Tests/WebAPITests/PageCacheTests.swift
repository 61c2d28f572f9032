import JSON
import Logging
import Synchronization
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

@Suite("The pages of one answer come from one reading") struct PageCacheTests {
    private static let start: Int64 = 1_772_670_000

    private final class Clock: Sendable {
        private let time = Mutex(Bench.now)
        var now: Timestamp { time.withLock { $0 } }
        func pass(milliseconds: Int64) { time.withLock { $0 = $0.adding(milliseconds: milliseconds) } }
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
            let answer = try JSONReader.value(
                of: await router.respond(to: APIRequest(method: "GET", target: target)).body)
            let times = answer["points"]?.items.compactMap { $0["loc_time"]?.doubleValue.map(Int64.init) } ?? []
            return (answer["total"]?.doubleValue.map(Int64.init) ?? -1, times.map { $0 - Self.start })
        }
        try await bench.upload("van", try [10, 20, 30].map { try point(Self.start + $0, 0, 0) })
        #expect(try await page(1) == (3, [10, 20]))
        try await bench.upload("van", [try point(Self.start + 5, 0, 0)])
        // With a reading of its own the second page would begin with 20 once more.
        #expect(try await page(2) == (3, [30]))
        #expect(try await page(1) == (4, [5, 10]))
        try await bench.upload("van", [try point(Self.start + 40, 0, 0)])
        #expect(try await page(2) == (4, [20, 30]))
        clock.pass(milliseconds: PageCache.lifetime + 1)
        #expect(try await page(2) == (5, [20, 30]))
        #expect(try await page(3) == (5, [40]))
    }

    @Test func namesThatLookAlikeHaveTheirOwnPages() async throws {
        let bench = try await Bench()
        // The same letter as one character, and as two.
        let (one, two) = ("%C3%A9", "e%CC%81")
        try await bench.upload("\u{E9}", try [10, 20, 30].map { try point(Self.start + $0, 0, 0) })
        try await bench.upload("e\u{301}", try [11, 21].map { try point(Self.start + $0, 0, 0) })
        func times(_ name: String, page: Int) async throws -> [Int64?] {
            let answer = try await bench.get(
                "track/gettrack",
                "entity_name=\(name)&start_time=\(Self.start)&end_time=\(Self.start + 3600)&page_size=1&page_index=\(page)"
            )
            return answer["points"]?.items.map { $0["loc_time"]?.integerValue.map { $0 - Self.start } } ?? []
        }
        #expect(try await times(one, page: 1) == [10])
        #expect(try await times(two, page: 2) == [21])
        #expect(try await times(one, page: 2) == [20])
    }

    @Test func anAnswerIsKeptForItsTimeOnly() {
        let cache = PageCache()
        func content(_ query: Int, after milliseconds: Int64 = 0) -> String? {
            cache.content(of: query, now: Bench.now.adding(milliseconds: milliseconds))
        }
        cache.keep("kept", items: 3, of: 1, now: Bench.now)
        #expect(content(1, after: 15_000) == "kept")
        #expect(content(2) == nil)
        #expect(content(1, after: 15_001) == nil)
        // A clock that was set back says nothing about how old it is.
        cache.keep("kept", items: 3, of: 1, now: Bench.now)
        #expect(content(1, after: -1) == nil)
    }

    @Test func queriesOfDifferentCallsDiffer() {
        struct First: Hashable { let number = 1 }
        struct Second: Hashable { let number = 1 }
        let cache = PageCache()
        cache.keep("first", items: 1, of: First(), now: Bench.now)
        #expect(cache.content(of: Second(), as: String.self, now: Bench.now) == nil)
        cache.keep("second", items: 1, of: Second(), now: Bench.now)
        #expect(cache.content(of: First(), now: Bench.now) == "first")
        #expect(cache.content(of: Second(), now: Bench.now) == "second")
        // What another type of answer was cut from is no answer to this.
        #expect(cache.content(of: First(), as: Int.self, now: Bench.now) == nil)
    }

    @Test func theOldestMakeRoom() {
        let cache = PageCache()
        func has(_ query: Int) -> Bool { cache.content(of: query, as: Int.self, now: Bench.now) != nil }
        for query in 0..<(PageCache.maximumEntries + 3) { cache.keep(query, items: 1, of: query, now: Bench.now) }
        #expect(!has(2))
        #expect(has(3))
        cache.keep(0, items: PageCache.maximumItems, of: -1, now: Bench.now)
        #expect(!has(3))
        #expect(has(-1))
        cache.keep(0, items: PageCache.maximumItems + 1, of: -2, now: Bench.now)
        #expect(!has(-2))
        #expect(has(-1))
    }
}
