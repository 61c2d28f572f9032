import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

@Suite struct DiskTroubleTests {
    @Test(arguments: [28, 122, 30, 5] as [Int32])
    func theCacheGoesOnInMemoryAndReturnsInOrder(number: Int32) throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<10)
        ring.disk.faults = [
            DiskFault([.write, .synchronize, .synchronizeData, .rename], number: number)
        ]
        cache.fill(10..<30)
        #expect(cache.state != .disk)
        #expect(cache.counters.memoryFallbacks == 1)
        #expect((cache.counters.diskErrors[number] ?? 0) > 0)
        #expect(cache.numbers() == Array(0..<30))
        ring.disk.faults = []
        cache.maintain(now: 100_000)
        #expect(cache.state == .disk)
        #expect(cache.counters.memoryReturns == 1)
        cache.fill(30..<40)
        #expect(cache.numbers() == Array(0..<40))
        cache = try ring.reopen(cache, crashSeed: 1)
        #expect(cache.numbers() == Array(0..<40))
        #expect(cache.counters.corruptRecords == 0)
    }

    @Test func aFailedSynchronisationIsNotTrusted() throws {
        // The page cache would show the records until the power goes: they must stand elsewhere by then.
        for interval in [0, 60_000] as [Int64] {
            let ring = Ring(syncInterval: interval)
            var cache = try ring.open()
            cache.fill(0..<10)
            ring.disk.faults = [DiskFault([.synchronizeData], times: 1, number: 5)]
            cache.fill(10..<20)
            cache.sync(now: 1)
            #expect(cache.state == .disk)
            #expect(cache.counters.memoryReturns == 1)
            #expect(cache.numbers() == Array(0..<20))
            cache = try ring.reopen(cache, crashSeed: 7)
            #expect(cache.numbers() == Array(0..<20))
        }
    }

    /// After a failed synchronisation the kernel calls its pages clean: the next process finds the record, and
    /// synchronising alone would not bring it to the disk.
    @Test func whatAnotherProcessCouldNotSynchroniseIsWrittenAgain() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<10)
        ring.disk.faults = [DiskFault(nil, after: 1, number: 5)]
        cache.fill(10..<11)
        #expect(cache.state != .disk)
        ring.disk.faults = []
        cache = try ring.reopen(cache)
        #expect(cache.numbers() == Array(0..<11))
        for seed in 0..<20 as Range<UInt64> {
            cache = try ring.reopen(cache, crashSeed: seed)
            #expect(cache.numbers() == Array(0..<11), "crash seed \(seed)")
        }
    }

    @Test func whatIsFoundOnAReadOnlyDiskIsSecuredWhenItIsWritableAgain() throws {
        for seed in 0..<20 as Range<UInt64> {
            let ring = Ring(syncInterval: 60_000)
            var cache = try ring.open()
            cache.fill(0..<10)
            ring.disk.isReadOnly = true
            cache = try ring.reopen(cache)
            #expect(cache.numbers() == Array(0..<10))
            #expect(cache.state != .disk)
            ring.disk.isReadOnly = false
            #expect(cache.tryReturnToDisk(now: 100_000))
            cache = try ring.reopen(cache, crashSeed: seed)
            #expect(cache.numbers() == Array(0..<10), "crash seed \(seed)")
        }
    }

    /// A ring whose bound is two segments, with records up to the beginning of the second: so many.
    private static func ringOfTwoSegments() throws -> (Ring, DiskRing, records: Int) {
        let ring = Ring(limit: 2 * DiskRingOptions.smallestSegment)
        let cache = try ring.open()
        var number = 0
        while ring.segmentPaths.count < 2 {
            cache.fill(number..<number + 1, size: 1000)
            number += 1
        }
        return (ring, cache, number)
    }

    /// The bound makes room for a new segment. Where none can be made, the oldest one stays, and can still be uploaded.
    @Test func aDiskThatTakesNoWritesCostsNoSegment() throws {
        let (ring, cache, filled) = try Self.ringOfTwoSegments()
        ring.disk.isReadOnly = true
        cache.fill(filled..<filled + 100, size: 1000)
        #expect(cache.state != .disk)
        #expect(cache.counters.droppedByBound == 0)
        #expect(cache.numbers() == Array(0..<filled + 100))
        ring.disk.isReadOnly = false
        #expect(cache.tryReturnToDisk(now: 100_000))
        #expect(cache.counters.droppedByBound > 0)
        #expect(ring.segmentPaths.count == 2)
    }

    /// On some file systems a name needs room as well: then the oldest segment makes it.
    @Test func aFullDiskMakesRoomWhereItCan() throws {
        let (ring, cache, filled) = try Self.ringOfTwoSegments()
        ring.disk.faults = [DiskFault([.open], times: 1, number: 28)]
        var number = filled
        while cache.counters.segmentsCreated < 3, number < 1000 {
            cache.fill(number..<number + 1, size: 1000)
            number += 1
        }
        #expect(cache.state == .disk)
        #expect(cache.counters.memoryFallbacks == 0)
        #expect(cache.counters.droppedByBound > 0)
    }

    @Test func memoryIsBoundedAndItsLossesAreCounted() throws {
        let ring = Ring(memoryLimit: 20_000)
        let cache = try ring.open()
        cache.fill(0..<10)
        ring.disk.isReadOnly = true
        cache.fill(10..<1000)
        #expect(cache.usage.memoryBytes <= 20_000)
        #expect(cache.counters.droppedInMemory > 0)
        #expect(cache.count + cache.counters.droppedInMemory == 1000)
        let numbers = cache.numbers()
        #expect(numbers.prefix(10) == Array(0..<10)[...])
        #expect(numbers.dropFirst(10).elementsEqual((1000 - (numbers.count - 10))..<1000))
        ring.disk.isReadOnly = false
        #expect(cache.tryReturnToDisk(now: 1))
        #expect(cache.numbers() == numbers)
    }

    /// A synchronisation fails once, and the next segment takes what waits: memory's bound is not asked.
    @Test func aDiskThatFailsOnceCostsNothingThoughMemoryIsSmall() throws {
        let ring = Ring(memoryLimit: 1000, syncInterval: 60_000)
        let cache = try ring.open()
        cache.fill(0..<100)
        ring.disk.faults = [DiskFault([.synchronizeData], times: 1, number: 5)]
        cache.sync(now: 0)
        #expect(cache.state == .disk)
        #expect(cache.counters.droppedInMemory == 0)
        #expect(cache.numbers() == Array(0..<100))
    }

    /// The disk fails in a clear: what the clear leaves fits in memory, so memory drops nothing.
    @Test func aClearOnAFailingDiskMakesRoomInMemory() throws {
        let ring = Ring(memoryLimit: 4000, syncInterval: 60_000)
        let cache = try ring.open()
        cache.fill(0..<10, entity: "bus")
        cache.fill(10..<200)
        ring.disk.isReadOnly = true
        ring.disk.faults = [DiskFault([.synchronizeData], number: 5)]
        _ = try cache.clear(entities: ["car"], from: nil, through: nil, now: 0)
        #expect(cache.state != .disk)
        #expect(cache.counters.droppedInMemory == 0)
        #expect(cache.numbers() == Array(0..<10))
    }

    @Test func memoryWithoutRoomDropsEverything() throws {
        let ring = Ring(memoryLimit: 0)
        ring.disk.isReadOnly = true
        let cache = try ring.open()
        cache.fill(0..<10)
        #expect(cache.count == 0)
        #expect(cache.counters.droppedInMemory == 10)
    }

    @Test func theDiskIsTriedAgainLessAndLessOften() throws {
        let ring = Ring()
        let cache = try ring.open()
        ring.disk.isReadOnly = true
        cache.fill(0..<1)
        var now: MonotonicTime = 0
        var waits: [Int64] = []
        for _ in 0..<9 {
            let due = try #require(cache.nextMaintenance)
            waits.append(due - now)
            let attempts = ring.disk.calls[.open] ?? 0
            cache.maintain(now: due + -1)
            #expect(ring.disk.calls[.open] == attempts)
            now = due
            cache.maintain(now: now)
            #expect((ring.disk.calls[.open] ?? 0) > attempts)
        }
        #expect(waits.dropFirst().elementsEqual([4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000]))
        ring.disk.isReadOnly = false
        cache.fill(1..<2, now: now + 60_000)
        #expect(cache.state == .disk)
        #expect(cache.nextMaintenance == nil)
    }

    @Test func aDiskFullWhileGrowingKeepsWhatItHas() throws {
        let ring = Ring()
        var cache = try ring.open()
        ring.disk.capacity = 3 * DiskRingOptions.smallestSegment + 20_000
        cache.fill(0..<5000)
        #expect(cache.state == .memory(CacheFileError(.write, 28)))
        #expect(!ring.disk.paths.contains { $0.hasSuffix(".new") })
        #expect(cache.numbers() == Array(0..<5000))
        // Uploading makes room of its own.
        let batch = try #require(cache.read(after: 0, maximumCount: 3000, maximumBytes: .max, now: 0))
        cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: 0)
        cache.maintain(now: 100_000)
        #expect(cache.numbers(now: 100_000) == Array(3000..<5000))
        ring.disk.capacity = nil
        cache.maintain(now: 200_000)
        #expect(cache.state == .disk)
        cache = try ring.reopen(cache, crashSeed: 1)
        cache.confirm(serverStoredThrough: batch.lastSequence, now: 0)
        #expect(cache.numbers() == Array(3000..<5000))
    }

    @Test func openingOnAFullDiskUploadsWhatIsThere() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<100)
        ring.disk.crash(seed: 1)
        ring.disk.capacity = ring.disk.usedBytes
        cache = try ring.open()
        #expect(cache.state != .disk)
        #expect(cache.numbers() == Array(0..<100))
    }

    @Test func aFlappingDiskLosesNothing() throws {
        let ring = Ring()
        var cache = try ring.open()
        for round in 0..<40 {
            ring.disk.isReadOnly = round % 2 == 1
            cache.fill(round * 10..<round * 10 + 10, now: 0 + Int64(round) * 100_000)
        }
        ring.disk.isReadOnly = false
        cache.maintain(now: 10_000_000)
        #expect(cache.numbers() == Array(0..<400))
        // Short segments do not keep their preallocation.
        #expect(cache.usage.diskBytes < 5 * DiskRingOptions.smallestSegment)
        cache = try ring.reopen(cache, crashSeed: 5)
        #expect(cache.numbers() == Array(0..<400))
    }

    @Test func everySingleFailedCallIsSurvived() throws {
        // Each call of a history fails once, for each operation; what was accepted is there at the end.
        let probe = Ring()
        let rehearsal = try probe.open()
        Self.play(rehearsal)
        for operation in CacheFileError.Operation.allCases {
            for after in 0..<min(probe.disk.calls[operation] ?? 0, 60) {
                let ring = Ring()
                ring.disk.faults = [DiskFault([operation], after: after, times: 1, number: 5)]
                var cache = try ring.open()
                Self.play(cache)
                cache.maintain(now: 1_000_000)
                let name = "\(operation) \(after)"
                if operation != .read { #expect(cache.state == .disk, "\(name)") }
                #expect(cache.numbers(now: 2_000_000) == Self.expected, "\(name)")
                ring.disk.faults = []
                cache = try ring.reopen(cache, crashSeed: UInt64(after))
                cache.confirm(serverStoredThrough: Self.acknowledged, now: 0)
                #expect(cache.numbers() == Self.expected, "\(name) after a power cut")
            }
        }
    }

    private static let acknowledged: UInt64 = 300
    private static let expected = Array(300..<1000) + Array(1100..<2500)

    private static func play(_ cache: DiskRing) {
        cache.fill(0..<1500)
        var now: MonotonicTime = 400_000
        while cache.firstSequence <= acknowledged, now < 500_000 {
            now += 1000
            cache.maintain(now: now)
            let position = cache.firstSequence - 1
            let rest = Int(acknowledged - position)
            guard let batch = cache.read(after: position, maximumCount: min(100, rest), maximumBytes: .max, now: now)
            else { continue }
            cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: now)
        }
        _ = try? cache.clear(entities: nil, from: 1000, through: 1099, now: 500_000)
        cache.fill(1500..<2500, now: 600_000)
    }

    @Test func shortTransfersAndInterruptionsAreNoTrouble() throws {
        let ring = Ring(seed: 3)
        ring.disk.hasShortTransfers = true
        ring.disk.interruptionOdds = 3
        var cache = try ring.open()
        cache.fill(0..<1500)
        #expect(cache.state == .disk)
        #expect(cache.numbers() == Array(0..<1500))
        cache = try ring.reopen(cache, crashSeed: 5)
        #expect(cache.numbers() == Array(0..<1500))
        #expect(cache.counters.diskErrors.isEmpty)
    }

    @Test func segmentsThatCannotBeDeletedAreDeletedLater() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<3000)
        _ = cache.batches()
        ring.disk.faults = [DiskFault([.unlink], times: 1, number: 5)]
        cache.acknowledge(through: 2000, of: cache.streamID, now: 0)
        let left = ring.segmentPaths.count
        cache.acknowledge(through: 3000, of: cache.streamID, now: 0)
        #expect(left > 2)
        #expect(ring.segmentPaths.count == 1)
    }
}
