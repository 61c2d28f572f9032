import Testing
import TrackModel
import TrackTestKit

@testable import TrackCache

/// One history, with the power cut at every call that changes the disk; each cut also tears what was not synchronised.
@Suite struct PowerCutTests {
    /// What the owner was told before the lights went out.
    private struct Told {
        var durable: Set<Int> = []
        var cleared: Set<Int> = []
        /// A clear was in progress: its records may be there or not.
        var clearing: Set<Int> = []
        var acknowledged = 0
        var handedOut: UInt64 = 0
        var nextSequence: UInt64 = 0
        var stream: StreamID?
    }

    @Test(arguments: [0, 60_000] as [Int64])
    func everyPointOfAHistoryIsSurvived(interval: Int64) throws {
        let rehearsal = Ring(syncInterval: interval)
        var all = Told()
        try play(rehearsal, &all)
        let calls = rehearsal.disk.changingCalls
        #expect(calls > 100)
        #expect(rehearsal.disk.hasPower)
        for cut in 0..<calls {
            let ring = Ring(syncInterval: interval)
            ring.disk.callsUntilPowerFailure = cut
            var told = Told()
            try play(ring, &told)
            #expect(!ring.disk.hasPower, "cut \(cut)")
            try check(ring, told, cut, seed: UInt64(cut))
            // And again, in the middle of the recovery.
            ring.disk.callsUntilPowerFailure = cut % 12
            _ = try ring.open()
            try check(ring, told, cut, seed: UInt64(cut) &+ 1000)
        }
    }

    private func check(_ ring: Ring, _ told: Told, _ cut: Int, seed: UInt64) throws {
        ring.disk.crash(seed: seed)
        let cache = try ring.open()
        #expect(cache.state == .disk, "cut \(cut)")
        let numbers = cache.numbers()
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, "cut \(cut): \(numbers)")
        let missing = told.durable.subtracting(numbers).filter { $0 >= told.acknowledged }
        #expect(missing.isEmpty, "cut \(cut): lost \(missing.sorted())")
        let revived = told.cleared.intersection(numbers)
        #expect(revived.isEmpty, "cut \(cut): revived \(revived.sorted())")
        if told.handedOut > 0 {
            #expect(cache.streamID == told.stream && cache.nextSequence > told.nextSequence, "cut \(cut)")
        }
    }

    /// Appends across several segments, reads, acknowledges, clears and goes on; stops when the power does.
    private func play(_ ring: Ring, _ told: inout Told) throws {
        let cache = try ring.open()
        func append(_ numbers: Range<Int>, size: Int) {
            for number in numbers where ring.disk.hasPower {
                cache.fill(number..<number + 1, size: size)
                guard ring.disk.hasPower, cache.state == .disk, cache.pending.isEmpty else { continue }
                told.durable.formUnion(0...number)
                told.durable.subtract(told.cleared)
                told.durable.subtract(told.clearing)
            }
        }
        append(0..<12, size: 20_000)
        if let batch = cache.read(after: 0, maximumCount: 5, maximumBytes: .max, now: 0), ring.disk.hasPower {
            told.handedOut = batch.lastSequence
            told.stream = batch.stream
            told.nextSequence = cache.nextSequence - 1
            told.acknowledged = batch.records.count
            cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: 1_000_000)
        }
        append(12..<20, size: 300)
        guard ring.disk.hasPower else { return }
        told.clearing = Set(8...14)
        told.durable.subtract(told.clearing)
        let cleared = try cache.clear(entities: ["car"], from: 8, through: 14, now: 0)
        if ring.disk.hasPower, cleared.isDurable {
            told.cleared = told.clearing
            told.clearing = []
        }
        append(20..<30, size: 20_000)
        guard ring.disk.hasPower else { return }
        cache.close(now: 0)
        if ring.disk.hasPower { told.durable.formUnion(Set(0..<30).subtracting(told.cleared)) }
    }
}
