import AgentControl
import Testing
import TrackCache
import TrackModel
import TrackTestKit

@testable import SystemSimulation

/// The ledger beside a real ring, in the one-in-a-thousand moments.
@Suite struct LedgerTests {
    private let disk = DiskSimulation(directories: ["/var"])
    private let options = TrackCacheOptions(
        memoryLimit: 4096, syncInterval: 3_600_000,
        segmentBytes: TrackCacheOptions.smallestSegment)

    private func open(_ disk: DiskSimulation, limit: Int?) throws -> TrackCache {
        var options = options
        options.limit = limit
        return try TrackCache(directory: "/ring", options: options, fileSystem: disk, now: 0)
    }

    private func fix(_ number: Int) throws -> Fix {
        let place = try #require(Coordinate(latitudeE7: Int32(number), longitudeE7: 7))
        return Fix(time: Timestamp(milliseconds: Int64(number)), coordinate: place, mode: .threeDimensional)
    }

    /// A record's time is its number.
    private func witness() -> DiskWitness {
        DiskWitness(disk, directory: "/ring") { _, time in try? fix(Int(time)) }
    }

    /// The disk fails when the ring needs room for a new segment: the bound takes the oldest, memory cannot hold the newest,
    /// and what lies between is durable and must be found again.
    @Test func whatTheBoundTakesDoesNotMoveWhatMemoryDrops() throws {
        var ledger = PointLedger()
        var cache = try open(disk, limit: 2 * options.segmentBytes)
        let witness = witness()
        try ledger.processStarted(cache, witness)
        var number = 0
        func gather() throws {
            number += 1
            ledger.choose(try fix(number), entity: "van", bytes: 1000)
            cache.append(entity: "van", time: Int64(number), payload: [UInt8](repeating: 7, count: 1000), now: 0)
            try ledger.observe(cache, .other, at: 0, witness)
        }
        while number < 120 { try gather() }
        cache.sync(now: 0)
        try ledger.observe(cache, .other, at: 0, witness)
        for _ in 0..<10 { try gather() }
        disk.faults = [DiskFault([.write, .synchronizeData], number: 5)]
        cache.sync(now: 0)
        try ledger.observe(cache, .other, at: 0, witness)
        #expect(cache.counters.droppedByBound > 0)
        #expect(cache.counters.droppedInMemory > 0)
        disk.crash(seed: 1)
        disk.faults = []
        cache = try open(disk, limit: 2 * options.segmentBytes)
        try ledger.processStarted(cache, witness)
    }

    /// A clear on a disk that takes no writes: the same operation drops the oldest points behind what is durable.
    @Test func whatAClearTakesDoesNotMoveWhatMemoryDrops() throws {
        var ledger = PointLedger()
        let cache = try open(disk, limit: nil)
        let witness = witness()
        try ledger.processStarted(cache, witness)
        func gather(_ numbers: ClosedRange<Int>, _ entity: String) throws {
            for number in numbers {
                ledger.choose(try fix(number), entity: entity, bytes: 500)
                cache.append(entity: entity, time: Int64(number), payload: [UInt8](repeating: 7, count: 500), now: 0)
                try ledger.observe(cache, .other, at: 0, witness)
            }
        }
        try gather(1...10, "van")
        cache.sync(now: 0)
        try ledger.observe(cache, .other, at: 0, witness)
        try gather(11...20, "bus")
        disk.isReadOnly = true
        let clear = CacheSelection(entities: ["van"])
        _ = try cache.clear(entities: clear.entities, from: nil, through: nil, now: 0)
        #expect(cache.counters.cleared == 10)
        #expect(cache.counters.droppedInMemory > 0)
        try ledger.observe(cache, .clear(clear), at: 0, witness)
        disk.isReadOnly = false
        cache.maintain(now: 100_000)
        #expect(cache.state == .disk)
        try ledger.observe(cache, .other, at: 100_000, witness)
    }

    /// The bound takes the oldest segment to make room, and the power goes before the ring is open.
    @Test(arguments: 1...40)
    func whatAnInterruptedOpeningDroppedIsNotMissed(seed: UInt64) throws {
        let limit = 3 * options.segmentBytes
        var ledger = PointLedger()
        let witness = witness()
        var cache = try open(disk, limit: limit)
        try ledger.processStarted(cache, witness)
        for number in 1...230 {
            ledger.choose(try fix(number), entity: "van", bytes: 1000)
            cache.append(entity: "van", time: Int64(number), payload: [UInt8](repeating: 7, count: 1000), now: 0)
            try ledger.observe(cache, .other, at: 0, witness)
        }
        cache.sync(now: 0)
        try ledger.observe(cache, .other, at: 0, witness)
        #expect(cache.usage.segments == 3)
        disk.killProcess()
        disk.callsUntilPowerFailure = Int(seed)
        cache = try open(disk, limit: limit)
        let isInterrupted = !disk.hasPower
        if isInterrupted {
            disk.crash(seed: seed)
            ledger.openingInterrupted(cache, witness)
            disk.callsUntilPowerFailure = nil
            cache = try open(disk, limit: limit)
        }
        try ledger.processStarted(cache, witness)
        #expect(ledger.waiting.count == Int(cache.count))
    }

    /// The operation that reads the disk at last also drops the oldest of it. What waits in memory is not the oldest.
    @Test func whatTheBoundTakesAtALateReadingIsOnTheDisk() throws {
        let options = TrackCacheOptions(
            limit: 2 * TrackCacheOptions.smallestSegment, memoryLimit: 1 << 20, syncInterval: 3_600_000,
            segmentBytes: TrackCacheOptions.smallestSegment)
        func open() throws -> TrackCache {
            try TrackCache(directory: "/ring", options: options, fileSystem: disk, now: 0)
        }
        var ledger = PointLedger()
        let witness = witness()
        var cache = try open()
        try ledger.processStarted(cache, witness)
        func gather(_ numbers: ClosedRange<Int>) throws {
            for number in numbers {
                ledger.choose(try fix(number), entity: "van", bytes: 1000)
                cache.append(entity: "van", time: Int64(number), payload: [UInt8](repeating: 7, count: 1000), now: 0)
                try ledger.observe(cache, .other, at: 0, witness)
            }
        }
        try gather(1...140)
        cache.sync(now: 0)
        try ledger.observe(cache, .other, at: 0, witness)
        #expect(cache.usage.segments == 2)
        disk.killProcess()
        disk.faults = [DiskFault([.read], number: 5)]
        cache = try open()
        try ledger.processStarted(cache, witness)
        try gather(141...143)
        #expect(!cache.hasRead)
        disk.faults = [DiskFault([.rename], number: 5)]
        let due = try #require(cache.nextMaintenance)
        cache.maintain(now: due)
        try ledger.observe(cache, .other, at: due, witness)
        let dropped = Int(cache.counters.droppedByBound)
        #expect(dropped > 0)
        #expect(ledger.waiting == Array(dropped..<143))
    }

    /// A segment that the ring gave up waits no more, though the model cannot say which points it held.
    @Test func whatIsGivenUpDoesNotWait() throws {
        var ledger = PointLedger()
        let cache = try open(disk, limit: nil)
        let witness = witness()
        try ledger.processStarted(cache, witness)
        for number in 1...3 {
            ledger.choose(try fix(number), entity: "van", at: 0 + Int64(number))
            cache.append(entity: "van", time: Int64(number), payload: [7], now: 0)
            try ledger.observe(cache, .other, at: 0, witness)
        }
        cache.sync(now: 0)
        try ledger.observe(cache, .other, at: 0, witness)
        #expect(ledger.oldestWaiting(at: 101, count: cache.count) == 100)
        disk.faults = [DiskFault([.open, .read], number: 5)]
        for moment in [0, 20_000, 40_000] as [MonotonicTime] {
            #expect(cache.read(after: 0, maximumCount: 10, maximumBytes: 1000, now: moment) == nil)
            try ledger.observe(cache, .other, at: moment, witness)
        }
        #expect(cache.counters.unreadableRecords == 3)
        #expect(ledger.oldestWaiting(at: 2_000_000, count: cache.count) == nil)
    }

    /// A person clears a part of the oldest segment while the disk cannot be read. The operation that reads it at last drops
    /// this segment, and counts what was not cleared.
    @Test func aClearBeforeTheReadingIsNotCountedAsDropped() throws {
        let limit = 2 * options.segmentBytes
        var ledger = PointLedger()
        let witness = witness()
        var cache = try open(disk, limit: limit)
        try ledger.processStarted(cache, witness)
        func gather(_ numbers: ClosedRange<Int>) throws {
            for number in numbers {
                ledger.choose(try fix(number), entity: "van", bytes: 1000)
                cache.append(entity: "van", time: Int64(number), payload: [UInt8](repeating: 7, count: 1000), now: 0)
                try ledger.observe(cache, .other, at: 0, witness)
            }
        }
        try gather(1...100)
        cache.sync(now: 0)
        try ledger.observe(cache, .other, at: 0, witness)
        #expect(cache.usage.segments == 2)
        disk.killProcess()
        disk.faults = [DiskFault([.open], number: 5)]
        cache = try open(disk, limit: limit)
        try ledger.processStarted(cache, witness)
        let clear = CacheSelection(entities: ["van"], from: 1, through: 30)
        _ = try cache.clear(entities: clear.entities, from: clear.from, through: clear.through, now: 0)
        try ledger.observe(cache, .clear(clear), at: 0, witness)
        disk.faults = []
        let due = try #require(cache.nextMaintenance)
        cache.maintain(now: due)
        #expect(cache.counters.droppedByBound > 0)
        try ledger.observe(cache, .other, at: due, witness)
        #expect(ledger.waiting.count == Int(cache.count))
    }

    /// A clear that was made before the disk could be read takes nothing that is gathered after the reading, also when a
    /// disk error makes the model look at the disk once more.
    @Test func aClearBeforeTheReadingTakesNothingLater() throws {
        var ledger = PointLedger()
        let witness = witness()
        var cache = try open(disk, limit: nil)
        try ledger.processStarted(cache, witness)
        var now: MonotonicTime = 0
        func gather(_ numbers: ClosedRange<Int>) throws {
            for number in numbers {
                ledger.choose(try fix(number), entity: "van", bytes: 1000)
                cache.append(entity: "van", time: Int64(number), payload: [7], now: now)
                try ledger.observe(cache, .other, at: now, witness)
            }
            cache.sync(now: now)
            try ledger.observe(cache, .other, at: now, witness)
        }
        func clear(_ selection: CacheSelection) throws {
            _ = try cache.clear(
                entities: selection.entities, from: selection.from, through: selection.through, now: now)
            try ledger.observe(cache, .clear(selection), at: now, witness)
        }
        func waitForTheDisk() throws {
            now = try #require(cache.nextMaintenance)
            cache.maintain(now: now)
            try ledger.observe(cache, .other, at: now, witness)
            #expect(cache.state == .disk)
        }
        try gather(1...10)
        disk.killProcess()
        disk.faults = [DiskFault([.open], number: 5)]
        cache = try open(disk, limit: nil)
        try ledger.processStarted(cache, witness)
        try clear(CacheSelection(entities: ["van"], from: 5))
        disk.faults = []
        try waitForTheDisk()
        try gather(11...20)
        disk.isReadOnly = true
        try clear(CacheSelection(entities: ["van"], from: 15, through: 16))
        disk.isReadOnly = false
        try waitForTheDisk()
        #expect(ledger.waiting.count == Int(cache.count))
        #expect(cache.count == 12)
    }

    /// The power goes in the operation that reads the disk at last and deletes what was cleared before: the clear itself may
    /// not be on the disk.
    @Test(arguments: 1...30)
    func aClearBeforeTheReadingMayBeHalfDone(seed: UInt64) throws {
        let limit = 2 * options.segmentBytes
        var ledger = PointLedger()
        let witness = witness()
        var cache = try open(disk, limit: limit)
        try ledger.processStarted(cache, witness)
        for number in 1...120 {
            ledger.choose(try fix(number), entity: "van", bytes: 1000)
            cache.append(entity: "van", time: Int64(number), payload: [UInt8](repeating: 7, count: 1000), now: 0)
            try ledger.observe(cache, .other, at: 0, witness)
        }
        cache.sync(now: 0)
        try ledger.observe(cache, .other, at: 0, witness)
        disk.killProcess()
        disk.faults = [DiskFault([.open], number: 5)]
        cache = try open(disk, limit: limit)
        try ledger.processStarted(cache, witness)
        _ = try cache.clear(entities: nil, from: nil, through: nil, now: 0)
        try ledger.observe(cache, .clear(CacheSelection()), at: 0, witness)
        disk.faults = []
        disk.callsUntilPowerFailure = Int(seed)
        let due = try #require(cache.nextMaintenance)
        cache.maintain(now: due)
        if disk.hasPower {
            try ledger.observe(cache, .other, at: due, witness)
        } else {
            ledger.interrupted(cache, .other)
            disk.crash(seed: seed)
            _ = witness.takeOperation()
            cache = try open(disk, limit: limit)
            try ledger.processStarted(cache, witness)
        }
        #expect(ledger.waiting.count == Int(cache.count))
    }
}
