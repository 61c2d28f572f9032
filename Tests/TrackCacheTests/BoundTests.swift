import Testing
import TrackModel
import TrackTestKit

@testable import TrackCache

/// The bound takes no segment that still fits when the next one stands.
@Suite struct BoundTests {
    private static let limit = 2 * TrackCacheOptions.smallestSegment
    /// So many records of 1000 bytes fill the first segment.
    private static let full = 71

    /// The newest segment is kept for its name alone, and goes when the next one stands.
    @Test func anEmptyNewestSegmentCostsNothing() throws {
        let ring = Ring(limit: Self.limit)
        var cache = try ring.open()
        cache.fill(0..<Self.full, size: 1000)
        cache.close(now: 0)
        for _ in 0..<3 {
            // A process that gathers nothing.
            cache = try ring.reopen(cache)
            #expect(cache.counters.droppedByBound == 0)
            #expect(cache.numbers() == Array(0..<Self.full))
            #expect(ring.segmentPaths.count == 2)
            #expect(cache.usage.diskBytes <= Self.limit)
            cache.close(now: 0)
        }
        // When the next one does not come to stand, it stays.
        ring.disk.faults = [DiskFault([.rename], number: 5)]
        let evidence = ring.segmentPaths
        cache = try ring.reopen(cache)
        #expect(cache.state != .disk)
        #expect(ring.segmentPaths == evidence)
    }

    /// What is not durable is written once more to a segment of the same name.
    @Test func aSegmentThatIsReplacedCostsNothing() throws {
        let ring = Ring(limit: Self.limit)
        let cache = try ring.open()
        cache.fill(0..<Self.full, size: 1000)
        #expect(ring.segmentPaths.count == 1)
        ring.disk.faults = [DiskFault([.synchronizeData], times: 1, number: 5)]
        cache.fill(Self.full..<Self.full + 1, size: 1000)
        #expect(cache.state == .disk)
        #expect(cache.counters.segmentsCreated == 3)
        #expect(cache.counters.droppedByBound == 0)
        #expect(cache.numbers() == Array(0...Self.full))
        #expect(cache.usage.diskBytes <= Self.limit)
    }

    /// What has ended is deleted before the bound takes what waits.
    @Test func whatIsAcknowledgedGoesFirst() throws {
        let ring = Ring(limit: Self.limit)
        var cache = try ring.open()
        cache.fill(0..<Self.full, size: 1000)
        cache.fill(Self.full..<Self.full + 10, size: 1000)
        _ = cache.batches()
        let acknowledged = UInt64(Self.full)
        ring.disk.faults = [DiskFault([.unlink], number: 5)]
        cache.acknowledge(through: acknowledged, of: cache.streamID, now: 0)
        cache.close(now: 0)
        ring.disk.faults = []
        #expect(ring.segmentPaths.count == 2)
        cache = try ring.reopen(cache)
        #expect(cache.counters.segmentsDropped == 0)
        #expect(cache.numbers() == Array(Self.full..<Self.full + 10))
    }
}
