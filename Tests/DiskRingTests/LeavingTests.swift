import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

/// The stream of a copied disk is left.
@Suite struct LeavingTests {
    @Test func anEmptyRingLeavesItsStreamAtOnceAndForGood() throws {
        let ring = Ring()
        let first = try ring.open()
        let old = first.streamID
        first.fill(0..<10)
        first.readAndAcknowledge(through: first.nextSequence - 1)
        let last = first.nextSequence
        first.close(now: 0)

        let cache = try ring.open()
        #expect(cache.streamID == old)
        cache.leaveStream(now: 0)
        #expect(cache.streamID != old && cache.state == .disk)
        #expect(cache.nextSequence > last)
        #expect(ring.segmentPaths.count == 1)
        cache.fill(10..<13)
        let new = cache.streamID
        let again = try ring.reopen(cache)
        #expect(again.streamID == new)
        #expect(again.numbers() == [10, 11, 12])
        #expect(again.counters.corruptRecords == 0 && again.recovery.foreignSegments == 0)
    }

    @Test func whatWaitsKeepsItsStreamAndNewRecordsAreDurableMeanwhile() throws {
        let ring = Ring()
        let old = try ring.fillAndClose(0..<10)
        let cache = try ring.open()
        cache.leaveStream(now: 0)
        cache.fill(10..<20)
        #expect(cache.streamID == old && cache.state == .disk && cache.unsynchronisedCount == 0)
        #expect(cache.numbers() == Array(0..<20))
        cache.readAndAcknowledge(through: 10)
        #expect(cache.streamID == old && cache.count == 10)
        let next = cache.nextSequence
        cache.readAndAcknowledge(through: next - 1)
        #expect(cache.streamID != old)
        #expect(cache.count == 0 && cache.nextSequence > next)
        cache.fill(20..<30)
        #expect(cache.numbers() == Array(20..<30))
        // A late acknowledgement of the other stream takes nothing.
        cache.acknowledge(through: .max - 1, of: old, now: 0)
        #expect(cache.count == 10)
        cache.acknowledge(through: cache.nextSequence - 1, of: cache.streamID, now: 0)
        #expect(cache.counters.acknowledged == 30)
        let new = cache.streamID
        cache.fill(30..<31)
        cache.readAndAcknowledge(through: cache.nextSequence - 1)
        #expect(cache.streamID == new, "it is left once")
    }

    @Test func aLoginOrAClearMayEndWhatWaits() throws {
        let ring = Ring()
        let old = try ring.fillAndClose(0..<10)
        let told = try ring.open()
        told.leaveStream(now: 0)
        told.confirm(serverStoredThrough: 10, now: 0)
        #expect(told.streamID != old && told.count == 0)
        told.fill(0..<5)
        told.close(now: 0)

        let cache = try ring.open()
        let second = cache.streamID
        cache.leaveStream(now: 0)
        #expect(cache.streamID == second)
        _ = try cache.clear(entities: nil, from: nil, through: nil, now: 0)
        #expect(cache.streamID != second && cache.count == 0)
        cache.fill(5..<7)
        #expect(try ring.reopen(cache).numbers() == [5, 6])
    }

    @Test func aDiskThatRefusesTheNewStreamGetsItLater() throws {
        let ring = Ring()
        let old = try ring.fillAndClose(0..<1)
        let cache = try ring.open()
        cache.leaveStream(now: 0)
        ring.disk.isReadOnly = true
        cache.readAndAcknowledge(through: 1)
        #expect(cache.streamID != old)
        cache.fill(1..<4)
        #expect(cache.numbers() == [1, 2, 3])
        ring.disk.isReadOnly = false
        #expect(cache.tryReturnToDisk(now: 100_000))
        let new = cache.streamID
        let again = try ring.reopen(cache, crashSeed: 3)
        #expect(again.streamID == new && again.numbers() == [1, 2, 3])
    }

    @Test(arguments: 0..<60 as Range<UInt64>) func aPowerCutTakesNothingDurable(seed: UInt64) throws {
        let ring = Ring(seed: seed)
        let old = try ring.fillAndClose(0..<10)
        let cache = try ring.open()
        cache.leaveStream(now: 0)
        cache.fill(10..<15)
        cache.readAndAcknowledge(through: cache.nextSequence - 1)
        let new = cache.streamID
        #expect(new != old)
        let count = Int(seed % 3)
        cache.fill(15..<15 + count)
        let again = try ring.reopen(cache, crashSeed: seed)
        let kept = again.numbers()
        if count > 0 {
            #expect(again.streamID == new, "seed \(seed)")
            #expect(kept == Array(15..<15 + count), "seed \(seed)")
        } else {
            // The old files may be back with what was acknowledged; then their stream is, too.
            #expect(kept.isEmpty || again.streamID == old, "seed \(seed)")
        }
    }
}
