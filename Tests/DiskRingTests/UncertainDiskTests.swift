import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

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

    /// An opening tries twice; a refused call fails one try.
    @Test(arguments: [2, 3], 1...10)
    func whatCouldNotBeSecuredIsNotCalledDurable(refused: Int, seed: Int) throws {
        let ring = Ring(syncInterval: 60_000)
        let killed = try ring.open()
        killed.fill(0..<20)
        ring.disk.faults = [DiskFault([.synchronizeData], times: refused, number: 5)]
        let cache = try ring.reopen(killed)
        #expect(cache.state == .disk)
        #expect(cache.numbers() == Array(0..<20))
        #expect(!cache.isSecured)
        #expect(cache.unsecuredCount == 20)
        var now: MonotonicTime = 0
        while !cache.isSecured, let due = cache.nextMaintenance {
            now = due
            cache.maintain(now: now)
        }
        #expect(now == (refused == 2 ? 1000 : 3000))
        #expect(cache.unsecuredCount == 0)
        #expect(cache.nextMaintenance == nil)
        let last = try ring.reopen(cache, crashSeed: UInt64(seed))
        #expect(last.numbers() == Array(0..<20))
    }

    /// Two segments of an earlier process, of which the disk refuses one for a while; this process fills segments of its own.
    @Test(arguments: 1...10)
    func theSegmentsConcernedAreTriedAgain(seed: Int) throws {
        let ring = Ring(syncInterval: 60_000)
        let killed = try ring.open()
        killed.fill(0..<100, size: 1000)
        #expect(ring.segmentPaths.count == 2)
        ring.disk.faults = [DiskFault([.synchronizeData], times: 4, number: 5)]
        let cache = try ring.reopen(killed)
        #expect(cache.directoryState.unsecured.count == 2)
        cache.fill(100..<300, size: 1000)
        #expect(cache.usage.segments >= 4)
        #expect(cache.unsecuredCount == 100)
        // The newest of the two is refused once more, and alone.
        ring.disk.faults = [DiskFault([.synchronizeData], after: 1, times: 1, number: 5)]
        cache.maintain(now: 1000)
        #expect(cache.directoryState.unsecured.count == 1)
        #expect(cache.unsecuredCount > 0 && cache.unsecuredCount < 100)
        cache.maintain(now: 3000)
        #expect(cache.isSecured)
        cache.sync(now: 3000)
        let last = try ring.reopen(cache, crashSeed: UInt64(seed))
        #expect(last.numbers() == Array(0..<300))
    }

    @Test func aBlockThatIsBadForGoodIsTriedOnceAMinute() throws {
        let ring = Ring(syncInterval: 60_000)
        let killed = try ring.open()
        killed.fill(0..<20)
        ring.disk.faults = [DiskFault([.synchronizeData], number: 5)]
        let cache = try ring.reopen(killed)
        var now: MonotonicTime = 0
        var waits: [Int64] = []
        for _ in 0..<9 {
            let due = try #require(cache.nextMaintenance)
            waits.append(due - now)
            now = due
            cache.maintain(now: now)
        }
        #expect(waits == [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
        // What the server owns need not be on the disk.
        #expect(cache.numbers(now: now).count == 20)
        cache.acknowledge(through: cache.nextSequence - 1, of: cache.streamID, now: now)
        #expect(cache.count == 0)
        now = try #require(cache.nextMaintenance)
        cache.maintain(now: now)
        #expect(cache.isSecured)
        #expect(cache.nextMaintenance == nil)
    }

    /// The clear of a killed process stands in a segment that is not secured: a power cut may take it and bring back what it
    /// cleared. Whoever clears again is told the truth.
    @Test(arguments: 1...20)
    func aClearThatFindsNothingIsDurableAllTheSame(seed: Int) throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<20)
        ring.disk.faults = [DiskFault([.synchronizeData, .rename], number: 5)]
        #expect(try cache.clear(entities: nil, from: 0, through: 9, now: 0).isDurable == false)
        ring.disk.faults = [DiskFault([.synchronizeData], times: 2, number: 5)]
        cache = try ring.reopen(cache)
        #expect(!cache.isSecured)
        #expect(cache.numbers() == Array(10..<20))
        #expect(try cache.clear(entities: nil, from: 0, through: 9, now: 0).isDurable)
        cache = try ring.reopen(cache, crashSeed: UInt64(seed))
        #expect(cache.numbers() == Array(10..<20))
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

extension DiskRing {
    /// Records that a process before this one left in segments whose ends the disk has refused to take again: a power cut may
    /// take them.
    fileprivate var unsecuredCount: UInt64 {
        let unsecured = directoryState.unsecured
        return segments.indices.reduce(0) { $0 + (unsecured.contains(segments[$1].first) ? liveCount($1) : 0) }
    }
}
