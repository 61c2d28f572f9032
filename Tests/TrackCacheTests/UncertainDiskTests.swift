import Testing
import TrackModel
import TrackTestKit

@testable import TrackCache

/// What a killed process wrote and did not synchronise: the kernel shows it, the disk may not have it.
@Suite struct InheritedRecordsTests {
    @Test(arguments: 1...20)
    func afterTheNextStartTheyAreDurable(seed: Int) throws {
        let ring = Ring(syncInterval: 60_000)
        let killed = try ring.open()
        killed.fill(0..<20)
        #expect(killed.unsynchronisedCount == 20)
        let next = try ring.reopen(killed)
        #expect(next.numbers() == Array(0..<20))
        #expect(next.unsynchronisedCount == 0)
        let last = try ring.reopen(next, crashSeed: UInt64(seed))
        #expect(last.numbers() == Array(0..<20))
    }
}

/// A clear while the disk cannot be read.
@Suite struct BlindClearTests {
    @Test func whatItTookIsCountedOnceTheDiskAnswers() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<10)
        ring.disk.faults = [DiskFault([.open], times: 1, number: 5)]
        let cleared = try cache.clear(entities: nil, from: 0, through: 4, now: 0)
        #expect(cleared.records == 0)
        #expect(cache.numbers() == Array(5..<10))
        #expect(cache.count == 5)
        #expect(cache.counters.cleared == 5)
        let info = cache.info()
        #expect(info.first?.count == 5)
    }
}
