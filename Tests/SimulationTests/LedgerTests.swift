import AgentControl
import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import SystemSimulation

/// The ledger beside a real ring, in the one-in-a-thousand moments.
@Suite struct LedgerTests {
    /// The disk fails when the ring needs room for a new segment: the bound takes the oldest, memory cannot hold the newest,
    /// and what lies between is durable and must be found again.
    @Test func whatTheBoundTakesDoesNotMoveWhatMemoryDrops() throws {
        let ring = try ObservedRing(limit: 2 * ObservedRing.segmentBytes)
        try ring.gather(1...120)
        try ring.sync()
        try ring.gather(121...130)
        ring.disk.faults = [DiskFault([.write, .synchronizeData], number: 5)]
        try ring.sync()
        #expect(ring.cache.counters.droppedByBound > 0)
        #expect(ring.cache.counters.droppedInMemory > 0)
        ring.disk.crash(seed: 1)
        ring.disk.faults = []
        try ring.start()
    }

    /// A clear on a disk that takes no writes: the same operation drops the oldest points behind what is durable.
    @Test func whatAClearTakesDoesNotMoveWhatMemoryDrops() throws {
        let ring = try ObservedRing()
        try ring.gather(1...10, bytes: 500)
        try ring.sync()
        try ring.gather(11...20, as: "bus", bytes: 500)
        ring.disk.isReadOnly = true
        try ring.clear(CacheSelection(entities: ["van"]))
        #expect(ring.cache.counters.cleared == 10)
        #expect(ring.cache.counters.droppedInMemory > 0)
        ring.disk.isReadOnly = false
        ring.now = 100_000
        ring.cache.maintain(now: ring.now)
        #expect(ring.cache.state == .disk)
        try ring.observe()
    }

    /// The bound takes the oldest segment to make room, and the power goes before the ring is open.
    @Test(arguments: 1...40)
    func whatAnInterruptedOpeningDroppedIsNotMissed(seed: UInt64) throws {
        let ring = try ObservedRing(limit: 3 * ObservedRing.segmentBytes)
        try ring.gather(1...230)
        try ring.sync()
        #expect(ring.cache.usage.segments == 3)
        ring.disk.killProcess()
        try ring.start(withPowerFailingAfter: seed)
        #expect(ring.ledger.waiting.count == Int(ring.cache.count))
    }

    /// A batch is on its way when its process dies, and the next opening drops its points: the server may store them then.
    @Test func whatAnOpeningDropsHasGoneJustNow() throws {
        let ring = try ObservedRing(limit: 3 * ObservedRing.segmentBytes)
        try ring.gather(1...230)
        try ring.sync()
        let oldest = try #require(ring.ledger.waiting.first)
        ring.disk.killProcess()
        ring.now = 3_600_000
        try ring.start()
        #expect(ring.cache.counters.droppedByBound > 0)
        try ring.ledger.stored(TrackPoint(try ObservedRing.fix(oldest + 1)), entity: "van", at: ring.now + 1000)
    }

    /// The operation that reads the disk at last also drops the oldest of it. What waits in memory is not the oldest.
    @Test func whatTheBoundTakesAtALateReadingIsOnTheDisk() throws {
        let ring = try ObservedRing(limit: 2 * ObservedRing.segmentBytes, memoryLimit: 1 << 20)
        try ring.gather(1...140)
        try ring.sync()
        #expect(ring.cache.usage.segments == 2)
        ring.disk.killProcess()
        ring.disk.faults = [DiskFault([.read], number: 5)]
        try ring.start()
        try ring.gather(141...143)
        #expect(!ring.cache.hasRead)
        ring.disk.faults = [DiskFault([.rename], number: 5)]
        try ring.maintain()
        try ring.observe()
        let dropped = Int(ring.cache.counters.droppedByBound)
        #expect(dropped > 0)
        #expect(ring.ledger.waiting == Array(dropped..<143))
    }

    /// A segment that the ring gave up waits no more, though the model cannot say which points it held.
    @Test func whatIsGivenUpDoesNotWait() throws {
        let ring = try ObservedRing()
        for number in 1...3 {
            ring.ledger.choose(try ObservedRing.fix(number), entity: "van", at: 0 + Int64(number))
            ring.cache.append(entity: "van", time: Int64(number), payload: [7], now: 0)
            try ring.observe()
        }
        try ring.sync()
        #expect(ring.ledger.oldestWaiting(at: 101, count: ring.cache.count) == 100)
        ring.disk.faults = [DiskFault([.open, .read], number: 5)]
        for moment in [0, 20_000, 40_000] as [MonotonicTime] {
            ring.now = moment
            #expect(ring.cache.read(after: 0, maximumCount: 10, maximumBytes: 1000, now: moment) == nil)
            try ring.observe()
        }
        #expect(ring.cache.counters.unreadableRecords == 3)
        #expect(ring.ledger.oldestWaiting(at: 2_000_000, count: ring.cache.count) == nil)
    }

    /// A receiver is wrong twice while the disk cannot be read: the second wrong point is in memory, and is dropped at once.
    @Test func ofTwoWrongDatesTheOneInMemoryIsCountedFirst() throws {
        let ring = try ObservedRing()
        try ring.gather(1...4, payload: 1)
        try ring.sync()
        ring.disk.faults = [DiskFault([.open, .write, .synchronizeData], number: 5)]
        try ring.gather(5...7, payload: 1)
        try ring.disprove(4...4)
        #expect(ring.cache.counters.disproved == 0)
        try ring.disprove(6...6)
        #expect(ring.cache.counters.disproved == 1)
        #expect(ring.ledger.waiting == [0, 1, 2, 3, 4, 6])
        ring.disk.killProcess()
        ring.disk.faults = []
        try ring.start()
        #expect(ring.ledger.waiting.count == Int(ring.cache.count))
    }

    /// A person clears a part of the oldest segment while the disk cannot be read. The operation that reads it at last drops
    /// this segment, and counts what was not cleared.
    @Test func aClearBeforeTheReadingIsNotCountedAsDropped() throws {
        let ring = try ObservedRing(limit: 2 * ObservedRing.segmentBytes)
        try ring.gather(1...100)
        try ring.sync()
        #expect(ring.cache.usage.segments == 2)
        ring.disk.killProcess()
        ring.disk.faults = [DiskFault([.open], number: 5)]
        try ring.start()
        try ring.clear(CacheSelection(entities: ["van"], from: 1, through: 30))
        ring.disk.faults = []
        try ring.maintain()
        #expect(ring.cache.counters.droppedByBound > 0)
        try ring.observe()
        #expect(ring.ledger.waiting.count == Int(ring.cache.count))
    }

    /// A clear that was made before the disk could be read takes nothing that is gathered after the reading, also when a
    /// disk error makes the model look at the disk once more.
    @Test func aClearBeforeTheReadingTakesNothingLater() throws {
        let ring = try ObservedRing()
        func waitForTheDisk() throws {
            try ring.maintain()
            try ring.observe()
            #expect(ring.cache.state == .disk)
        }
        try ring.gather(1...10, payload: 1)
        try ring.sync()
        ring.disk.killProcess()
        ring.disk.faults = [DiskFault([.open], number: 5)]
        try ring.start()
        try ring.clear(CacheSelection(entities: ["van"], from: 5))
        ring.disk.faults = []
        try waitForTheDisk()
        try ring.gather(11...20, payload: 1)
        try ring.sync()
        ring.disk.isReadOnly = true
        try ring.clear(CacheSelection(entities: ["van"], from: 15, through: 16))
        ring.disk.isReadOnly = false
        try waitForTheDisk()
        #expect(ring.ledger.waiting.count == Int(ring.cache.count))
        #expect(ring.cache.count == 12)
    }

    /// The power goes in the operation that reads the disk at last and deletes what was cleared before: the clear itself may
    /// not be on the disk.
    @Test(arguments: 1...30)
    func aClearBeforeTheReadingMayBeHalfDone(seed: UInt64) throws {
        let ring = try ObservedRing(limit: 2 * ObservedRing.segmentBytes)
        try ring.gather(1...120)
        try ring.sync()
        ring.disk.killProcess()
        ring.disk.faults = [DiskFault([.open], number: 5)]
        try ring.start()
        try ring.clear(CacheSelection())
        ring.disk.faults = []
        ring.disk.callsUntilPowerFailure = Int(seed)
        try ring.maintain()
        if ring.disk.hasPower {
            try ring.observe()
        } else {
            ring.interrupted(seed: seed)
            try ring.start()
        }
        #expect(ring.ledger.waiting.count == Int(ring.cache.count))
    }

    /// What a killed process could not make durable stands on the disk all the same, and a clear that was made before the
    /// disk could be read takes it.
    @Test func aClearBeforeTheReadingTakesWhatWasNotDurable() throws {
        let ring = try ObservedRing()
        try ring.gather(1...10, payload: 1)
        #expect(ring.cache.unsynchronisedCount == 10)
        ring.disk.killProcess()
        ring.disk.faults = [DiskFault([.open], number: 5)]
        try ring.start()
        try ring.clear(CacheSelection(entities: ["van"], from: 5))
        ring.disk.faults = []
        try ring.maintain()
        try ring.observe()
        #expect(ring.cache.count == 4)
        #expect(ring.ledger.waiting == Array(0..<4))
    }

    /// A segment with nothing but a clear takes room as long as the segment that the clear may be about.
    @Test func theBoundCountsAClearThatGoesWithWhatItIsAbout() throws {
        let ring = try ObservedRing(limit: 2 * ObservedRing.segmentBytes)
        try ring.gather(1...71)
        try ring.sync()
        ring.disk.killProcess()
        try ring.start()
        try ring.clear(CacheSelection(entities: ["van"], from: 1, through: 3))
        #expect(ring.cache.usage.segments == 2)
        ring.disk.killProcess()
        try ring.open()
        #expect(ring.cache.counters.droppedByBound == 68)
        try ring.started()
    }

    /// A bit flipped in a segment that the bound then takes: the spoiled point is not counted with the others.
    @Test func theBoundDoesNotCountWhatNobodyCanRead() throws {
        let ring = try ObservedRing(limit: 2 * ObservedRing.segmentBytes)
        try ring.gather(1...75)
        try ring.sync()
        ring.disk.killProcess()
        let before = ring.content
        let path = try #require(ring.disk.paths.first { $0.hasSuffix(".segment") })
        ring.disk.flip(bit: 0, at: 8192 + 31 + 5 * 1028 + 500, of: path)
        ring.ledger.flipped(from: before, to: ring.content)
        try ring.open()
        #expect(ring.cache.counters.droppedByBound == 70)
        try ring.started()
        #expect(ring.ledger.waiting == Array(71..<75))
    }
}
