import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

@Suite struct ClearingTests {
    @Test func clearingTakesEntitiesAndTimes() throws {
        let cache = try Ring().open()
        cache.fill(0..<10, entity: "a")
        cache.fill(10..<20, entity: "b")
        cache.fill(20..<30, entity: "a")
        #expect(
            try cache.clear(entities: ["a"], from: 5, through: 24, now: 0) == ClearedCount(records: 10, isDurable: true)
        )
        #expect(cache.numbers() == Array(0..<5) + Array(10..<20) + Array(25..<30))
        #expect(try cache.clear(entities: ["c"], from: nil, through: nil, now: 0).records == 0)
        #expect(try cache.clear(entities: [], from: nil, through: nil, now: 0).records == 0)
        #expect(try cache.clear(entities: nil, from: 8, through: 3, now: 0).records == 0)
        #expect(try cache.clear(entities: nil, from: nil, through: 2, now: 0).records == 3)
        #expect(try cache.clear(entities: nil, from: 28, through: nil, now: 0).records == 2)
        #expect(cache.numbers() == [3, 4] + Array(10..<20) + [25, 26, 27])
        #expect(cache.counters.cleared == 15)
        #expect(cache.count == 15)
        #expect(cache.info().map(\.count) == [5, 10])
    }

    /// The same letter as one character, and as two: the server has two entities.
    @Test func namesThatLookAlikeAreTwoEntities() throws {
        let ring = Ring()
        var cache = try ring.open()
        let (one, two) = ("\u{E9}", "e\u{301}")
        cache.fill(0..<3, entity: one)
        cache.fill(3..<7, entity: two)
        for _ in 0..<2 {
            #expect(cache.info().map { Array($0.entity.utf8) } == [Array(two.utf8), Array(one.utf8)])
            #expect(cache.info().map(\.count) == [4, 3])
            #expect(cache.batches().map { Array($0.entity.utf8) } == [Array(one.utf8), Array(two.utf8)])
            cache.sync(now: 0)
            cache = try ring.reopen(cache, crashSeed: 1)
        }
        #expect(try cache.clear(entities: [one], from: nil, through: nil, now: 0).records == 3)
        #expect(cache.numbers() == [3, 4, 5, 6])
        cache = try ring.reopen(cache, crashSeed: 2)
        #expect(cache.numbers() == [3, 4, 5, 6])
    }

    @Test func aBatchNeverSpansAClearedGap() throws {
        let cache = try Ring().open()
        cache.fill(0..<10)
        _ = try cache.clear(entities: nil, from: 4, through: 5, now: 0)
        #expect(cache.batches().map(\.records.count) == [4, 4])
        #expect(cache.batches().map(\.firstSequence) == [1, 7])
    }

    @Test func aClearSurvivesAPowerCutAndAppliesOnlyToTheEarlier() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<2000)
        _ = try cache.clear(entities: nil, from: 100, through: 1899, now: 0)
        cache.fill(100..<110)
        let expected = Array(0..<100) + Array(1900..<2000) + Array(100..<110)
        #expect(cache.numbers() == expected)
        for seed in 0..<10 as Range<UInt64> {
            cache = try ring.reopen(cache, crashSeed: seed)
            #expect(cache.numbers() == expected, "seed \(seed)")
        }
    }

    @Test func aClearNeverVanishesBeforeWhatItCleared() throws {
        for seed in 0..<40 as Range<UInt64> {
            let ring = Ring()
            var cache = try ring.open()
            cache.fill(0..<2500)
            _ = try cache.clear(entities: nil, from: 100, through: 199, now: 0)
            cache.fill(2500..<6000)
            // Drops the segment of those records and the one of the clear; the power goes before that is durable.
            cache.setLimit(bytes: 0)
            #expect(cache.tombstones.isEmpty || cache.hasUnsynchronisedUnlinks)
            cache = try ring.reopen(cache, crashSeed: seed)
            #expect(!cache.numbers().contains { (100...199).contains($0) }, "seed \(seed)")
        }
    }

    @Test func whatWasAcknowledgedIsNotCountedAsCleared() throws {
        let cache = try Ring().open()
        cache.fill(0..<10)
        _ = cache.batches()
        cache.acknowledge(through: 4, of: cache.streamID, now: 0)
        #expect(try cache.clear(entities: nil, from: nil, through: nil, now: 0).records == 6)
        #expect(cache.count == 0)
        #expect(cache.firstSequence == cache.nextSequence)
    }

    @Test func clearingEverythingFreesTheDisk() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<5000)
        #expect(ring.segmentPaths.count > 3)
        #expect(try cache.clear(entities: nil, from: nil, through: nil, now: 0).records == 5000)
        #expect(ring.segmentPaths.count == 1)
        cache.fill(0..<3)
        #expect(cache.numbers() == [0, 1, 2])
        let reopened = try ring.reopen(cache, crashSeed: 8)
        #expect(reopened.numbers() == [0, 1, 2])
    }

    @Test func manyNamesAreClearedInPieces() throws {
        let ring = Ring()
        var cache = try ring.open()
        let long = String(repeating: "n", count: 120)
        let names = (0..<1600).map { "\(long)\($0)" }
        for (number, name) in names.enumerated() {
            cache.append(entity: name, time: 0, payload: payload(number), now: 0)
        }
        cache.fill(5000..<5010, entity: "kept")
        #expect(try cache.clear(entities: names, from: nil, through: nil, now: 0).records == 1600)
        #expect(cache.numbers() == Array(5000..<5010))
        cache = try ring.reopen(cache, crashSeed: 2)
        #expect(cache.numbers() == Array(5000..<5010))
    }

    @Test func clearsAreForgottenWithWhatTheyCleared() throws {
        let ring = Ring()
        let cache = try ring.open()
        for round in 0..<20 {
            cache.fill(0..<500)
            _ = try cache.clear(entities: nil, from: Int64(round), through: Int64(round), now: 0)
        }
        #expect(cache.tombstones.count == 20)
        _ = cache.batches()
        cache.acknowledge(through: cache.nextSequence - 1, of: cache.streamID, now: 0)
        cache.fill(0..<2500)
        _ = cache.batches()
        cache.acknowledge(through: cache.nextSequence - 1, of: cache.streamID, now: 0)
        cache.fill(0..<1200)
        #expect(cache.tombstones.isEmpty)
    }

    @Test func tooManyClearsAreRefusedButClearingEverythingWorks() throws {
        let cache = try Ring().open()
        cache.fill(0..<6000, size: 8)
        for time in 0..<Int64(DiskRing.maximumTombstones) {
            cache.tombstones.append(Tombstone(below: 1, entities: nil, times: time...time))
        }
        #expect(throws: DiskRingError(.tooManyClears, "")) {
            try cache.clear(entities: nil, from: 3, through: 3, now: 0)
        }
        #expect(cache.count == 6000)
        #expect(try cache.clear(entities: nil, from: nil, through: nil, now: 0).records == 6000)
        #expect(cache.count == 0)
    }

    @Test func inMemoryAClearHoldsAndIsWrittenWhenTheDiskReturns() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<10)
        ring.disk.isReadOnly = true
        cache.fill(10..<20)
        #expect(
            try cache.clear(entities: nil, from: 5, through: 14, now: 0) == ClearedCount(records: 10, isDurable: false))
        let expected = Array(0..<5) + Array(15..<20)
        #expect(cache.numbers() == expected)
        ring.disk.isReadOnly = false
        #expect(cache.tryReturnToDisk(now: 1))
        for seed in 0..<5 as Range<UInt64> {
            cache = try ring.reopen(cache, crashSeed: seed)
            #expect(cache.numbers() == expected)
        }
    }

    @Test func aClearTheDiskRefusesIsRepeatedOnAnotherSegment() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<10)
        ring.disk.faults = [DiskFault([.synchronizeData], times: 1, number: 5)]
        #expect(
            try cache.clear(entities: nil, from: 5, through: nil, now: 0) == ClearedCount(records: 5, isDurable: true))
        cache = try ring.reopen(cache, crashSeed: 1)
        #expect(cache.numbers() == Array(0..<5))
    }

    @Test func tombstonesAreReadAsTheyWereWritten() throws {
        for clear in [
            Tombstone(below: 7, entities: nil, times: .min ... .max), Tombstone(below: 9, entities: [], times: 3...4),
            Tombstone(below: 1 << 62, entities: ["a", "é"], times: -5...0),
        ] {
            let body = clear.encoded()
            #expect(Tombstone(below: clear.below, decoding: body) == clear)
            for length in 0..<body.count where clear.entities != [] || length < 18 {
                #expect(Tombstone(below: clear.below, decoding: Array(body[..<length])) == nil)
            }
        }
        let most = Tombstone(
            below: 1, entities: Set((0..<1200).map { ExactName("\($0)" + String(repeating: "x", count: 124)) }),
            times: 0...1)
        #expect(most.pieces.map { $0.entities?.count } == [500, 500, 200])
        #expect(most.pieces.allSatisfy { $0.encoded().count <= RecordFormat.maximumBody })
    }
}
