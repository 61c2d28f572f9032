import Testing
import TrackModel
import TrackTestKit

@testable import TrackCache

/// Segments that the disk does not give back.
@Suite struct UnreadableSegmentTests {
    @Test func aSegmentThatCannotBeReadIsGivenUpOnlyAfterSeveralTries() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<3000)
        ring.disk.faults = [DiskFault([.read], times: 3, number: 5)]
        let read = { (now: MonotonicTime) in cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: now) }
        #expect(read(0) == nil)
        #expect(read(999) == nil)
        #expect(read(1000) == nil)
        #expect(cache.counters.unreadableRecords == 0)
        #expect(read(10_999) == nil)
        let next = try #require(read(11_000))
        let lost = cache.counters.unreadableRecords
        #expect(lost > 0)
        #expect(next.firstSequence == lost + 1)
        #expect(cache.count + lost == 3000)
    }

    /// Else what waits in memory would overtake them, and its acknowledgement would give them up.
    @Test func afterASegmentThatIsGivenUpTheNextOnesComeBeforeWhatIsInMemory() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<3000)
        let second = cache.segments[1].first
        ring.disk.faults = [DiskFault([.write], number: 28)]
        cache.fill(3000..<3010)
        ring.disk.faults.append(DiskFault([.read], times: 4, number: 5))
        let read = { (now: MonotonicTime) in cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: now) }
        for now in [0, 1000, 11_000] as [MonotonicTime] { #expect(read(now) == nil) }
        // The first is given up, and the second has failed once: there is more, later.
        #expect(cache.counters.unreadableRecords == second - 1)
        #expect(cache.isReadPostponed(now: 11_000))
        #expect(read(12_000)?.firstSequence == second)
        #expect(cache.numbers(now: 12_000) == Array(Int(second) - 1..<3010))
    }

    @Test func anActiveSegmentThatCannotBeReadIsLeftBehind() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<10)
        ring.disk.faults = [DiskFault([.read], times: 3, number: 5)]
        for now in [0, 1000, 11_000] as [MonotonicTime] {
            #expect(cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: now) == nil)
        }
        #expect(cache.counters.unreadableRecords == 10)
        cache.fill(10..<20)
        #expect(cache.numbers(now: 20_000) == Array(10..<20))
    }

    @Test func whatIsNotDurableYetIsNotGivenUpWithTheActiveSegment() throws {
        let ring = Ring(syncInterval: 60_000)
        var cache = try ring.open()
        cache.fill(0..<10)
        cache.sync(now: 0)
        cache.fill(10..<15)
        ring.disk.faults = [DiskFault([.read], times: 3, number: 5)]
        for now in [0, 1000, 11_000] as [MonotonicTime] {
            _ = cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: now)
        }
        #expect(cache.counters.unreadableRecords == 10)
        #expect(cache.numbers(now: 11_000) == Array(10..<15))
        // The file stays, and each record counts once.
        cache = try ring.reopen(cache)
        #expect(cache.numbers() == Array(0..<15))
    }

    @Test func theSegmentBegunInItsPlaceIsNotGivenUpAsWell() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<10)
        ring.disk.faults = [DiskFault([.read], number: 5)]
        for now in stride(from: Int64(0), through: 100_000, by: 1000).map({ MonotonicTime(milliseconds: $0) }) {
            #expect(cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: now) == nil)
        }
        #expect(cache.counters.unreadableRecords == 10)
        cache.fill(10..<20)
        ring.disk.faults = []
        #expect(cache.numbers(now: 200_000) == Array(10..<20))
        #expect(cache.counters.unreadableRecords == 10)
    }

    @Test func aSegmentThatVanishedIsCountedAtOnce() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<3000)
        ring.disk.remove(ring.segmentPaths[0])
        let batch = try #require(cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: 0))
        #expect(cache.counters.unreadableRecords == batch.firstSequence - 1)
    }

    /// A number is missing in the segment, so that counting what an acknowledgement covered means reading it.
    @Test func anUnreadableSegmentIsNotCountedAsUnacknowledgedAgain() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<100)
        _ = try cache.clear(entities: nil, from: 50, through: 50, now: 0)
        _ = cache.numbers()
        cache.acknowledge(through: 90, of: cache.streamID, now: 0)
        #expect(cache.count == 10)
        #expect(cache.counters.acknowledged == 89)
        ring.disk.faults = [DiskFault([.open, .read], number: 5)]
        cache.acknowledge(through: 94, of: cache.streamID, now: 0)
        #expect(cache.count <= 10)
        ring.disk.faults = []
        cache.acknowledge(through: 96, of: cache.streamID, now: 0)
        #expect(cache.count == 4)
        #expect(cache.counters.acknowledged <= 95)
    }
}
