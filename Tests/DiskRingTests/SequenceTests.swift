import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

@Suite struct SequenceTests {
    @Test func aRangeBeginsAfterEverythingSeen() {
        let range: UInt64 = 1 << 32
        #expect(SequenceRange.start(after: 0) == 1)
        #expect(SequenceRange.start(after: 1) == range + 1)
        #expect(SequenceRange.start(after: range) == range + 1)
        #expect(SequenceRange.start(after: range + 1) == 2 * range + 1)
        #expect(SequenceRange.start(after: .max) == (1 << 62) + 1)
    }

    @Test func everyOpeningBeginsAFreshRange() throws {
        let ring = Ring()
        var last: UInt64 = 0
        for run in 0..<6 {
            let cache = try ring.open()
            #expect(cache.nextSequence > last)
            #expect(cache.nextSequence % SequenceRange.size == 1)
            last = cache.nextSequence
            if run % 2 == 0 { ring.disk.crash(seed: UInt64(run)) } else { cache.close(now: 0) }
        }
    }

    @Test func aReadOnlyDiskAtOpeningIsDrainedAndThenLeftForAFreshStream() throws {
        let ring = Ring()
        let old = try ring.fillAndClose(0..<10)
        ring.disk.isReadOnly = true
        let cache = try ring.open()
        #expect(cache.state == .memory(CacheFileError(.open, 30)))
        cache.fill(10..<20)
        #expect(cache.streamID == old)
        #expect(cache.count == 20)
        #expect(cache.info().first?.count == 20)
        #expect(cache.firstSequence == 1)
        #expect(cache.numbers() == Array(0..<10))
        #expect(cache.nextSequence > 10)
        cache.acknowledge(through: 10, of: old, now: 0)
        #expect(cache.streamID != old)
        #expect(cache.firstSequence == 1)
        #expect(cache.numbers() == Array(10..<20))
        cache.acknowledge(through: 5, of: old, now: 0)
        #expect(cache.count == 10)
        cache.acknowledge(through: 10, of: cache.streamID, now: 0)
        #expect(cache.count == 0)
        #expect(cache.counters.acknowledged == 20)
    }

    @Test func twoOpeningsOfAReadOnlyDiskNeverShareNumbers() throws {
        let ring = try Ring.closed(holding: 0..<3)
        ring.disk.isReadOnly = true
        var streams: Set<StreamID> = []
        for _ in 0..<5 {
            let cache = try ring.open()
            cache.readAndAcknowledge(through: 3)
            cache.fill(3..<6)
            #expect(cache.numbers() == [3, 4, 5])
            #expect(streams.insert(cache.streamID).inserted)
            ring.disk.crash(seed: 1)
        }
    }

    @Test func recordsThatWaitedInMemoryJoinTheOldStreamWhenTheDiskReturns() throws {
        let ring = Ring()
        let old = try ring.fillAndClose(0..<10)
        ring.disk.isReadOnly = true
        var cache = try ring.open()
        cache.fill(10..<20)
        ring.disk.isReadOnly = false
        #expect(cache.tryReturnToDisk(now: 5))
        #expect(cache.state == .disk)
        #expect(cache.streamID == old)
        #expect(cache.numbers() == Array(0..<20))
        cache = try ring.reopen(cache, crashSeed: 4)
        #expect(cache.streamID == old)
        #expect(cache.numbers() == Array(0..<20))
    }

    @Test func aDrainedStreamIsReplacedOnDiskToo() throws {
        let ring = try Ring.closed(holding: 0..<10)
        ring.disk.isReadOnly = true
        var cache = try ring.open()
        cache.readAndAcknowledge(through: 10)
        cache.fill(10..<20)
        let fresh = cache.streamID
        _ = cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: 0)
        ring.disk.isReadOnly = false
        #expect(cache.tryReturnToDisk(now: 5))
        #expect(cache.streamID == fresh)
        cache = try ring.reopen(cache, crashSeed: 4)
        #expect(cache.streamID == fresh)
        #expect(cache.numbers() == Array(10..<20))
        #expect(cache.recovery.foreignSegments == 0)
    }

    @Test func theHighestNumbersOfAStreamAreForgottenLast() throws {
        // Two ranges of a drained stream are deleted; a power cut inside must not leave the lower one alone.
        for seed in 0..<60 as Range<UInt64> {
            let ring = try Ring.closed(holding: 0..<3)
            try ring.fillAndClose(3..<6)
            ring.disk.isReadOnly = true
            var cache = try ring.open()
            let old = cache.streamID
            let last = try #require(cache.batches().last?.lastSequence)
            cache.acknowledge(through: last, of: old, now: 0)
            #expect(cache.streamID != old)
            ring.disk.isReadOnly = false
            ring.disk.callsUntilPowerFailure = Int(seed % 6)
            cache.tryReturnToDisk(now: 1)
            cache = try ring.reopen(cache, crashSeed: seed)
            #expect(cache.streamID != old || cache.nextSequence > last, "seed \(seed)")
        }
    }

    @Test func aDirectoryThatAppearsLateIsJoinedOnceNothingIsUnanswered() throws {
        let ring = Ring()
        let old = try ring.fillAndClose(0..<10)
        ring.disk.faults = [DiskFault([.list], number: 13)]
        var cache = try ring.open()
        #expect(cache.state == .memory(CacheFileError(.list, 13)))
        #expect(cache.streamID != old)
        cache.fill(10..<20)
        // What the disk may hold is older: nothing goes out before it has had its chances.
        for attempt in 1..<DirectoryState.mostReads {
            #expect(cache.read(after: 0, maximumCount: 4, maximumBytes: .max, now: 0) == nil)
            cache.maintain(now: 0 + Int64(attempt) * 100_000)
        }
        let sent = try #require(cache.read(after: 0, maximumCount: 4, maximumBytes: .max, now: 0))
        ring.disk.faults = []
        #expect(!cache.tryReturnToDisk(now: 5))
        #expect(cache.streamID == sent.stream)
        cache.acknowledge(through: sent.lastSequence, of: sent.stream, now: 6)
        #expect(cache.tryReturnToDisk(now: 7))
        #expect(cache.streamID == old)
        #expect(cache.numbers() == Array(0..<10) + Array(14..<20))
        cache = try ring.reopen(cache, crashSeed: 1)
        #expect(cache.numbers() == Array(0..<10) + Array(14..<20))
    }

    /// Sent, cleared, and the link was lost before the answer: no answer will come.
    @Test(arguments: [4, 10]) func aDirectoryThatAppearsLateIsJoinedAfterWhatWasSentIsCleared(count: Int) throws {
        let ring = Ring()
        let old = try ring.fillAndClose(0..<10)
        ring.disk.faults = [DiskFault([.list], times: .max, number: 13)]
        let cache = try ring.open()
        cache.fill(10..<20)
        for attempt in 1..<DirectoryState.mostReads { cache.maintain(now: 0 + Int64(attempt) * 100_000) }
        let sent = try #require(cache.read(after: 0, maximumCount: count, maximumBytes: .max, now: 0))
        ring.disk.faults = []
        // The first record was not cleared, and is sent again.
        let cleared = try cache.clear(entities: nil, from: 11, through: Int64(9 + count), now: 0)
        #expect(cleared.records == UInt64(count - 1))
        #expect(!cache.tryReturnToDisk(now: 5))
        cache.confirm(serverStoredThrough: 0, now: 6)
        #expect(!cache.tryReturnToDisk(now: 7))
        cache.acknowledge(through: sent.firstSequence, of: sent.stream, now: 8)
        #expect(cache.tryReturnToDisk(now: 9))
        #expect(cache.streamID == old)
        #expect(cache.numbers() == Array(0..<10) + Array((10 + count)..<20))
    }

    @Test func anEmptyDirectoryThatAppearsLateTakesTheStreamInMemory() throws {
        let ring = Ring()
        ring.disk.faults = [DiskFault([.makeDirectory], times: DirectoryState.mostReads, number: 30)]
        var cache = try ring.open()
        cache.fill(0..<10)
        for attempt in 1..<DirectoryState.mostReads { cache.maintain(now: 0 + Int64(attempt) * 100_000) }
        let batch = try #require(cache.read(after: 0, maximumCount: 4, maximumBytes: .max, now: 0))
        #expect(cache.tryReturnToDisk(now: 5))
        #expect(cache.streamID == batch.stream)
        cache = try ring.reopen(cache, crashSeed: 1)
        #expect(cache.streamID == batch.stream)
        #expect(cache.numbers() == Array(0..<10))
        #expect(cache.nextSequence > 10)
    }

    @Test func theEvidenceOfARangeOutlivesItsRecords() throws {
        // A range in use whose only segment stays empty, because the disk fails at once: it must not be used again.
        let ring = Ring()
        let cache = try ring.open()
        let start = cache.nextSequence
        ring.disk.faults = [DiskFault([.write, .synchronize, .synchronizeData], number: 5)]
        cache.fill(0..<10)
        let batch = try #require(cache.read(after: 0, maximumCount: 10, maximumBytes: .max, now: 0))
        cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: 0)
        #expect(cache.count == 0)
        ring.disk.faults = []
        for seed in 0..<20 as Range<UInt64> {
            ring.disk.crash(seed: seed)
            let reopened = try ring.open()
            #expect(reopened.streamID == batch.stream && reopened.nextSequence > start + 10, "seed \(seed)")
        }
    }

    @Test func aLoginThatKnowsMoreAcknowledges() throws {
        let ring = try Ring.closed(holding: 0..<10)
        let cache = try ring.open()
        cache.fill(10..<20)
        cache.confirm(serverStoredThrough: 7, now: 0)
        #expect(cache.numbers() == Array(7..<20))
        // Of the last range, sent from memory, of which the disk knows nothing.
        cache.confirm(serverStoredThrough: 5000, now: 0)
        #expect(cache.numbers() == Array(10..<20))
        cache.confirm(serverStoredThrough: 0, now: 0)
        cache.confirm(serverStoredThrough: .max, now: 0)
        #expect(cache.numbers() == Array(10..<20))
        #expect(cache.counters.streamConflicts == 0)
    }

    @Test func aStreamUsedByAnotherBoxIsCountedAndOutrun() throws {
        let cache = try Ring().open()
        cache.fill(0..<10)
        let other = 3 * SequenceRange.size + 7
        cache.confirm(serverStoredThrough: other, now: 0)
        #expect(cache.counters.streamConflicts == 1)
        #expect(cache.counters.lostToConflict == 10)
        #expect(cache.state == .disk)
        cache.fill(10..<20)
        let batch = try #require(cache.read(after: 0, maximumCount: 100, maximumBytes: .max, now: 0))
        #expect(batch.firstSequence > other)
        #expect(batch.records.count == 10)
        cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: 0)
        #expect(cache.count == 0)
    }

    @Test func inMemoryAStreamUsedByAnotherBoxCostsNothing() throws {
        let ring = Ring()
        let cache = try ring.open()
        ring.disk.isReadOnly = true
        cache.fill(0..<10)
        cache.confirm(serverStoredThrough: 5, now: 0)
        #expect(cache.counters.streamConflicts == 1)
        #expect(cache.counters.lostToConflict == 0)
        let batch = try #require(cache.read(after: 0, maximumCount: 100, maximumBytes: .max, now: 0))
        #expect(batch.records.map { number(of: $0.payload) } == Array(0..<10))
        #expect(batch.firstSequence > 5)
        #expect(cache.nextSequence == batch.lastSequence + 1)
    }
}
