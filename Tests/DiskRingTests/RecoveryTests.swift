import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

@Suite struct RecoveryTests {
    /// Behind the record that introduces "car", which no header knew; each record then takes 68 bytes.
    private let firstRecord = SegmentHeader.bytes + 31

    @Test func reopeningFindsEverything() throws {
        let ring = Ring()
        let stream = try ring.fillAndClose(0..<3000)
        let cache = try ring.open()
        #expect(cache.streamID == stream)
        #expect(cache.recovery.records == 3000)
        #expect(cache.numbers() == Array(0..<3000))
        #expect(cache.counters == DiskRingCounters.afterCleanOpening(cache.counters))
    }

    @Test func openingTellsTheNewestPointThatStands() throws {
        let ring = Ring()
        var cache = try ring.open()
        #expect(cache.recovery.newest == nil)
        cache.fill(0..<3000)
        cache.append(entity: "bus", time: 7, payload: [], now: 0)
        cache = try ring.reopen(cache)
        #expect(cache.recovery.newest == NewestPoint(entity: "bus", time: 7))
        // The new segment is empty.
        cache = try ring.reopen(cache)
        #expect(cache.recovery.newest == NewestPoint(entity: "bus", time: 7))
        cache.fill(5000..<5002)
        // Times may go back, and the newest is the last one.
        cache.fill(4000..<4001)
        cache.readAndAcknowledge(through: .max)
        #expect(cache.count == 0)
        cache.close(now: 0)
        cache = try ring.open()
        #expect(cache.recovery.newest == NewestPoint(entity: "car", time: 4000), "what is acknowledged counts")
    }

    @Test func whatIsClearedIsNotTheNewestPoint() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<30)
        cache.fill(30..<40, entity: "bus")
        _ = try cache.clear(entities: ["bus"], from: nil, through: nil, now: 0)
        cache = try ring.reopen(cache)
        #expect(cache.recovery.newest == NewestPoint(entity: "car", time: 29))
    }

    @Test func aPowerCutCostsNothingThatWasSynchronised() throws {
        for seed in 0..<20 as Range<UInt64> {
            let ring = Ring(syncInterval: .max)
            var cache = try ring.open()
            cache.fill(0..<1200)
            cache.sync(now: 0)
            cache.fill(1200..<1300)
            cache = try ring.reopen(cache, crashSeed: seed)
            let numbers = cache.numbers()
            #expect(numbers.prefix(1200) == Array(0..<1200)[...], "seed \(seed)")
            #expect(numbers.dropFirst(1200).allSatisfy { (1200..<1300).contains($0) }, "seed \(seed)")
            #expect(numbers == numbers.sorted(), "seed \(seed)")
        }
    }

    @Test func acknowledgementsSurviveAClose() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<3000)
        cache.readAndAcknowledge(through: 2000)
        cache.close(now: 0)
        cache = try ring.open()
        #expect(cache.numbers() == Array(2000..<3000))
        #expect(cache.firstSequence == 2001)
        #expect(cache.recovery.records == 1000)
    }

    @Test func aLostLedgerCostsOnlyAResend() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<300)
        cache.readAndAcknowledge(through: 200)
        let stream = cache.streamID
        cache.close(now: 0)
        ring.disk.remove(Ring.directory + "/acknowledged")
        cache = try ring.open()
        #expect(cache.streamID == stream)
        #expect(cache.numbers() == Array(0..<300))
        // The login tells what the ledger forgot.
        cache.confirm(serverStoredThrough: 200, now: 0)
        #expect(cache.numbers() == Array(200..<300))
        #expect(cache.counters.streamConflicts == 0)
    }

    @Test func aTornLedgerSlotLeavesTheOther() throws {
        let ring = Ring()
        var cache = try ring.open()
        cache.fill(0..<300)
        cache.readAndAcknowledge(through: 100)
        cache.close(now: 0)
        cache = try ring.open()
        cache.readAndAcknowledge(through: 200)
        cache.close(now: 0)
        let file = try #require(ring.disk.contents(of: Ring.directory + "/acknowledged"))
        let ledger = try #require(Ledger(decoding: file))
        #expect(ledger.acknowledged == 200)
        for offset in ledger.offset..<ledger.offset + 64 {
            var torn = file
            torn[offset] ^= 0x10
            #expect(Ledger(decoding: torn)?.acknowledged == 100, "offset \(offset)")
        }
        ring.disk.flip(bit: 3, at: ledger.offset + 40, of: Ring.directory + "/acknowledged")
        #expect(try ring.open().numbers() == Array(100..<300))
    }

    @Test func oneDamagedRecordCostsOneRecord() throws {
        for position in [0, 4, 8, 16, 24, 26, 27, 28, 67] {
            let ring = try Ring.closed(holding: 0..<100)
            let record = firstRecord + 50 * 68
            ring.disk.flip(bit: 1, at: record + position, of: ring.segmentPaths[0])
            let cache = try ring.open()
            #expect(cache.numbers() == Array(0..<50) + Array(51..<100), "byte \(position)")
            #expect(cache.counters.corruptRecords == 1, "byte \(position)")
            #expect(cache.counters.tornTails == 0)
        }
    }

    @Test func severalDamagedRecordsAreCountedByTheirNumbers() throws {
        let ring = try Ring.closed(holding: 0..<100)
        for record in [10, 11, 12, 40, 0] {
            ring.disk.flip(bit: 7, at: firstRecord + record * 68 + 30, of: ring.segmentPaths[0])
        }
        let cache = try ring.open()
        #expect(cache.numbers() == (0..<100).filter { ![0, 10, 11, 12, 40].contains($0) })
        #expect(cache.counters.corruptRecords == 5)
    }

    @Test func aZeroedPageInTheMiddleCostsWhatItHeld() throws {
        let ring = try Ring.closed(holding: 0..<1000)
        let path = ring.segmentPaths[0]
        var file = try #require(ring.disk.contents(of: path))
        for offset in 12_288..<16_384 { file[offset] = 0 }
        ring.disk.plant(file, at: path)
        let cache = try ring.open()
        let numbers = cache.numbers()
        #expect(numbers.count == 1000 - Int(cache.counters.corruptRecords))
        #expect((60...62).contains(cache.counters.corruptRecords))
    }

    @Test func damageAfterOpeningIsSkippedAndCounted() throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(0..<3000)
        ring.disk.flip(bit: 1, at: firstRecord + 500 * 68 + 40, of: ring.segmentPaths[0])
        #expect(cache.numbers() == (0..<3000).filter { $0 != 500 })
        #expect(cache.numbers().count == 2999)
        #expect(cache.counters.corruptRecords == 1)
    }

    @Test func eitherHeaderCopyIsEnough() throws {
        for copy in [0, SegmentHeader.copyBytes] {
            for offset in [0, 8, 10, 12, 16, 32, 40, 49, 4095] {
                let ring = try Ring.closed(holding: 0..<10)
                ring.disk.flip(bit: 0, at: copy + offset, of: ring.segmentPaths[0])
                let cache = try ring.open()
                #expect(cache.numbers() == Array(0..<10))
            }
        }
    }

    @Test func aSegmentWithoutAHeaderIsLeftAloneAndItsNumbersAreNotUsedAgain() throws {
        let ring = try Ring.closed(holding: 0..<10)
        var cache = try ring.open()
        cache.fill(10..<20)
        let newest = cache.nextSequence
        cache.close(now: 0)
        let path = ring.segmentPaths[1]
        for copy in [0, SegmentHeader.copyBytes] { ring.disk.flip(bit: 0, at: copy, of: path) }
        cache = try ring.open()
        #expect(cache.recovery.damagedSegments == 1)
        #expect(cache.numbers() == Array(0..<10))
        #expect(cache.nextSequence > newest)
        #expect(ring.disk.paths.contains(path))
    }

    @Test func aSegmentCutAnywhereLosesOnlyItsEnd() throws {
        let ring = try Ring.closed(holding: 0..<50)
        let path = ring.segmentPaths[0]
        let file = try #require(ring.disk.contents(of: path))
        for length in stride(from: 0, through: firstRecord + 50 * 68 + 100, by: 37) {
            let other = Ring()
            other.disk.plant(Array(file[..<length]), at: "/state/x")
            try other.disk.makeDirectory(Ring.directory)
            other.disk.plant(Array(file[..<length]), at: path)
            let cache = try other.open()
            let whole = max(0, length - firstRecord) / 68
            let isReadable = length >= SegmentHeader.copyBytes
            #expect(cache.numbers() == Array(0..<(isReadable ? min(whole, 50) : 0)), "length \(length)")
            #expect(cache.state == .disk)
            #expect(cache.nextSequence > 50)
        }
    }

    @Test func foreignFilesAreLeftAloneAndCounted() throws {
        let ring = try Ring.closed(holding: 0..<10)
        let foreign = [
            "README", ".hidden", "0000000000000001.segmentx", "000000000000000G.segment", "ABCDEF0000000000.segment",
            "ffffffffffffffff.segment", "1.segment", "0000000000000000.segment",
        ]
        for name in foreign { ring.disk.plant([1, 2, 3], at: Ring.directory + "/" + name) }
        let cache = try ring.open()
        #expect(cache.recovery.foreignFiles == foreign.count)
        #expect(cache.numbers() == Array(0..<10))
        for name in foreign { #expect(ring.disk.contents(of: Ring.directory + "/" + name) == [1, 2, 3]) }
    }

    @Test func segmentsOfAnotherStreamAreLeftAlone() throws {
        let ring = Ring()
        let other = Ring()
        try other.fillAndClose(100..<110)
        try other.fillAndClose(110..<120)
        let stream = try ring.fillAndClose(0..<10)
        let path = other.segmentPaths[1]
        ring.disk.plant(try #require(other.disk.contents(of: path)), at: path)
        let cache = try ring.open()
        #expect(cache.streamID == stream)
        #expect(cache.recovery.foreignSegments == 1)
        #expect(cache.numbers() == Array(0..<10))
        #expect(ring.disk.paths.contains(path))
        // Without the ledger the newest decides, and the rest is left alone.
        cache.close(now: 0)
        ring.disk.remove(Ring.directory + "/acknowledged")
        let newest = try ring.open()
        #expect(newest.streamID == stream)
        #expect(newest.recovery.foreignSegments == 1)
    }

    @Test func aSegmentUnderAWrongNameIsNotOurs() throws {
        let ring = try Ring.closed(holding: 0..<10)
        ring.disk.plant(
            try #require(ring.disk.contents(of: ring.segmentPaths[0])), at: Ring.directory + "/0000000000000055.segment"
        )
        let cache = try ring.open()
        #expect(cache.recovery.damagedSegments == 1)
        #expect(cache.numbers() == Array(0..<10))
    }

    @Test func recordsOfAnotherStreamNeverVerify() throws {
        let ring = try Ring.closed(holding: 0..<10)
        let path = ring.segmentPaths[0]
        var file = try #require(ring.disk.contents(of: path))
        let header = SegmentHeader(stream: StreamID(high: 9, low: 9), firstSequence: 1, entities: ["car"])
        file.replaceSubrange(..<SegmentHeader.bytes, with: header.encoded())
        ring.disk.plant(file, at: path)
        let cache = try ring.open()
        #expect(cache.numbers() == [])
        #expect(cache.counters.tornTails + cache.counters.corruptRecords > 0)
    }

    @Test func leftoversOfAnInterruptedBeginningAreRemoved() throws {
        let ring = try Ring.closed(holding: 0..<10)
        ring.disk.plant([0, 0], at: Ring.directory + "/0000000000000077.segment.new")
        let cache = try ring.open()
        #expect(cache.numbers() == Array(0..<10))
        #expect(!ring.disk.paths.contains { $0.hasSuffix(".new") })
    }

    @Test(arguments: [13, 5] as [Int32])
    func anUnreadableSegmentIsCountedAndTheOthersAreRead(number: Int32) throws {
        let ring = try Ring.closed(holding: 0..<3000)
        let total = ring.segmentPaths.count
        // The lock, the ledger, then the headers in order: the second segment's open fails, at every attempt.
        let attempts = DirectoryState.mostReads
        ring.disk.faults = [DiskFault([.open], after: 3, times: 1, number: number)]
        let cache = try ring.open()
        #expect(cache.state == .memory(CacheFileError(.open, number)))
        for attempt in 2...attempts {
            // The lock is held already.
            ring.disk.faults = [DiskFault([.open], after: 2, times: 1, number: number)]
            cache.maintain(now: 0 + Int64(attempt) * 100_000)
            #expect((cache.state == .disk) == (attempt == attempts))
        }
        #expect(cache.recovery.unreadableSegments == 1)
        #expect(cache.recovery.segments == total - 1)
        #expect(cache.numbers().first == 0)
        #expect(cache.numbers().last == 2999)
        #expect(cache.numbers().count < 3000)
        #expect(cache.counters.diskErrors[number] == 5)
    }

    @Test func manyShortRunsDoNotFillTheBound() throws {
        let ring = Ring(limit: 8 * DiskRingOptions.smallestSegment)
        for run in 0..<30 {
            let cache = try ring.open()
            cache.fill(run * 5..<run * 5 + 5)
            if run % 2 == 0 { cache.close(now: 0) } else { ring.disk.crash(seed: UInt64(run)) }
        }
        let cache = try ring.open()
        #expect(cache.numbers() == Array(0..<150))
        #expect(cache.counters.droppedByBound == 0)
    }

    @Test func noPatternOfBytesStopsTheOpening() throws {
        let model = try Ring.closed(holding: 0..<200)
        let path = model.segmentPaths[0]
        let file = try #require(model.disk.contents(of: path))
        for seed in 0..<60 as Range<UInt64> {
            var dice = DiskDice(seed: seed)
            let ring = Ring()
            try ring.disk.makeDirectory(Ring.directory)
            var damaged = file
            switch seed % 3 {
            case 0:
                for _ in 0..<Int.random(in: 1...200, using: &dice) {
                    damaged[Int.random(in: 0..<damaged.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
                }
            case 1:
                let start = Int.random(in: SegmentHeader.bytes..<damaged.count, using: &dice)
                for index in start..<damaged.count { damaged[index] = UInt8.random(in: 0...255, using: &dice) }
            default:
                for index in damaged.indices { damaged[index] = UInt8.random(in: 0...255, using: &dice) }
            }
            ring.disk.plant(damaged, at: path)
            ring.disk.plant(Array(damaged.prefix(9000)), at: Ring.directory + "/acknowledged")
            ring.disk.plant(Array(damaged.prefix(90)), at: Ring.directory + "/lock")
            let cache = try ring.open()
            #expect(cache.state == .disk, "seed \(seed)")
            let numbers = cache.numbers()
            #expect(numbers.allSatisfy { (0..<200).contains($0) } && numbers == numbers.sorted(), "seed \(seed)")
            cache.fill(500..<510)
            #expect(cache.numbers() == numbers + Array(500..<510), "seed \(seed)")
        }
    }

    @Test func bytesMadeToCostTimeAreBounded() throws {
        // Every offset looks like the beginning of a long record.
        let ring = try Ring.closed(holding: 0..<5)
        let path = ring.segmentPaths[0]
        var file = try #require(ring.disk.contents(of: path))
        for index in (firstRecord + 340)..<file.count { file[index] = index % 2 == 0 ? 1 : 0 }
        file += [UInt8](repeating: 1, count: 200_000)
        ring.disk.plant(file, at: path)
        let cache = try ring.open()
        #expect(cache.numbers() == Array(0..<5))
    }
}

extension DiskRingCounters {
    /// What opening itself may have moved: nothing was lost.
    static func afterCleanOpening(_ counters: Self) -> Self {
        var clean = DiskRingCounters()
        clean.syncs = counters.syncs
        clean.bytesWritten = counters.bytesWritten
        clean.segmentsCreated = 1
        return clean
    }
}
