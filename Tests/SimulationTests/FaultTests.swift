import AgentControl
import DiskRing
import Testing
import TrackModel
import TrackTestKit

@testable import SystemSimulation

/// What a fault excuses, and that it excuses nothing else.
@Suite final class FaultTests {
    private let disk = DiskSimulation(directories: ["/var"])
    private let options = DiskRingOptions(limit: nil, segmentBytes: DiskRingOptions.smallestSegment)
    private var ledger = PointModel()
    private lazy var witness = RingFileObserver(disk, directory: "/ring") { [unowned self] _, time in
        (try? fix(time)).map { TrackPoint($0) }
    }

    private func fix(_ number: Int64) throws -> Fix {
        let place = try #require(Coordinate(latitudeE7: Int32(number), longitudeE7: 7))
        return Fix(time: Timestamp(milliseconds: number), coordinate: place, mode: .threeDimensional)
    }

    private func boot() throws -> DiskRing {
        disk.killProcess()
        _ = witness.takeOperation()
        let cache = try DiskRing(directory: "/ring", options: options, fileSystem: disk, now: 0)
        try ledger.processStarted(cache, at: 0, witness)
        return cache
    }

    private func gather(_ numbers: ClosedRange<Int64>, _ cache: DiskRing, bytes: Int = 3) throws {
        for number in numbers {
            ledger.choose(try fix(number), entity: "van", bytes: bytes)
            cache.append(entity: "van", time: number, payload: [UInt8](repeating: 7, count: bytes), now: 0)
            try ledger.observe(cache, .other, at: 0, witness)
        }
    }

    private func segments() -> [String] { disk.paths.filter { $0.hasSuffix(".segment") } }

    /// Point `number` of the first segment, of three bytes.
    private func flip(point number: Int, tells: Bool = true) throws {
        let path = try #require(segments().first)
        let before = witness.content()
        disk.flip(bit: 0, at: 8192 + 31 + (number - 1) * 31 + 30, of: path)
        if tells { ledger.flipped(from: before, to: witness.content()) }
    }

    @Test func aFlippedBitExcusesItsPointAlone() throws {
        try gather(1...10, boot())
        try flip(point: 4)
        _ = try boot()
        #expect(ledger.entries.indices.filter { ledger.entries[$0].doubt != nil } == [3])
        #expect(ledger.waiting.count == 9)
        #expect(ledger.weaknesses == [.lostToFlippedBits: 1])
        try flip(point: 7, tells: false)
        #expect(throws: Violation.self) { try boot() }
    }

    /// It stays in the count until later points are acknowledged, and there may be none for long.
    @Test func nobodyWaitsForASpoiledPoint() throws {
        let cache = try boot()
        try gather(1...1, cache)
        #expect(ledger.oldestWaiting(at: 0, count: cache.count) != nil)
        try flip(point: 1)
        #expect(ledger.oldestWaiting(at: 0, count: cache.count) == nil)
    }

    @Test func afterDamageCountsAndClearsAreCheckedAllTheSame() throws {
        try gather(1...10, boot())
        try flip(point: 4)
        let cache = try boot()
        // Two points that nobody clears.
        _ = try cache.clear(entities: ["van"], from: 5, through: 6, now: 0)
        #expect(throws: Violation.self) { try ledger.observe(cache, .other, at: 0, witness) }
        #expect(throws: Violation.self) { try ledger.settle() }
    }

    @Test func whatIsAppendedBehindALostNameIsExcused() throws {
        let cache = try boot()
        try gather(1...3, cache)
        let path = try #require(segments().first)
        let before = witness.content()
        disk.flip(bit: 0, at: 8192 + 29, of: path)
        ledger.flipped(from: before, to: witness.content())
        try gather(4...6, cache)
        _ = try boot()
        #expect(ledger.waiting.isEmpty)
        #expect(ledger.weaknesses[.lostToFlippedBits] == 6)
    }

    @Test func aSpoiledClearMayBringPointsBack() throws {
        let cache = try boot()
        try gather(1...5, cache)
        let clear = CacheSelection(entities: ["van"], from: 2, through: 3)
        _ = try cache.clear(entities: clear.entities, from: 2, through: 3, now: 0)
        try ledger.observe(cache, .clear(clear), at: 0, witness)
        let path = try #require(segments().first)
        let before = witness.content()
        disk.flip(bit: 0, at: 8192 + 31 + 5 * 31 + 30, of: path)
        ledger.flipped(from: before, to: witness.content())
        _ = try boot()
        #expect(ledger.waiting == [0, 1, 2, 3, 4])
    }

    @Test func aFileIsNotGivenUpBeforeTheDiskRefusedItThreeTimes() throws {
        let cache = try boot()
        try gather(1...3, cache)
        ledger.failedOperations = 9
        #expect(throws: Violation.self) { try ledger.gaveUp(3, cache, DiskOperation(refused: [1]), witness) }
        ledger.refusedOperations = [1: 2, 7: 3]
        #expect(throws: Violation.self) { try ledger.gaveUp(3, cache, DiskOperation(refused: [1]), witness) }
        // Another file was given up since the first refusal of this one.
        (ledger.refusedOperations, ledger.failedOperations) = ([1: 3], 2)
        try ledger.gaveUp(3, cache, DiskOperation(refused: [1]), witness)
        #expect(ledger.waiting.isEmpty && ledger.aside == [0, 1, 2])
    }

    /// The bound may take a file in the same operation in which the cache gave it up.
    @Test func aFileWithoutAHeaderMayBeGivenUpAndDropped() throws {
        let cache = try boot()
        try gather(1...3, cache)
        let points = witness.points(in: 1)
        func gone(isSound: Bool) -> DiskOperation {
            DiskOperation(losses: [
                LostFile(
                    segment: 1, size: 9000, bytes: 9000, isGone: true, points: points, hasSoundHeader: isSound,
                    holdsClears: false)
            ])
        }
        ledger.failedOperations = 2
        #expect(throws: Violation.self) { try ledger.gaveUp(3, cache, gone(isSound: false), witness) }
        ledger.failedOperations = 3
        #expect(throws: Violation.self) { try ledger.gaveUp(3, cache, gone(isSound: true), witness) }
        try ledger.gaveUp(3, cache, gone(isSound: false), witness)
        #expect(ledger.waiting.isEmpty && ledger.aside == [0, 1, 2])
    }

    @Test func theNextOpeningMustFindWhatWasGivenUp() throws {
        let cache = try boot()
        try gather(1...3, cache)
        disk.faults = [DiskFault([.open, .read], number: 5)]
        for moment in [0, 20_000, 40_000] as [MonotonicTime] {
            #expect(cache.read(after: 0, maximumCount: 10, maximumBytes: 1000, now: moment) == nil)
            try ledger.observe(cache, .other, at: moment, witness)
        }
        #expect(ledger.aside == [0, 1, 2])
        disk.faults = []
        _ = try boot()
        #expect(ledger.waiting == [0, 1, 2])
        #expect(ledger.weaknesses.isEmpty)
    }

    /// Newer points were stored meanwhile. An opening that cannot read the ledger takes what was given up for waiting once
    /// more, and the next one does not: the server would take nothing of these numbers.
    @Test func whatIsBehindStoredPointsStaysInDoubt() throws {
        let cache = try boot()
        try gather(1...3, cache)
        disk.faults = [DiskFault([.open, .read], number: 5)]
        for moment in [0, 20_000, 40_000] as [MonotonicTime] {
            #expect(cache.read(after: 0, maximumCount: 10, maximumBytes: 1000, now: moment) == nil)
            try ledger.observe(cache, .other, at: moment, witness)
        }
        disk.faults = []
        try gather(4...5, cache)
        let batch = try #require(cache.read(after: 0, maximumCount: 10, maximumBytes: 1000, now: 60_000))
        #expect(batch.records.count == 2)
        for number in [4, 5] as [Int64] { try ledger.stored(TrackPoint(try fix(number)), entity: "van", at: 60_000) }
        ledger.committed(batch.stream.bytes, through: batch.lastSequence)
        cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: 60_000)
        try ledger.observe(cache, .other, at: 60_000, witness)
        cache.close(now: 60_000)
        try ledger.observe(cache, .other, at: 60_000, witness)
        let path = "/ring/acknowledged"
        let hint = try #require(disk.contents(of: path))
        disk.faults = [DiskFault([.open], after: 1, times: 1, number: 5)]
        _ = try boot()
        #expect(ledger.waiting.starts(with: [0, 1, 2]))
        // The power takes the ledger that this process wrote, and the older one is there again.
        disk.plant(hint, at: path)
        _ = try boot()
        #expect(!ledger.waiting.contains(0))
        #expect(ledger.weaknesses[.lostInRefusedFile] == 3)
    }

    @Test func theBoundTakesNothingBeforeItIsReached() throws {
        let cache = try boot()
        try gather(1...100, cache, bytes: 1000)
        cache.setLimit(bytes: 4 * options.segmentBytes)
        #expect(throws: Violation.self) { try ledger.checkBound(cache, .other, DiskOperation(), witness) }
        cache.setLimit(bytes: 2 * options.segmentBytes)
        try gather(101...200, cache, bytes: 1000)
        #expect(cache.counters.segmentsDropped > 0)
    }

    @Test func aFileWithWaitingPointsMustNotGo() throws {
        let cache = try boot()
        try gather(1...100, cache, bytes: 1000)
        try disk.unlink(try #require(segments().first))
        #expect(throws: Violation.self) { try ledger.observe(cache, .other, at: 0, witness) }
    }

    @Test func onlyWhatStoodInARefusedFileMayBeLate() throws {
        try gather(1...2, boot())
        disk.faults = [DiskFault([.open], number: 5)]
        let cache = try boot()
        var now: MonotonicTime = 0
        for attempt in 2...5 {
            #expect(!ledger.entries[0].mayBeLate, "before attempt \(attempt)")
            now = try #require(cache.nextMaintenance)
            cache.maintain(now: now)
            try ledger.observe(cache, .other, at: now, witness)
        }
        #expect(ledger.entries[0].mayBeLate)
        try gather(3...4, cache)
        try ledger.stored(TrackPoint(try fix(4)), entity: "van", at: now)
        try ledger.stored(TrackPoint(try fix(1)), entity: "van", at: now)
        #expect(ledger.weaknesses == [.late: 1])
        let third = TrackPoint(try fix(3))
        #expect(throws: Violation.self) { try ledger.stored(third, entity: "van", at: now) }
    }
}
