import Testing
import TrackModel
import TrackTestKit

@testable import TrackCache

/// What a killed process wrote and did not synchronise: the kernel shows it, the disk may not have it.
@Suite struct InheritedRecordsTests {
    @Test(arguments: 1...20)
    func afterTheNextStartTheyAreDurable(seed: Int) throws {
        let ring = Ring(syncInterval: 60_000)
        let killed = try ring.open()
        killed.fill(0..<20)
        #expect(killed.unsynchronisedCount == 20)
        let next = try ring.reopen(killed)
        #expect(next.numbers() == Array(0..<20))
        #expect(next.unsynchronisedCount == 0)
        let last = try ring.reopen(next, crashSeed: UInt64(seed))
        #expect(last.numbers() == Array(0..<20))
    }
}

/// A clear while the disk cannot be read.
@Suite struct BlindClearTests {
    @Test func whatItTookIsCountedOnceTheDiskAnswers() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<10)
        ring.disk.faults = [DiskFault([.open], times: 1, number: 5)]
        let cleared = try cache.clear(entities: nil, from: 0, through: 4, now: 0)
        #expect(cleared.records == 0)
        #expect(cache.numbers() == Array(5..<10))
        #expect(cache.count == 5)
        #expect(cache.counters.cleared == 5)
        let info = cache.info()
        #expect(info.first?.count == 5)
    }
}

/// A directory whose segments cannot be read, five times in a row.
@Suite struct UnreadableDirectoryTests {
    /// A ring of ten records, and a process that cannot read it and makes ten more.
    private func begin(_ ring: Ring, failing operations: Set<CacheFileError.Operation>) throws -> TrackCache {
        let earlier = try ring.open()
        earlier.fill(0..<10)
        // The ledger is generations ahead of one that begins anew.
        for number in 1...10 as ClosedRange<Int64> {
            earlier.writeLedger(now: 0 + number * TrackCache.ledgerInterval, isDurable: true)
        }
        ring.disk.faults = [DiskFault(operations, number: 5)]
        let cache = try ring.reopen(earlier)
        cache.fill(10..<20)
        while !cache.hasRead { cache.maintain(now: try #require(cache.nextMaintenance)) }
        #expect(cache.recovery.unreadableSegments == 1)
        return cache
    }

    /// Nothing of ours stands beside it yet, so that what was given up need not stay so.
    @Test func isReadAgainWhenTheDiskComesBack() throws {
        let ring = Ring()
        var cache = try begin(ring, failing: [.open])
        ring.disk.faults = []
        cache.maintain(now: try #require(cache.nextMaintenance))
        #expect(cache.state == .disk)
        #expect(cache.numbers() == Array(0..<20))
        #expect(cache.recovery.unreadableSegments == 0)
        cache = try ring.reopen(cache, crashSeed: 1)
        #expect(cache.numbers() == Array(0..<20))
    }

    /// Reading fails, and writing works: a new stream begins, and must be the one that the next opening takes.
    @Test(arguments: 0...30)
    func isLeftAsideForANewStream(seed: Int) throws {
        let ring = Ring(seed: UInt64(seed))
        let cache = try begin(ring, failing: [.read])
        #expect(cache.state == .disk)
        #expect(cache.unsynchronisedCount == 0)
        ring.disk.faults = []
        let next = try ring.reopen(cache, crashSeed: seed == 0 ? nil : UInt64(seed))
        #expect(next.numbers() == Array(10..<20))
    }

    /// The only segment of a stream is given up, and the stream that follows it begins at lower numbers.
    @Test(arguments: 1...30)
    func aStreamThatFollowsAGivenUpOneIsFoundAgain(seed: Int) throws {
        let ring = Ring(seed: UInt64(seed))
        let earlier = try ring.reopen(try ring.open())
        earlier.fill(0..<10)
        earlier.writeLedger(now: 0, isDurable: true)
        ring.disk.isReadOnly = true
        let cache = try ring.reopen(earlier)
        cache.fill(10..<20)
        ring.disk.faults = [DiskFault([.read], number: 5)]
        for now in stride(from: Int64(0), through: 40_000, by: 1000).map({ MonotonicTime(milliseconds: $0) }) {
            _ = cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: now)
        }
        #expect(cache.counters.unreadableRecords > 0)
        ring.disk.faults = []
        ring.disk.isReadOnly = false
        #expect(cache.tryReturnToDisk(now: 50_000))
        let next = try ring.reopen(cache, crashSeed: UInt64(seed))
        #expect(next.numbers().suffix(10) == Array(10..<20))
    }
}
