import JSON
import Synchronization
import Testing
import TrackModel

@testable import WebAPI

@Suite("Tracks are read once as long as nothing is stored for them") final class TrackReadCacheTests: Sendable {
    private static let start: Int64 = 1_772_670_000

    private static let maximumBytes = 10_000
    private let memory = TrackReadCache(maximumBytes: maximumBytes)
    private let made = Mutex(0)

    private func content(
        _ query: Int, at version: Int64 = 1, after milliseconds: Int64 = 0, bytes: Int? = 100
    ) async throws -> Int {
        try await memory.content(
            of: query, at: version, now: Bench.now.adding(milliseconds: milliseconds), weight: { _ in bytes }
        ) {
            self.made.withLock {
                $0 += 1
                return $0
            }
        }
    }

    @Test func anEntityThatHasTheSameVersionIsReadOnce() async throws {
        #expect(try await content(1) == 1)
        #expect(try await content(1) == 1)
        #expect(try await content(2) == 2)
        #expect(try await content(1, at: 2) == 3)
        // A reader that saw the earlier version gets no later track, and none gets its.
        #expect(try await content(1, at: 1) == 4)
        #expect(try await content(1, at: 2) == 5)
        #expect(try await content(1, at: 2, after: TrackReadCache.lifetime) == 5)
        #expect(try await content(1, at: 2, after: TrackReadCache.lifetime + 1) == 6)
        // A clock that goes back says nothing of the age.
        #expect(try await content(1, at: 2, after: -1) == 7)
    }

    @Test func whatMayChangeIsNotKept() async throws {
        #expect(try await content(1, bytes: nil) == 1)
        #expect(try await content(1, bytes: nil) == 2)
        #expect(try await content(1, bytes: Self.maximumBytes + 1) == 3)
        #expect(try await content(1) == 4)
    }

    @Test func anOperatorMayHaveNothingKept() async throws {
        let memory = TrackReadCache(maximumBytes: 0)
        for round in 1...3 {
            let made = try await memory.content(of: 1, at: 1, now: Bench.now, weight: { _ in 100 }) { round }
            #expect(made == round)
        }
    }

    @Test func theLongestUnusedGoesFirst() async throws {
        let half = Self.maximumBytes / 2
        #expect(try await content(1, bytes: half) == 1)
        #expect(try await content(2, bytes: half) == 2)
        #expect(try await content(1, bytes: half) == 1)
        #expect(try await content(3, bytes: half) == 3)
        #expect(try await content(1, bytes: half) == 1)
        #expect(try await content(2, bytes: half) == 4)
        for query in 10..<10 + TrackReadCache.maximumEntries { _ = try await content(query, bytes: 1) }
        let before = made.withLock { $0 }
        #expect(try await content(2, bytes: half) == before + 1)
    }

    @Test func whoAsksWhileATrackIsReadWaitsForThatReading() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let memory = memory
        let ask = { @Sendable () async throws -> Int in
            try await memory.content(of: 1, at: 1, now: Bench.now, weight: { _ in 100 }) {
                begin.yield()
                for await _ in gate { break }
                return 7
            }
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask(operation: ask)
            for await _ in begun { break }
            for _ in 0..<4 { group.addTask(operation: ask) }
            // The others come while the first one reads, or when it has read: no second reading begins.
            for _ in 0..<1000 { await Task.yield() }
            open.finish()
            for try await number in group { #expect(number == 7) }
        }
        begin.finish()
        for await _ in begun { Issue.record("a second reading") }
    }

    @Test func aFailureIsNotKept() async throws {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await memory.content(of: 1, at: 1, now: Bench.now, weight: { (_: Int) in 1 }) { throw Failure() }
        }
        #expect(try await content(1) == 1)
    }

    @Test func whatIsUploadedIsSeenAtOnce() async throws {
        let bench = try await Bench()
        func metres() async throws -> Double {
            let answer = try await bench.get(
                "track/getdistance",
                "entity_name=van&start_time=\(Self.start)&end_time=\(Self.start + 3600)")
            return answer["distance"]?.doubleValue ?? -1
        }
        try await bench.upload("van", try [0, 10].map { try point(Self.start + $0, Double($0) / 1e4, 0) })
        let first = try await metres()
        #expect(first > 100)
        #expect(try await metres() == first)
        try await bench.upload("van", try [20].map { try point(Self.start + $0, Double($0) / 1e4, 0) })
        #expect(try await metres() > 1.9 * first)
        try await bench.upload("van", try [10].map { try point(Self.start + $0, Double($0) / 2e4, 0) })
        let moved = try await metres()
        #expect(abs(moved - 2 * first) < 1)
    }
}
