import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

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

    /// A ring whose second segment cannot be read from an offset on, opened until it passes over what the disk refuses.
    private func openWithBadBlock(at offset: Int, _ ring: Ring, _ disk: BadBlockFileSystem) throws -> DiskRing {
        let cache = try openWithBadBlock(at: offset, ofFile: 1, ring, disk)
        #expect(cache.state == .disk)
        #expect(cache.recovery.unreadableSegments == 1)
        return cache
    }

    /// A file of the ring cannot be read from an offset on, but in the last try so many times.
    private func openWithBadBlock(
        at offset: Int, ofFile index: Int, _ ring: Ring, _ disk: BadBlockFileSystem, goodOpenings: Int = 0
    ) throws -> DiskRing {
        disk.bad = (ring.segmentPaths[index], offset)
        ring.disk.killProcess()
        let cache = try DiskRing(directory: Ring.directory, options: ring.options, fileSystem: disk, now: 0)
        for attempt in 1..<DirectoryState.mostReads {
            if attempt == DirectoryState.mostReads - 1 { disk.goodOpenings = goodOpenings }
            cache.maintain(now: try #require(cache.nextMaintenance))
        }
        return cache
    }

    /// What an opening could not read is counted, and its file stays: a later opening may be able to read it.
    @Test(arguments: [0, SegmentHeader.bytes, SegmentHeader.bytes + 20_000])
    func whatAnOpeningCouldNotReadStays(offset: Int) throws {
        let ring = Ring()
        try ring.open().fill(0..<3000)
        let all = ring.segmentPaths
        let disk = BadBlockFileSystem(ring.disk)
        var cache = try openWithBadBlock(at: offset, ring, disk)
        let found = cache.numbers()
        #expect(found.count < 3000)
        #expect(cache.counters.unreadableRecords == UInt64(3000 - found.count))
        cache.acknowledge(through: 10, of: cache.streamID, now: 0)
        cache.fill(3000..<3010)
        #expect(ring.segmentPaths.starts(with: all))
        disk.bad = nil
        cache = try ring.reopen(cache)
        cache.confirm(serverStoredThrough: 10, now: 0)
        #expect(cache.numbers() == Array(10..<3010))
    }

    /// Everything else is acknowledged. Nobody could read whether anything waits in this file.
    @Test(arguments: [0, SegmentHeader.bytes, SegmentHeader.bytes + 20_000])
    func whatAnOpeningCouldNotReadStaysBehindAcknowledgements(offset: Int) throws {
        let ring = Ring()
        try ring.open().fill(0..<3000)
        let disk = BadBlockFileSystem(ring.disk)
        let path = ring.segmentPaths[1]
        let cache = try openWithBadBlock(at: offset, ring, disk)
        cache.fill(3000..<3010)
        for batch in cache.batches() { cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: 0) }
        #expect(cache.count == 0)
        #expect(ring.segmentPaths.contains(path))
        #expect(cache.counters.unreadableRecords > 0)
        #expect(cache.counters.acknowledged + cache.counters.unreadableRecords == 3010)
    }

    /// Whatever follows the file by number, no number tells how much it held: its bytes do.
    @Test func whatMayStandInTheLastSegmentOfARunIsCounted() throws {
        let ring = Ring()
        try ring.open().fill(0..<3000)
        let disk = BadBlockFileSystem(ring.disk)
        disk.bad = (try #require(ring.segmentPaths.last), SegmentHeader.bytes)
        ring.disk.killProcess()
        let cache = try DiskRing(directory: Ring.directory, options: ring.options, fileSystem: disk, now: 0)
        for _ in 1..<DirectoryState.mostReads { cache.maintain(now: try #require(cache.nextMaintenance)) }
        let most = (DiskRingOptions.smallestSegment - SegmentHeader.bytes) / RecordFormat.headerBytes
        #expect(cache.counters.unreadableRecords >= UInt64(3000 - cache.numbers().count))
        #expect(cache.counters.unreadableRecords <= UInt64(most))
    }

    /// A clear stands behind what it took, and the disk refuses the end of the same file.
    @Test func aClearCountsInAFileThatCanBeReadInPart() throws {
        var ring = Ring()
        ring.options.segmentBytes = 1 << 20
        let first = try ring.open()
        first.fill(0..<2000)
        #expect(try first.clear(entities: nil, from: 0, through: 1399, now: 0).isDurable)
        first.fill(2000..<5000)
        let cache = try openWithBadBlock(at: 300_000, ofFile: 0, ring, BadBlockFileSystem(ring.disk))
        #expect(cache.recovery.unreadableSegments == 1 && cache.recovery.newest?.time ?? 0 >= 2000)
        let numbers = cache.numbers()
        #expect(numbers.starts(with: 1400..<2000) && (601..<3600).contains(numbers.count), "\(numbers.count)")
        #expect(cache.count == UInt64(numbers.count) && cache.recovery.records == cache.count)
    }

    /// A file with clears is read twice, and the disk refuses the second reading: what the first one found is not taken.
    @Test(arguments: 1...5) func whatTheSecondReadingDoesNotGiveIsCounted(_ goodOpenings: Int) throws {
        let ring = Ring()
        let first = try ring.open()
        first.fill(0..<300)
        #expect(try first.clear(entities: nil, from: 0, through: 99, now: 0).isDurable)
        // The file ends with its last record: the next one has begun.
        first.fill(300..<2000)
        let cache = try openWithBadBlock(
            at: 0, ofFile: 0, ring, BadBlockFileSystem(ring.disk), goodOpenings: goodOpenings)
        #expect(cache.counters.unreadableRecords + cache.count >= 1900, "\(cache.counters)")
    }

    /// A clear was durable. The segment that holds it stays as long as a file with what it took, whoever can read that file.
    @Test func aClearStaysWithTheFileThatNobodyCanRead() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<1500)
        #expect(try cache.clear(entities: nil, from: 10, through: 19, now: 0).isDurable)
        let second = cache.segments[1].first
        ring.disk.faults = [DiskFault([.read], times: 3, number: 5)]
        for now in [0, 1000, 11_000] as [MonotonicTime] {
            _ = cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: now)
        }
        #expect(cache.counters.unreadableRecords == second - 1 - 10)
        // A second clear, of what can be read, empties all other segments.
        #expect(try cache.clear(entities: nil, from: Int64(second) - 1, through: nil, now: 12_000).isDurable)
        cache.fill(1500..<3000, now: 12_000)
        cache = try ring.reopen(cache, crashSeed: 1)
        #expect(cache.numbers() == Array(0..<10) + Array(20..<Int(second) - 1) + Array(1500..<3000))
    }

    /// What a clear could not look at is counted for its cause once the disk gives it back.
    @Test(arguments: [CacheLoss.cleared, .wrongDate])
    func aClearThatCouldNotLookCountsForItsCause(cause: CacheLoss) throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<1500)
        ring.disk.faults = [DiskFault([.read], number: 5)]
        #expect(try cache.clear(entities: nil, from: 10, through: 19, as: cause, now: 0).records == 0)
        ring.disk.faults = []
        #expect(cache.numbers() == Array(0..<10) + Array(20..<1500))
        // Whoever asks for the count makes the cache look again.
        #expect(cache.count == 1490)
        let counters = cache.counters
        #expect((counters.cleared, counters.disproved) == (cause == .cleared ? (10, 0) : (0, 10)))
    }

    /// The server has what was acknowledged: nothing of it is lost, whatever its date.
    @Test func aClearThatCouldNotLookTookNothingThatWasAcknowledged() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<30)
        _ = cache.read(after: 0, maximumCount: 15, maximumBytes: .max, now: 0)
        cache.acknowledge(through: 15, of: cache.streamID, now: 0)
        ring.disk.faults = [DiskFault([.read], number: 5)]
        #expect(try cache.clear(entities: nil, from: 10, through: 19, as: .wrongDate, now: 0).records == 0)
        ring.disk.faults = []
        // Sequences begin with 1: fifteen points up to time 14 are acknowledged.
        #expect(cache.numbers() == Array(20..<30))
        #expect((cache.count, cache.counters.disproved) == (10, 5))
    }

    /// The file that nobody can read counts for the bound, and is the first that the bound takes.
    @Test func theBoundTakesTheFileThatNobodyCanRead() throws {
        let ring = Ring(limit: 4 * DiskRingOptions.smallestSegment)
        let cache = try ring.open()
        cache.fill(0..<1500)
        #expect(ring.segmentPaths.count >= 2)
        let oldest = ring.segmentPaths[0]
        ring.disk.faults = [DiskFault([.read], times: 3, number: 5)]
        for now in [0, 1000, 11_000] as [MonotonicTime] {
            _ = cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: now)
        }
        #expect(cache.counters.unreadableRecords > 0)
        let bytes = ring.segmentPaths.reduce(0) { $0 + (ring.disk.contents(of: $1)?.count ?? 0) }
        #expect(cache.usage.diskBytes == bytes)
        cache.fill(1500..<5000, now: 12_000)
        #expect(!ring.segmentPaths.contains(oldest))
        #expect(cache.count + cache.counters.unreadableRecords + cache.counters.droppedByBound == 5000)
    }

    /// The stream of a given up segment ends, and another one begins. It must not take the names of what stays.
    @Test(arguments: 1...10)
    func aStreamThatFollowsReplacesNoFile(seed: UInt64) throws {
        let ring = Ring(seed: seed)
        let earlier = try ring.open()
        earlier.fill(0..<10)
        let path = ring.segmentPaths[0]
        let content = ring.disk.contents(of: path)
        ring.disk.isReadOnly = true
        let cache = try ring.reopen(earlier)
        cache.fill(10..<20)
        ring.disk.faults = [DiskFault([.read], times: 3, number: 5)]
        for now in [0, 1000, 11_000] as [MonotonicTime] {
            _ = cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: now)
        }
        #expect(cache.counters.unreadableRecords == 10)
        #expect(cache.numbers(now: 12_000) == Array(10..<20))
        ring.disk.isReadOnly = false
        #expect(cache.tryReturnToDisk(now: 50_000))
        #expect(ring.disk.contents(of: path)?.starts(with: content?.prefix(9000) ?? []) == true)
        // Also without the hint of the ledger the newer stream goes on.
        ring.disk.remove("\(Ring.directory)/\(Ledger.name)")
        let next = try ring.reopen(cache, crashSeed: seed)
        #expect(next.numbers() == Array(10..<20))
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

/// A disk with bad blocks: one file cannot be read from an offset on. Everything else works.
final class BadBlockFileSystem: DiskDecorator {
    let disk: DiskSimulation
    /// Nil: no block is bad.
    var bad: (path: String, offset: Int)?
    /// So many times the file can be opened and read as if no block were bad.
    var goodOpenings = 0
    private var paths: [Int32: String] = [:]
    private var good: Set<Int32> = []

    init(_ disk: DiskSimulation) {
        self.disk = disk
    }

    func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        let file = try disk.open(path, access)
        paths[file.descriptor] = path
        good.remove(file.descriptor)
        if path == bad?.path, goodOpenings > 0 {
            goodOpenings -= 1
            good.insert(file.descriptor)
        }
        return file
    }

    func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        var buffer = buffer
        if let bad, paths[file.descriptor] == bad.path, !good.contains(file.descriptor) {
            guard offset < bad.offset else { throw CacheFileError(.read, inputOutputErrno) }
            // What stands before the bad block comes.
            buffer = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(bad.offset - offset))
        }
        return try disk.read(file, into: buffer, at: offset)
    }
}
