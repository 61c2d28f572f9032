import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

@Suite struct AppendingAndReadingTests {
    @Test func anEmptyCacheHasNothingToRead() throws {
        let cache = try Ring().open()
        #expect(cache.state == .disk)
        #expect(cache.read(after: 0, maximumCount: 10, maximumBytes: 1000, now: 0) == nil)
        #expect(cache.firstSequence == cache.nextSequence)
        #expect(cache.count == 0)
        #expect(cache.info().isEmpty)
    }

    @Test func theFirstSequenceOfANewStreamIsOne() throws {
        let cache = try Ring().open()
        #expect(cache.append(entity: "car", time: 5, payload: [1], now: 0) == 1)
        #expect(cache.append(entity: "car", time: 6, payload: [2], now: 0) == 2)
        #expect(cache.nextSequence == 3)
    }

    @Test func whatIsAppendedIsReadAsItWas() throws {
        let cache = try Ring().open()
        cache.append(entity: "car", time: .min, payload: [], now: 0)
        cache.append(entity: "car", time: .max, payload: [7, 8], now: 0)
        let batch = try #require(cache.read(after: 0, maximumCount: 10, maximumBytes: 1000, now: 0))
        #expect(batch.stream == cache.streamID)
        #expect(batch.entity == "car")
        #expect(
            batch.records == [
                CacheRecord(sequence: 1, time: .min, payload: []),
                CacheRecord(sequence: 2, time: .max, payload: [7, 8]),
            ])
    }

    @Test func aBatchHoldsOneEntity() throws {
        let cache = try Ring().open()
        for (number, entity) in ["a", "a", "b", "a", "c", "c"].enumerated() {
            cache.append(entity: entity, time: Int64(number), payload: payload(number), now: 0)
        }
        let batches = cache.batches()
        #expect(batches.map(\.entity) == ["a", "b", "a", "c"])
        #expect(batches.map(\.firstSequence) == [1, 3, 4, 5])
        #expect(batches.map(\.records.count) == [2, 1, 1, 2])
    }

    @Test func aBatchEndsAtItsCountAndItsBytes() throws {
        let cache = try Ring().open()
        cache.fill(0..<10, size: 40)
        #expect(cache.batches(count: 4).map(\.records.count) == [4, 4, 2])
        #expect(cache.batches(bytes: 100).map(\.records.count) == [2, 2, 2, 2, 2])
        #expect(cache.batches(bytes: 0).map(\.records.count) == [Int](repeating: 1, count: 10))
        #expect(cache.batches(count: 0).map(\.records.count) == [Int](repeating: 1, count: 10))
        #expect(cache.batches(count: .max, bytes: .max).map(\.records.count) == [10])
    }

    @Test func aBatchGoesOnAcrossSegments() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<3000)
        #expect(ring.segmentPaths.count > 2)
        let batch = try #require(cache.read(after: 0, maximumCount: 10_000, maximumBytes: .max, now: 0))
        #expect(batch.records.map { number(of: $0.payload) } == Array(0..<3000))
        #expect(batch.lastSequence == 3000)
    }

    @Test func readingCanGoBackAndOn() throws {
        let cache = try Ring().open()
        cache.fill(0..<3000)
        for after: UInt64 in [0, 2500, 17, 17, 2999, 1, 1200, 1201, 2998] {
            let batch = try #require(cache.read(after: after, maximumCount: 1, maximumBytes: 1000, now: 0))
            #expect(batch.firstSequence == after + 1)
            #expect(number(of: batch.records[0].payload) == Int(after))
        }
        #expect(cache.read(after: 3000, maximumCount: 1, maximumBytes: 1000, now: 0) == nil)
        #expect(cache.read(after: .max, maximumCount: 1, maximumBytes: 1000, now: 0) == nil)
    }

    /// Each opening leaves a gap in the numbers.
    @Test func theNewestRecordsAreFoundAcrossGaps() throws {
        let ring = Ring()
        try ring.fillAndClose(0..<3000)
        try ring.fillAndClose(3000..<3100)
        let cache = try ring.open()
        for count in [1, 100, 101, 1500, 3100, 5000] as [UInt64] {
            let position = cache.position(beforeNewest: count)
            var numbers: [Int] = []
            var next = position
            while let batch = cache.read(after: next, maximumCount: 1000, maximumBytes: .max, now: 0) {
                numbers += batch.records.map { number(of: $0.payload) }
                next = batch.lastSequence
            }
            #expect(numbers.count >= min(Int(count), 3100) && numbers.last == 3099)
            #expect(count > 100 || numbers.count < 3000)
        }
    }

    @Test func readingFollowsAppending() throws {
        let cache = try Ring().open()
        for number in 0..<2500 {
            cache.fill(number..<number + 1)
            let batch = try #require(
                cache.read(after: UInt64(number), maximumCount: 10, maximumBytes: 10_000, now: 0))
            #expect(batch.records.count == 1)
            cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: 0)
        }
        #expect(cache.count == 0)
        #expect(cache.counters.acknowledged == 2500)
    }

    @Test func sizesAtTheirLimitsAreTakenAndBeyondRefused() throws {
        let cache = try Ring().open()
        let longest = String(repeating: "é", count: 64)
        #expect(cache.append(entity: longest, time: 0, payload: payload(1, size: 65_536), now: 0) == 1)
        #expect(cache.append(entity: longest + "x", time: 0, payload: [], now: 0) == nil)
        #expect(cache.append(entity: "", time: 0, payload: [], now: 0) == nil)
        #expect(cache.append(entity: "car", time: 0, payload: payload(1, size: 65_537), now: 0) == nil)
        #expect(cache.append(entity: "car", time: 0, payload: payload(2, size: 65_536), now: 0) == 2)
        #expect(cache.counters.refused == 3)
        #expect(cache.numbers() == [1, 2])
        #expect(cache.batches().map(\.entity) == [longest, "car"])
    }

    @Test func moreEntitiesThanAHeaderHoldsAreAllRemembered() throws {
        let ring = Ring()
        var cache = try ring.open()
        for round in 0..<3 {
            for number in 0..<300 {
                cache.append(
                    entity: "entity-with-a-rather-long-name-\(number)", time: Int64(round), payload: payload(number),
                    now: 0)
            }
        }
        cache = try ring.reopen(cache)
        #expect(cache.batches().count == 900)
        let info = cache.info()
        #expect(info.count == 300)
        #expect(info.allSatisfy { $0.count == 3 && $0.firstTime == 0 && $0.lastTime == 2 && $0.bytes == 120 })
    }

    @Test func infoTellsEachEntityWithItsTimes() throws {
        let cache = try Ring().open()
        cache.fill(10..<20, entity: "b", size: 30)
        cache.fill(15..<18, entity: "a", size: 50)
        cache.fill(30..<31, entity: "b", size: 10)
        #expect(
            cache.info() == [
                EntityCacheInfo(entity: "a", count: 3, firstTime: 15, lastTime: 17, bytes: 150),
                EntityCacheInfo(entity: "b", count: 11, firstTime: 10, lastTime: 30, bytes: 310),
            ])
        _ = cache.batches()
        cache.acknowledge(through: 12, of: cache.streamID, now: 0)
        #expect(
            cache.info() == [
                EntityCacheInfo(entity: "a", count: 1, firstTime: 17, lastTime: 17, bytes: 50),
                EntityCacheInfo(entity: "b", count: 1, firstTime: 30, lastTime: 30, bytes: 10),
            ])
        #expect(cache.firstSequence == 13)
        #expect(cache.count == 2)
    }

    @Test func anAcknowledgementNeverCoversWhatWasNotHandedOut() throws {
        let cache = try Ring().open()
        cache.fill(0..<10)
        cache.acknowledge(through: .max, of: cache.streamID, now: 0)
        #expect(cache.count == 10)
        _ = cache.read(after: 0, maximumCount: 4, maximumBytes: .max, now: 0)
        cache.acknowledge(through: 9, of: cache.streamID, now: 0)
        #expect(cache.numbers() == Array(4..<10))
        cache.acknowledge(through: 3, of: cache.streamID, now: 0)
        #expect(cache.count == 6)
    }

    @Test func anAcknowledgementOfAnotherStreamIsIgnored() throws {
        let cache = try Ring().open()
        cache.fill(0..<10)
        _ = cache.batches()
        cache.acknowledge(through: 5, of: StreamID(high: 1, low: 2), now: 0)
        #expect(cache.count == 10)
    }

    /// The vehicle's own use: what the server has may be of use as long as it stands there.
    @Test func whatIsAcknowledgedCanBeReadUntilItsFileGoes() throws {
        let cache = try Ring().open()
        cache.fill(0..<10)
        _ = cache.batches()
        cache.acknowledge(through: 8, of: cache.streamID, now: 0)
        func read(_ cache: DiskRing, includesAcknowledged: Bool) -> Int? {
            cache.read(
                after: 0, maximumCount: 100, maximumBytes: .max, isForServer: false,
                includesAcknowledged: includesAcknowledged, now: 0)?.records.count
        }
        #expect(read(cache, includesAcknowledged: false) == 2)
        #expect(read(cache, includesAcknowledged: true) == 10)
        // Nothing of it is handed out anew, and the server's reading goes on behind it.
        #expect(cache.count == 2)
        #expect(cache.numbers() == [8, 9])
        cache.fill(10..<5000)
        _ = cache.batches()
        cache.acknowledge(through: cache.nextSequence - 1, of: cache.streamID, now: 0)
        #expect(read(cache, includesAcknowledged: true) ?? 0 < 5000)
    }

    @Test func acknowledgedSegmentsAreDeleted() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<5000)
        let before = ring.segmentPaths.count
        _ = cache.batches()
        cache.acknowledge(through: 4999, of: cache.streamID, now: 0)
        #expect(before > 3)
        #expect(ring.segmentPaths.count == 1)
        #expect(cache.numbers() == [4999])
        #expect(cache.usage.diskBytes == DiskRingOptions.smallestSegment)
        #expect(cache.counters.acknowledged == 4999)
    }

    @Test func theBoundDropsTheOldestAndCounts() throws {
        let ring = Ring(limit: 3 * DiskRingOptions.smallestSegment)
        let cache = try ring.open()
        cache.fill(0..<10_000)
        let numbers = cache.numbers()
        #expect(numbers == Array((10_000 - numbers.count)..<10_000))
        #expect(Int(cache.counters.droppedByBound) == 10_000 - numbers.count)
        #expect(ring.segmentPaths.count == 3)
        #expect(cache.usage.diskBytes == 3 * DiskRingOptions.smallestSegment)
        #expect(cache.usage.fill == 1)
        cache.setLimit(bytes: 1)
        #expect(ring.segmentPaths.count == 2)
        #expect(Int(cache.counters.droppedByBound) == 10_000 - cache.numbers().count)
        cache.setLimit(bytes: nil)
        cache.fill(10_000..<20_000)
        #expect(ring.segmentPaths.count > 5)
        #expect(cache.usage.fill == nil)
    }

    @Test func whatTheBoundDropsAfterAnAcknowledgementIsCountedOnce() throws {
        let ring = Ring(limit: 3 * DiskRingOptions.smallestSegment)
        let cache = try ring.open()
        cache.fill(0..<1500)
        _ = cache.batches()
        cache.acknowledge(through: 700, of: cache.streamID, now: 0)
        cache.fill(1500..<10_000)
        let counters = cache.counters
        #expect(counters.acknowledged == 700)
        #expect(counters.acknowledged + counters.droppedByBound + cache.count == 10_000)
    }

    @Test func nothingIsHandedOutBeforeItIsDurable() throws {
        let ring = Ring(syncInterval: 60_000)
        let cache = try ring.open()
        cache.fill(0..<5)
        let syncs = ring.disk.calls[.synchronizeData] ?? 0
        #expect(cache.nextMaintenance == 60_000)
        let batch = try #require(cache.read(after: 0, maximumCount: 10, maximumBytes: .max, now: 1))
        #expect(batch.records.count == 5)
        #expect(ring.disk.calls[.synchronizeData] == syncs + 1)
        let reopened = try ring.reopen(cache, crashSeed: 3)
        #expect(reopened.numbers() == Array(0..<5))
    }

    @Test func theSyncIntervalIsKept() throws {
        let ring = Ring(syncInterval: 1000)
        let cache = try ring.open()
        let syncs = { ring.disk.calls[.synchronizeData] ?? 0 }
        let before = syncs()
        cache.fill(0..<5, now: 100)
        cache.maintain(now: 1099)
        #expect(syncs() == before)
        cache.maintain(now: 1100)
        #expect(syncs() == before + 1)
        #expect(cache.nextMaintenance == nil)
        cache.fill(5..<6, now: 1500)
        cache.fill(6..<7, now: 2500)
        #expect(syncs() == before + 2)
        cache.fill(7..<8, now: 2600)
        cache.setSyncInterval(milliseconds: 0, now: 2601)
        #expect(syncs() == before + 3)
        cache.fill(8..<10, now: 2602)
        #expect(syncs() == before + 5)
    }

    @Test func aClosedCacheRefusesEverything() throws {
        let ring = Ring(syncInterval: 60_000)
        let cache = try ring.open()
        cache.fill(0..<5)
        cache.close(now: 0)
        cache.close(now: 0)
        #expect(cache.state == .closed)
        #expect(cache.append(entity: "car", time: 0, payload: [], now: 0) == nil)
        #expect(cache.read(after: 0, maximumCount: 1, maximumBytes: 1, now: 0) == nil)
        #expect(ring.disk.openFileCount == 0)
        ring.disk.crash(seed: 9)
        #expect(try ring.open().numbers() == Array(0..<5))
    }

    @Test func writesStayWithinTheirBudget() throws {
        var ring = Ring()
        ring.options.segmentBytes = 1 << 20
        let cache = try ring.open()
        let start = cache.counters.bytesWritten
        cache.fill(0..<1000)
        // Own bytes only; the page that each fdatasync writes is the kernel's arithmetic: at most two a point.
        #expect(cache.counters.bytesWritten - start < 1000 * 100)
        #expect(cache.counters.syncs < 1010)
    }
}
