import AgentControl
import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import SystemSimulation

/// What the model makes of a reading that has several causes to bring less than stood there.
@Suite struct ReadingTests {
    private func fates(_ ring: ObservedRing, _ numbers: ClosedRange<Int>) -> Set<PointModel.Fate> {
        Set(numbers.map { ring.ledger.entries[$0 - 1].fate })
    }

    /// The server begins again with an earlier store, so it lacks what the ring's ledger calls acknowledged. The bound takes the
    /// rest of the same file, and the disk does not delete the file.
    @Test func whatTheServerLostIsNotWhatTheBoundTook() throws {
        let ring = try ObservedRing()
        try ring.gather(1...40)
        try ring.sync()
        let kept = ring.ledger.storedPoints
        // Late enough for the ledger to be written.
        ring.now = 400_000
        try ring.upload(5)
        #expect(ring.content.acknowledged > 0)
        ring.ledger.serverRestored(kept, told: [:])
        for numbers in [41...80, 81...120] {
            ring.disk.killProcess()
            try ring.start()
            try ring.gather(numbers)
            try ring.sync()
        }
        ring.disk.killProcess()
        ring.options.limit = 2 * ObservedRing.segmentBytes
        ring.disk.faults = [DiskFault([.unlink], number: 5)]
        try ring.start()
        #expect(ring.cache.counters.droppedByBound == 75)
        try ring.sync()
        #expect(fates(ring, 1...5) == [.acknowledged])
        #expect(fates(ring, 6...80) == [.droppedByBound])
        #expect(fates(ring, 81...120) == [.waiting])
    }

    /// The disk refuses a part of a file. It takes what was in memory and does not synchronise it, so these points stand there, and in
    /// memory.
    @Test(arguments: 7...9, 3...6)
    func whatStandsThereAndInMemoryCountsOnce(reads: Int, synchronisations: Int) throws {
        let ring = try ObservedRing(memoryLimit: 1 << 20)
        ring.disk.killProcess()
        // Of a file that takes several calls to read the ring has a part.
        ring.options.segmentBytes = 300 * 1024
        try ring.start()
        // Two files of one process: the name of the second one tells how many the first one has.
        try ring.gather(1...400)
        try ring.sync()
        let more = [
            DiskFault([.read], after: reads, times: 1, number: 5),
            DiskFault([.synchronize, .synchronizeData], after: synchronisations, number: 5),
        ]
        try ring.startRefusing(segment: 99, more, gathering: 401...404)
        try ring.observe()
        ring.disk.faults = []
        try ring.sync()
        #expect(fates(ring, 401...404) == [.waiting])
    }

    /// Points from 1 to the number that is returned, on a disk that kept the ring from counting, until the bound takes the oldest file.
    /// The model does not observe that operation.
    private func droppedUnseen() throws -> (ring: ObservedRing, last: Int) {
        let ring = try ObservedRing(limit: 3 * ObservedRing.segmentBytes)
        try ring.gather(1...200)
        try ring.sync()
        ring.ledger.isBlurred = true
        var number = 200
        while ring.cache.counters.droppedByBound == 0 {
            number += 1
            ring.ledger.choose(try ObservedRing.fix(number), entity: "van", bytes: 1000)
            ring.cache.append(
                entity: "van", time: Int64(number), payload: [UInt8](repeating: 7, count: 1000), now: ring.now)
        }
        return (ring, number)
    }

    /// A disk error keeps the ring from counting. Then the bound takes the oldest file, and the ring passes over three points behind
    /// it that nobody has stored.
    @Test func theBoundExcusesOnlyWhatItTook() throws {
        let ring = try droppedUnseen().ring
        let batch = try #require(ring.cache.read(after: 0, maximumCount: 3, maximumBytes: 1 << 20, now: ring.now))
        ring.cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: ring.now)
        ring.cache.sync(now: ring.now)
        #expect(throws: Violation.self) { try ring.observe() }
    }

    /// The same without the three points.
    @Test func whatTheBoundTookIsExcusedWhileNobodyCounts() throws {
        let (ring, last) = try droppedUnseen()
        let dropped = Int(ring.cache.counters.droppedByBound)
        ring.cache.sync(now: ring.now)
        try ring.observe()
        #expect(!ring.ledger.isBlurred)
        #expect(fates(ring, 1...dropped) == [.droppedByBound])
        #expect(fates(ring, (dropped + 1)...last) == [.waiting])
    }

    /// The power goes while the ring takes points with a wrong date. What it has taken may be gone, and no other point.
    @Test(arguments: 1...12, 1...8 as ClosedRange<UInt64>)
    func aPowerCutMayTakeWhatHadAWrongDate(calls: Int, seed: UInt64) throws {
        let ring = try ObservedRing()
        try ring.gather(1...10)
        try ring.sync()
        ring.ledger.expectDisproved(4...6)
        ring.disk.callsUntilPowerFailure = calls
        _ = try? ring.cache.clear(entities: nil, from: 4, through: 6, as: .wrongDate, now: ring.now)
        ring.interrupted(seed: seed)
        ring.disk.callsUntilPowerFailure = nil
        try ring.start()
        #expect(fates(ring, 1...3) == [.waiting])
        #expect(fates(ring, 7...10) == [.waiting])
    }
}
