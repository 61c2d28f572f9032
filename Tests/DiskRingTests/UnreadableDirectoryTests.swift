import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

/// A directory whose segments cannot be read, sixteen times in a row.
@Suite struct UnreadableDirectoryTests {
    /// A ring of ten records, and a process that cannot read it and makes ten more.
    private func begin(
        _ ring: Ring, failing operations: Set<CacheFileError.Operation>, number: Int32 = 5
    ) throws -> DiskRing {
        let earlier = try ring.open()
        earlier.fill(0..<10)
        // The ledger is generations ahead of one that begins anew.
        for number in 1...10 as ClosedRange<Int64> {
            earlier.writeLedger(now: 0 + number * DiskRing.ledgerInterval, isDurable: true)
        }
        ring.disk.faults = [DiskFault(operations, number: number)]
        let cache = try ring.reopen(earlier)
        cache.fill(10..<20)
        try goBlind(cache)
        #expect(cache.recovery.unreadableSegments == 1)
        return cache
    }

    /// A ring of ten records, and a process that cannot read it yet and has ten more in memory.
    private func unread(_ ring: Ring, failing operation: CacheFileError.Operation) throws -> DiskRing {
        let earlier = try ring.open()
        earlier.fill(0..<10)
        ring.disk.faults = [DiskFault([operation], number: 5)]
        let cache = try ring.reopen(earlier)
        cache.fill(10..<20)
        return cache
    }

    /// The last of the attempts after which the directory is given up. Opening was the first.
    private func goBlind(_ cache: DiskRing) throws {
        for _ in 1..<DirectoryState.mostBlindReads { cache.maintain(now: try #require(cache.nextMaintenance)) }
    }

    /// What a clear takes from the disk once it can be read counts for the clear's cause.
    @Test(arguments: [CacheLoss.cleared, .wrongDate])
    func aClearBeforeTheDiskAnswersCountsForItsCause(cause: CacheLoss) throws {
        let ring = Ring()
        let cache = try unread(ring, failing: .open)
        #expect(try cache.clear(entities: nil, from: 5, through: 14, as: cause, now: 0).records == 5)
        ring.disk.faults = []
        cache.maintain(now: try #require(cache.nextMaintenance))
        #expect(cache.numbers() == Array(0..<5) + Array(15..<20))
        let counters = cache.counters
        #expect((counters.cleared, counters.disproved) == (cause == .cleared ? (10, 0) : (0, 10)))
    }

    @Test func itIsGivenUpAfterTenMinutes() throws {
        let ring = Ring()
        let earlier = try ring.open()
        earlier.fill(0..<10)
        ring.disk.faults = [DiskFault([.open], number: 5)]
        let cache = try ring.reopen(earlier)
        var last = MonotonicTime.distantPast
        while cache.directoryState != .blind {
            last = try #require(cache.nextMaintenance)
            cache.maintain(now: last)
        }
        #expect(last == 603_000)
    }

    /// Nothing of ours stands beside it yet, so that what was given up need not stay so.
    /// EIO, ENOMEM, EACCES, EMFILE, ENOSPC, EUCLEAN: whatever the disk says.
    @Test(arguments: [5, 12, 13, 24, 28, 117] as [Int32]) func isReadAgainWhenTheDiskComesBack(number: Int32) throws {
        let ring = Ring()
        var cache = try begin(ring, failing: [.open], number: number)
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

    /// A clear holds for everything older, also for what nobody could read when it was made.
    @Test(arguments: [false, true], [4, 14] as [Int64])
    func aClearMadeMeanwhileTakesWhatIsReadLater(isMadeEarly: Bool, through: Int64) throws {
        let ring = Ring()
        var cache = try unread(ring, failing: .open)
        if !isMadeEarly { try goBlind(cache) }
        let cleared = try cache.clear(entities: nil, from: nil, through: through, now: 0)
        #expect(cleared == ClearedCount(records: UInt64(max(0, through - 9)), isDurable: false))
        if isMadeEarly { try goBlind(cache) }
        ring.disk.faults = []
        cache.maintain(now: try #require(cache.nextMaintenance))
        let kept = Array(Int(through) + 1..<20)
        #expect(cache.state == .disk)
        #expect(cache.numbers() == kept)
        #expect(cache.counters.cleared == UInt64(through + 1))
        cache = try ring.reopen(cache, crashSeed: 1)
        #expect(cache.numbers() == kept)
    }

    /// The disk answers, and refuses the one read in which the clear looks into a segment: later it is looked at again.
    @Test(arguments: 0..<12) func aClearMadeMeanwhileLooksAgainWhereItCouldNotRead(readsThatWork: Int) throws {
        let ring = Ring()
        let cache = try unread(ring, failing: .list)
        #expect(try cache.clear(entities: ["car"], from: nil, through: 30, now: 0).records == 10)
        ring.disk.faults = [DiskFault([.read], after: readsThatWork, times: 1, number: 5)]
        for _ in 0..<4 { if let next = cache.nextMaintenance { cache.maintain(now: next) } }
        #expect(cache.directoryState.isKnown)
        #expect(cache.count == 0)
        #expect(cache.counters.cleared == 20)
        #expect(cache.read(after: 0, maximumCount: 100, maximumBytes: 10_000, now: 900_000) == nil)
    }

    /// A clear holds for what is older, and not for what the new stream gets later.
    @Test func aClearMadeMeanwhileTakesNothingThatComesLater() throws {
        let ring = Ring()
        var cache = try unread(ring, failing: .read)
        #expect(try cache.clear(entities: nil, from: nil, through: nil, now: 0).records == 10)
        try goBlind(cache)
        #expect(cache.state == .disk)
        cache.fill(20..<30)
        ring.disk.faults = []
        cache = try ring.reopen(cache, crashSeed: 1)
        #expect(cache.numbers() == Array(20..<30))
    }

    /// What a killed process could not synchronise the kernel shows and the disk does not have. It becomes durable also when
    /// it is read late.
    @Test func whatAKilledProcessLeftIsDurableOnceItIsRead() throws {
        let ring = Ring(syncInterval: 60_000)
        let killed = try ring.open()
        killed.fill(0..<10)
        ring.disk.faults = [DiskFault([.synchronizeData, .rename], number: 5)]
        killed.sync(now: 0)
        #expect(killed.unsynchronisedCount == 10)
        ring.disk.faults = [DiskFault([.read, .rename], number: 5)]
        let cache = try ring.reopen(killed)
        try goBlind(cache)
        #expect(cache.numbers() == [])
        ring.disk.faults = []
        cache.maintain(now: try #require(cache.nextMaintenance))
        #expect(cache.state == .disk)
        #expect(cache.numbers() == Array(0..<10))
        let next = try ring.reopen(cache, crashSeed: 1)
        #expect(next.numbers() == Array(0..<10))
    }

    /// A new stream begins beside the unreadable segments, and its first writes fail at any moment.
    @Test(arguments: 0...30)
    func whatTheNewStreamWroteIsNotTakenTwice(writes: Int) throws {
        let ring = Ring()
        var cache = try unread(ring, failing: .read)
        for _ in 1..<DirectoryState.mostBlindReads - 1 { cache.maintain(now: try #require(cache.nextMaintenance)) }
        ring.disk.faults.append(DiskFault([.write], after: writes, times: 1, number: 5))
        cache.maintain(now: try #require(cache.nextMaintenance))
        ring.disk.faults = []
        if cache.state != .disk { cache.maintain(now: try #require(cache.nextMaintenance)) }
        #expect(cache.state == .disk)
        cache.fill(20..<23)
        #expect(cache.numbers().filter { $0 >= 10 } == Array(10..<23))
        cache = try ring.reopen(cache, crashSeed: 1)
        #expect(cache.numbers().filter { $0 >= 10 } == Array(10..<23))
    }
}
