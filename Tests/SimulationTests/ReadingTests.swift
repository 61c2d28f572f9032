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
}
