import Testing
import TrackModel
import TrackTestKit

@testable import TrackCache

/// What the cache says of records that are gone before the server had them.
@Suite struct LossTests {
    private func loss(_ cache: TrackCache, after: UInt64 = 0) throws -> CacheLoss? {
        let next = try #require(cache.read(after: after, maximumCount: 1, maximumBytes: .max, now: 0))
        return cache.loss(after: after, before: next.firstSequence)
    }

    @Test func nothingIsMissingBetweenRecordsThatFollowEachOther() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<10)
        #expect(try loss(cache) == nil && loss(cache, after: cache.firstSequence) == nil)
        cache.readAndAcknowledge(through: cache.nextSequence - 1)
        cache.close(now: 0)
        // The numbers of the range before were never used.
        cache = try ring.reopen(cache)
        cache.fill(10..<12)
        #expect(try loss(cache) == nil)
    }

    @Test func whatTheBoundTookIsDropped() throws {
        let ring = Ring(limit: 3 * TrackCacheOptions.smallestSegment)
        var cache = try ring.open()
        cache.fill(0..<600, size: 1000)
        #expect(cache.counters.droppedByBound > 0)
        #expect(try loss(cache) == .dropped)
        #expect(try loss(cache, after: cache.firstSequence) == nil)
        // Also when another process reads it.
        cache = try ring.reopen(cache, crashSeed: 7)
        #expect(try loss(cache) == .dropped)
    }

    @Test func whatAPersonTookIsCleared() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<100)
        _ = try cache.clear(entities: nil, from: 10, through: 19, now: 0)
        #expect(try loss(cache) == nil)
        let before = cache.firstSequence + 9
        #expect(try loss(cache, after: before) == .cleared)
        #expect(try loss(cache, after: before + 11) == nil)
        cache = try ring.reopen(cache, crashSeed: 7)
        #expect(try loss(cache, after: before) == .cleared)
        _ = try cache.clear(entities: nil, from: nil, through: nil, now: 0)
        cache.fill(100..<110)
        #expect(try loss(cache, after: 5) == nil)
    }

    @Test func afterAClearOfEverythingTheNextRecordIsTold() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<100)
        _ = try cache.clear(entities: nil, from: nil, through: nil, now: 0)
        cache.fill(100..<110)
        #expect(try loss(cache) == .cleared)
    }

    @Test func whatTheDiskLostIsDamaged() throws {
        let ring = Ring(memoryLimit: 4000)
        let cache = try ring.open()
        cache.fill(0..<3)
        ring.disk.faults = [DiskFault(number: 5)]
        cache.fill(3..<100)
        ring.disk.faults = []
        cache.maintain(now: 200_000)
        #expect(cache.counters.droppedInMemory > 0 && cache.state == .disk)
        let last = try #require(cache.batches(now: 200_000).last)
        #expect(cache.loss(after: 3, before: last.firstSequence) == .damaged)
    }
}
