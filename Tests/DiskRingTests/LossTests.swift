import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

/// What the cache says of records that are gone before the server had them.
@Suite struct LossTests {
    private func loss(_ cache: DiskRing, after: UInt64 = 0) throws -> CacheLoss? {
        let next = try #require(cache.read(after: after, maximumCount: 1, maximumBytes: .max, now: 0))
        return cache.loss(
            after: after, before: next.firstSequence, entity: next.entity, time: next.records[0].time)
    }

    /// A cache that kept some records on the disk, then dropped records from memory while the disk refused, and is well again.
    private func full(_ ring: Ring) throws -> DiskRing {
        let cache = try ring.open()
        cache.fill(0..<3)
        ring.disk.faults = [DiskFault(number: 5)]
        cache.fill(3..<100)
        ring.disk.faults = []
        cache.maintain(now: 200_000)
        return cache
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
        let ring = Ring(limit: 3 * DiskRingOptions.smallestSegment)
        var cache = try ring.open()
        cache.fill(0..<600, size: 1000)
        #expect(cache.counters.droppedByBound > 0)
        #expect(try loss(cache) == .dropped)
        #expect(try loss(cache, after: cache.firstSequence) == nil)
        // Also when another process reads it.
        cache = try ring.reopen(cache, crashSeed: 7)
        #expect(try loss(cache) == .dropped)
    }

    /// What was lost in memory has a reason also when the disk answers, and what is left gets the numbers of another range.
    /// `cleared`: numbers of those that are cleared, of 20.
    @Test(arguments: [0...4, 7...9, 15...19, 0...19] as [ClosedRange<Int64>])
    func whatWasClearedInMemoryIsKnownOnTheDisk(cleared: ClosedRange<Int64>) throws {
        let ring = Ring()
        let before = try ring.open()
        before.fill(0..<3)
        ring.disk.killProcess()
        ring.disk.faults = [DiskFault(number: 5)]
        let cache = try DiskRing(directory: Ring.directory, options: ring.options, fileSystem: ring.disk, now: 0)
        cache.fill(100..<120)
        _ = try cache.clear(
            entities: nil, from: 100 + cleared.lowerBound, through: 100 + cleared.upperBound, now: 0)
        ring.disk.faults = []
        cache.maintain(now: try #require(cache.nextMaintenance))
        #expect(cache.state == .disk)
        cache.fill(120..<122)
        var (position, last): (UInt64, Int64) = (0, -1)
        while let next = cache.read(after: position, maximumCount: 1, maximumBytes: .max, now: 0) {
            let time = next.records[0].time
            let isNext = time == last + 1 || time == 100 && last == 2
            let loss = cache.loss(
                after: position, before: next.firstSequence, entity: next.entity, time: time)
            #expect(loss == (isNext ? nil : .cleared), "\(time) after \(last)")
            (position, last) = (next.lastSequence, time)
        }
        #expect(last == 121)
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
        #expect(try loss(cache, after: 5) == .cleared)
    }

    /// A session begins to read at the oldest record, and knows of nothing before it.
    @Test func aSessionThatBeginsBehindALossTellsIt() throws {
        let ring = Ring(limit: 3 * DiskRingOptions.smallestSegment)
        let cache = try ring.open()
        cache.fill(0..<5)
        cache.readAndAcknowledge(through: cache.firstSequence + 2)
        _ = try cache.clear(entities: nil, from: nil, through: nil, now: 0)
        cache.fill(5..<8)
        #expect(try loss(cache, after: cache.firstSequence - 1) == .cleared)
        #expect(try loss(cache, after: cache.firstSequence) == nil)
        cache.readAndAcknowledge(through: cache.nextSequence - 1)
        cache.fill(8..<600, size: 1000)
        #expect(cache.counters.droppedByBound > 0)
        #expect(try loss(cache, after: cache.firstSequence - 1) == .dropped)
    }

    /// The first record of a process stands at the beginning of a range.
    @Test func aClearBeforeAStartIsToldBehindIt() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<100)
        cache.readAndAcknowledge(through: cache.firstSequence + 9)
        _ = try cache.clear(entities: nil, from: nil, through: nil, now: 0)
        cache = try ring.reopen(cache, crashSeed: 7)
        cache.fill(100..<110)
        #expect(try loss(cache, after: cache.firstSequence - 1) == .cleared)
        cache.readAndAcknowledge(through: cache.firstSequence)
        #expect(try loss(cache, after: cache.firstSequence - 1) == nil)
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
        let cache = try full(ring)
        #expect(cache.counters.droppedInMemory > 0 && cache.state == .disk)
        let last = try #require(cache.batches(now: 200_000).last)
        #expect(cache.loss(after: 3, before: last.firstSequence, entity: "car", time: 0) == .damaged)
    }

    @Test func aClearIsTheReasonOfItsOwnRecordsOnly() throws {
        let ring = Ring(memoryLimit: 4000)
        var cache = try full(ring)
        let kept = try #require(cache.batches(now: 200_000).last)
        cache.fill(100..<120)
        let next = cache.nextSequence
        _ = try cache.clear(entities: nil, from: 105, through: 109, now: 200_000)
        #expect(cache.loss(after: 3, before: kept.firstSequence, entity: "car", time: 99) == .damaged)
        #expect(try loss(cache, after: next - 16) == .cleared)
        // The next process has the clear and not its records: only a record that is newer can stand behind it.
        cache = try ring.reopen(cache, crashSeed: 7)
        #expect(cache.loss(after: next - 16, before: next - 10, entity: "car", time: 110) == .cleared)
        #expect(cache.loss(after: next - 16, before: next - 10, entity: "car", time: 100) != .cleared)
    }

    /// What a process before had lost, the next one can only guess; a clear of another entity is no reason.
    @Test(arguments: [nil, "car", "bus"]) func aClearThatIsFoundIsAReasonForItsEntities(cleared: String?) throws {
        let ring = Ring(memoryLimit: 4000)
        var cache = try full(ring)
        let kept = try #require(cache.batches(now: 200_000).last).firstSequence
        _ = try cache.clear(entities: cleared.map { [$0] }, from: 0, through: 1, now: 200_000)
        cache = try ring.reopen(cache)
        let loss = cache.loss(after: 3, before: kept, entity: "car", time: 99)
        #expect(cleared == "bus" ? loss != .cleared : loss == .cleared)
    }

    @Test func theCauseOfMostNumbersIsTold() {
        var generator = SystemRandomNumberGenerator()
        var known = KnownLosses(stream: StreamID.random(using: &generator))
        for number in UInt64(1)...10 { known.note(.damaged, number...number) }
        known.note(.cleared, 11...13)
        known.note(.dropped, 20...90)
        #expect(known.cause(of: 1...13) == .damaged && known.cause(of: 9...13) == .cleared)
        #expect(known.cause(of: 10...30) == .dropped && known.cause(of: 14...19) == nil)
        for number in stride(from: UInt64(100), to: 300, by: 2) { known.note(.cleared, number...number) }
        #expect(known.cause(of: 1...99) == nil && known.cause(of: 298...298) == .cleared)
    }
}

/// The bound takes no segment that still fits when the next one stands.
@Suite struct BoundTests {
    private static let limit = 2 * DiskRingOptions.smallestSegment
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
