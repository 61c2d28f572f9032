import Testing
import TrackModel
import TrackTestKit

@testable import TrackCache

/// Files that no agent wrote, with sound checksums.
@Suite struct CraftedFileTests {
    private static let stream = StreamID(high: 1, low: 2)

    /// A segment of three points and a clear of everything below a number.
    private func segment(first: UInt64, clearingBelow below: UInt64) -> [UInt8] {
        var file = SegmentHeader(stream: Self.stream, firstSequence: first, entities: ["car"]).encoded()
        let salt = RecordFormat.salt(of: Self.stream)
        for sequence in first..<first + 3 {
            RecordFormat.append(
                .point, sequence: sequence, time: 1, entity: 0, body: payload(Int(sequence)), salt: salt, to: &file)
        }
        let clear = Tombstone(below: below, entities: nil, times: .min ... .max)
        RecordFormat.append(
            .tombstone, sequence: below, time: 0, entity: 0, body: clear.encoded(), salt: salt, to: &file)
        return file
    }

    @Test(arguments: [1000, 1 << 40, (1 << 62) - 5, 1 << 62] as [UInt64])
    func aClearOfNumbersNotYetGivenOutTakesNoNewRecord(below: UInt64) throws {
        let ring = Ring()
        try ring.open().close(now: 0)
        ring.disk.plant(segment(first: 1, clearingBelow: below), at: "\(Ring.directory)/\(SegmentName.of(1))")
        let cache = try ring.open()
        #expect(cache.count == 0)
        cache.fill(7..<8)
        #expect(cache.numbers() == [7])
        let again = try ring.reopen(cache)
        #expect(again.numbers() == [7])
    }

    @Test func aClearReachesNoLaterSegment() throws {
        let ring = Ring()
        try ring.open().close(now: 0)
        ring.disk.plant(segment(first: 1, clearingBelow: 1 << 40), at: "\(Ring.directory)/\(SegmentName.of(1))")
        ring.disk.plant(segment(first: 100, clearingBelow: 100), at: "\(Ring.directory)/\(SegmentName.of(100))")
        let cache = try ring.open()
        #expect(cache.numbers() == [100, 101, 102])
        #expect(cache.count == 3)
    }

    @Test(arguments: [1 << 62, (1 << 62) + 1, .max - 1, .max] as [UInt64])
    func aLedgerOfAnyGenerationIsCountedOn(generation: UInt64) throws {
        let ring = Ring()
        try ring.open().close(now: 0)
        let ledger = Ledger(generation: generation, stream: Self.stream, acknowledged: 1, rangeStart: 1)
        ring.disk.plant(ledger.encoded() + [UInt8](repeating: 0, count: 4096), at: "\(Ring.directory)/\(Ledger.name)")
        let cache = try ring.open()
        cache.fill(7..<8)
        cache.close(now: 0)
        #expect(try ring.reopen(cache).numbers() == [7])
    }
}
