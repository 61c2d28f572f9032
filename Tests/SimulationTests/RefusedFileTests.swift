import AgentControl
import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import SystemSimulation

/// An opening passes over a file that the disk refuses, and older files can be read: what the ring does not hold stands
/// in the middle, and what leaves the ring leaves it from the front.
@Suite struct RefusedFileTests {
    /// Segments with so many points each, closed by the end of their process.
    private func ring(_ counts: [Int], payload: Int) throws -> ObservedRing {
        let ring = try ObservedRing(memoryLimit: 1 << 20)
        var next = 1
        for (number, count) in counts.enumerated() {
            if number > 0 {
                ring.disk.killProcess()
                try ring.start()
            }
            try ring.gather(next...(next + count - 1), payload: payload)
            try ring.sync()
            next += count
        }
        return ring
    }

    private func fates(_ ring: ObservedRing, _ numbers: ClosedRange<Int>) -> Set<PointModel.Fate> {
        Set(numbers.map { ring.ledger.entries[$0 - 1].fate })
    }

    /// The reading counted, and met an error: the model looks at the disk once more when the disk works.
    @Test(arguments: 1...3)
    func whatWasPassedOverDoesNotMoveTheOldest(segment: Int) throws {
        let ring = try ring([5, 5, 5], payload: 1)
        try ring.startRefusing(segment: segment)
        try ring.observe()
        #expect(ring.cache.count == 10)
        try ring.gather(16...18, payload: 1)
        try ring.sync()
        #expect(!ring.ledger.isBlurred)
        #expect(ring.ledger.waiting == Array(0..<18))
        // All but what may be gone must be there.
        #expect(ring.ledger.entries.indices.filter { ring.ledger.entries[$0].doubt == nil }.count == 13)
    }

    /// The checker excuses what stood in the refused file, and nothing else.
    @Test func whatCouldBeReadMustNotBePassedOver() throws {
        let ring = try ring([5, 5, 5], payload: 1)
        try ring.startRefusing(segment: 2)
        try ring.observe()
        try ring.gather(16...18, payload: 1)
        // Nobody has stored a point.
        let batch = try #require(ring.cache.read(after: 0, maximumCount: 1, maximumBytes: 1000, now: ring.now))
        ring.cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: ring.now)
        #expect(ring.cache.unsynchronisedCount == 3 && ring.ledger.isBlurred)
        try ring.observe()
        #expect(throws: Violation.self) { try ring.sync() }
    }

    /// The bound takes the files before and behind the refused one, while the model does not know what the ring counts.
    @Test(arguments: [false, true])
    func theBoundPassesARefusedFile(cannotDelete: Bool) throws {
        let ring = try ring([5, 5, 5], payload: 1000)
        ring.options.limit = 3 * ObservedRing.segmentBytes
        try ring.startRefusing(segment: 2)
        try ring.observe()
        try ring.gather(16...157)
        #expect(ring.cache.counters.droppedByBound == 0 && ring.ledger.isBlurred)
        if cannotDelete { ring.disk.faults = [DiskFault([.unlink], number: 5)] }
        try ring.gather(158...158)
        #expect(ring.cache.counters.droppedByBound == 10)
        try ring.sync()
        #expect(!ring.ledger.isBlurred)
        #expect(fates(ring, 1...5) == [.droppedByBound] && fates(ring, 11...15) == [.droppedByBound])
        #expect(fates(ring, 16...158) == [.waiting])
    }

    /// The same in the operation that reads.
    @Test func theBoundPassesARefusedFileAtTheReading() throws {
        let ring = try ring([40, 5, 40, 40], payload: 1000)
        ring.options.limit = 2 * ObservedRing.segmentBytes
        try ring.startRefusing(segment: 2)
        #expect(ring.cache.counters.droppedByBound == 80)
        try ring.observe()
        try ring.sync()
        #expect(fates(ring, 1...40) == [.droppedByBound] && fates(ring, 46...85) == [.droppedByBound])
        #expect(fates(ring, 86...125) == [.waiting])
    }

    /// The same when the file that the bound took does not go.
    @Test func theBoundPassesARefusedFileThoughNothingCanBeDeleted() throws {
        let ring = try ring([5, 40, 40, 40], payload: 1000)
        ring.options.limit = 2 * ObservedRing.segmentBytes
        try ring.startRefusing(segment: 1, [DiskFault([.unlink], number: 5)])
        #expect(ring.cache.counters.droppedByBound == 80)
        try ring.observe()
        try ring.sync()
        #expect(fates(ring, 6...85) == [.droppedByBound])
        #expect(fates(ring, 86...125) == [.waiting])
    }

    /// The power goes in the operation in which the bound takes the files before and behind the refused one.
    @Test(arguments: 1...20)
    func theBoundPassesARefusedFileAndThePowerGoes(seed: UInt64) throws {
        let ring = try ring([5, 5, 5], payload: 1000)
        ring.options.limit = 3 * ObservedRing.segmentBytes
        try ring.startRefusing(segment: 2)
        try ring.observe()
        try ring.gather(16...157)
        ring.disk.callsUntilPowerFailure = Int(seed)
        ring.cache.append(entity: "van", time: 158, payload: [UInt8](repeating: 7, count: 1000), now: ring.now)
        guard !ring.disk.hasPower else { return }
        ring.interrupted(seed: seed)
        // What this process counts must not make up for it.
        ring.options.limit = nil
        try ring.start()
        #expect(fates(ring, 16...150) == [.waiting])
    }

    /// A spoiled point in the segment that an interrupted opening drops is not counted with the others.
    @Test(arguments: 1...40)
    func aSpoiledPointDoesNotMoveWhatAnInterruptedOpeningDropped(seed: UInt64) throws {
        let ring = try ObservedRing(limit: 3 * ObservedRing.segmentBytes)
        try ring.gather(1...230)
        try ring.sync()
        ring.disk.killProcess()
        let before = ring.content
        let path = try #require(ring.disk.paths.first { $0.hasSuffix(".segment") })
        ring.disk.flip(bit: 0, at: 8192 + 31 + 5 * 1028 + 500, of: path)
        ring.ledger.flipped(from: before, to: ring.content)
        try ring.start(withPowerFailingAfter: seed)
        #expect(ring.ledger.waiting.count == Int(ring.cache.count))
    }

    /// The ring gives a file up, newer points are stored, and the next opening finds the file again. An acknowledgement
    /// covers some of its points, and the ring cannot count them: it cannot read the file, in which a clear left a hole.
    @Test func whatLeftUncountedDoesNotWait() throws {
        let ring = try ring([8], payload: 1)
        try ring.clear(CacheSelection(entities: ["van"], from: 3, through: 3))
        try ring.sync()
        ring.disk.faults = [DiskFault([.open, .read], number: 5)]
        for moment in [1000, 20_000, 40_000] as [MonotonicTime] {
            ring.now = moment
            #expect(ring.cache.read(after: 0, maximumCount: 10, maximumBytes: 1000, now: moment) == nil)
            try ring.observe()
        }
        ring.disk.faults = []
        #expect(ring.cache.counters.unreadableRecords == 7)
        try ring.gather(9...9, payload: 1)
        try ring.sync()
        try ring.upload(1)
        ring.disk.killProcess()
        // The ledger does not have the acknowledgement yet.
        try ring.start()
        #expect(ring.cache.count >= 7 && ring.ledger.entries[0].doubt == .refusedFile)
        try ring.gather(10...10, payload: 1)
        try ring.sync()
        try ring.upload(2) { ring.disk.faults = [DiskFault([.open], times: 1, number: 5)] }
        let isBlurred = ring.ledger.isBlurred
        #expect(isBlurred && ring.cache.counters.acknowledged == 0)
        try ring.sync()
        while ring.cache.count > 0 { try ring.upload(1) }
        #expect(ring.ledger.waiting.isEmpty)
    }

    /// The refused file holds a clear, which also names points that the server has and the ring's ledger does not.
    @Test func whatTheServerHasComesBackWithoutTheClear() throws {
        let ring = try ring([4], payload: 1)
        try ring.gather(5...5, as: "bus", payload: 1)
        try ring.sync()
        ring.disk.killProcess()
        try ring.start()
        try ring.gather(6...8, payload: 1)
        try ring.sync()
        try ring.upload(4)
        try ring.clear(CacheSelection(entities: ["van"], from: 1, through: 6))
        #expect(ring.cache.counters.cleared == 1)
        try ring.startRefusing(segment: 2)
        try ring.observe()
        #expect(ring.cache.count == 5)
        try ring.gather(9...9, payload: 1)
        try ring.sync()
        #expect(!ring.ledger.isBlurred)
        // Two points of the refused file are in doubt.
        #expect(ring.ledger.waiting == [0, 1, 2, 3, 4, 6, 7, 8])
        #expect(ring.ledger.entries.indices.filter { ring.ledger.entries[$0].doubt != nil } == [6, 7])
    }

    /// The same when the server's answer was lost, so that the clear took what the server has.
    @Test func whatTheServerHasAndAPersonClearedComesBackWithoutTheClear() throws {
        let ring = try ring([5, 3], payload: 1)
        let batch = try #require(ring.cache.read(after: 0, maximumCount: 4, maximumBytes: 1000, now: ring.now))
        for number in 1...4 {
            try ring.ledger.stored(TrackPoint(ObservedRing.fix(number)), entity: "van", at: ring.now)
        }
        ring.ledger.committed(batch.stream.bytes, through: batch.lastSequence)
        try ring.clear(CacheSelection(entities: ["van"], from: 1, through: 4))
        #expect(ring.cache.counters.cleared == 4 && fates(ring, 1...4) == [.cleared(isDurable: true)])
        try ring.startRefusing(segment: 2)
        try ring.observe()
        #expect(ring.cache.count == 5)
        try ring.gather(9...9, payload: 1)
        try ring.sync()
        #expect(ring.ledger.waiting == Array(0..<9))
    }

    /// The bound takes the file that the disk refused, and the disk deletes the file in a later operation.
    @Test func theDiskMayDeleteLaterWhatTheBoundTook() throws {
        let ring = try ring([5, 5, 5], payload: 1000)
        ring.disk.killProcess()
        ring.options.limit = 4 * ObservedRing.segmentBytes
        try ring.start()
        ring.disk.faults = [DiskFault([.open, .read], number: 5)]
        for _ in 1...3 {
            _ = ring.cache.read(after: 0, maximumCount: 1, maximumBytes: 1 << 20, now: ring.now)
            try ring.observe()
            ring.now += 60_000
        }
        #expect(ring.cache.counters.unreadableRecords == 5)
        ring.disk.faults = [DiskFault([.unlink], number: 5)]
        var next = 16
        while ring.cache.counters.segmentsDropped == 0 {
            try ring.gather(next...next)
            next += 1
        }
        try ring.sync()
        #expect(ring.content.points.contains { $0.segment == 1 })
        ring.disk.faults = []
        // An acknowledgement deletes what is finished, and what is still to be deleted.
        try ring.upload(10)
        #expect(!ring.content.points.contains { $0.segment == 1 })
    }
}
