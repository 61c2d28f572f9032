import Foundation
import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

/// Opening is idempotent: whatever the files hold, another opening of the same files finds what the first one found.
@Suite struct OpeningTwiceTests {
    /// `SAKER_TEST_SEEDS` says how many, a hundred of them a block (10).
    static let blocks =
        ProcessInfo.processInfo.environment["SAKER_TEST_SEEDS"].flatMap(UInt64.init).map { $0 / 100 } ?? 10

    @Test(arguments: 0..<blocks)
    func anotherOpeningFindsTheSame(block: UInt64) throws {
        for seed in block * 100..<(block + 1) * 100 {
            let ring = Ring()
            try ring.open().close(now: 0)
            for path in ring.disk.paths where path.hasPrefix(Ring.directory) { ring.disk.remove(path) }
            var files = CraftedFiles(seed: seed)
            for (name, bytes) in files.make() { ring.disk.plant(bytes, at: "\(Ring.directory)/\(name)") }
            try check(ring, seed)
        }
    }

    /// A foreign or damaged file with a high name drove numbering to the end of the stream, and each opening after that
    /// began another stream and left the records of the one before.
    @Test(arguments: [1 << 61, (1 << 61) + 1, (1 << 62) - (1 << 33) + 1, (1 << 62) - 7] as [UInt64])
    func aFileWithAHighNameCostsNothing(first: UInt64) throws {
        let ring = Ring()
        let cache = try ring.open()
        cache.fill(1..<4)
        cache.close(now: 0)
        ring.disk.plant([1, 2, 3], at: "\(Ring.directory)/\(SegmentName.of(first))")
        var again = try ring.open()
        for number in 4..<9 {
            #expect(again.streamID == cache.streamID)
            again.fill(number..<number + 1)
            again.close(now: 0)
            again = try ring.reopen(again)
            #expect(again.numbers() == Array(1...number))
        }
        #expect(ring.disk.contents(of: "\(Ring.directory)/\(SegmentName.of(first))") == [1, 2, 3])
    }

    /// A clear says nothing of the numbers in use, so it cannot use them up.
    @Test(arguments: [4, 1 << 32, 1 << 61, (1 << 62) - (1 << 33) + 1, 1 << 62] as [UInt64])
    func aClearCoversTheSameWhateverItsNumber(below: UInt64) throws {
        let ring = Ring()
        try ring.open().close(now: 0)
        for path in ring.disk.paths where path.hasPrefix(Ring.directory) { ring.disk.remove(path) }
        for first in [1, SequenceRange.size + 1] {
            let crafted = CraftedSegment(first: first, points: [1, 2, 5].map { first - 1 + $0 }, clearingBelow: below)
            ring.disk.plant(crafted.bytes, at: "\(Ring.directory)/\(SegmentName.of(first))")
        }
        var cache = try ring.open()
        let found = cache.everything().map(\.sequence)
        #expect(found == (below == 4 ? [5] : []) + (below < 1 << 33 ? [1, 2, 5].map { SequenceRange.size + $0 } : []))
        for opening in 1...3 {
            cache.fill(opening..<opening + 1)
            cache.close(now: 0)
            cache = try ring.reopen(cache)
            #expect(cache.everything().dropLast(opening).map(\.sequence) == found)
            #expect(cache.nextSequence == UInt64(opening + 2) << 32 | 1)
        }
    }

    /// The next segment's name keeps a point from being taken: that segment stays as long as the point does.
    @Test func aPointBehindItsSegmentNeverAppears() throws {
        let ring = Ring()
        try ring.open().close(now: 0)
        for path in ring.disk.paths where path.hasPrefix(Ring.directory) { ring.disk.remove(path) }
        for (first, points) in [(1, [1, 12]), (10, []), (20, [20])] as [(UInt64, [UInt64])] {
            ring.disk.plant(
                CraftedSegment(first: first, points: points, clearingBelow: nil).bytes,
                at: "\(Ring.directory)/\(SegmentName.of(first))")
        }
        var cache = try ring.open()
        for _ in 1...3 {
            #expect(cache.everything().map(\.sequence) == [1, 20])
            cache.close(now: 0)
            cache = try ring.reopen(cache)
        }
    }

    @Test func anIndexThatGetsAnotherNameIsCountedUnderBoth() throws {
        let ring = Ring()
        try ring.open().close(now: 0)
        for path in ring.disk.paths where path.hasPrefix(Ring.directory) { ring.disk.remove(path) }
        var crafted = CraftedSegment(first: 1, points: [1, 2], clearingBelow: nil)
        crafted.append(.entity, 3, Array("bus".utf8))
        crafted.append(.point, 3, [3])
        ring.disk.plant(crafted.bytes, at: "\(Ring.directory)/\(SegmentName.of(1))")
        let cache = try ring.open()
        #expect(cache.info().map(\.entity) == ["bus", "car"])
        #expect(cache.info().map(\.count) == [1, 2])
    }

    /// Opens five times; in between it works on, and what it holds changes by that and nothing else.
    private func check(_ ring: Ring, _ seed: UInt64) throws {
        var dice = DiskDice(seed: ~seed)
        var cache = try ring.open()
        var expected = cache.everything()
        for opening in 1...4 {
            #expect(cache.count == UInt64(expected.count), "seed \(seed), opening \(opening)")
            if !dice.one(in: 3) {
                cache.fill(1000 + opening..<1001 + opening)
                #expect(cache.everything().dropLast() == expected[...], "seed \(seed), opening \(opening)")
                expected = cache.everything()
            }
            if dice.one(in: 4), let record = expected.randomElement(using: &dice) {
                cache.acknowledge(through: record.sequence, of: cache.streamID, now: 0)
                expected.removeAll { $0.sequence <= record.sequence }
            }
            // Behind the last range of a stream another stream begins.
            guard cache.nextSequence < SequenceRange.plausible.upperBound - 2 * SequenceRange.size else { return }
            let isKilled = dice.one(in: 4)
            if !isKilled { cache.close(now: 0) }
            cache = try ring.reopen(cache)
            let found = cache.everything()
            let range = isKilled ? found.suffix(expected.count) : found[...]
            #expect(range == expected[...], "seed \(seed), opening \(opening + 1)")
            guard range == expected[...] else { return }
            expected = found
        }
    }
}

extension DiskRing {
    fileprivate func everything() -> [CacheRecord] { batches(count: 3).flatMap(\.records) }
}

/// A segment of one entity, "car", and perhaps a clear of all that is below a number.
private struct CraftedSegment {
    private(set) var bytes: [UInt8]

    init(first: UInt64, points: [UInt64], clearingBelow below: UInt64?) {
        bytes = SegmentHeader(stream: StreamID(high: 1, low: 2), firstSequence: first, entities: ["car"]).encoded()
        for sequence in points { append(.point, sequence, [1]) }
        guard let below else { return }
        append(.tombstone, below, Tombstone(below: below, entities: nil, times: .min ... .max).encoded())
    }

    mutating func append(_ kind: RecordFormat.Kind, _ sequence: UInt64, _ body: [UInt8]) {
        RecordFormat.append(
            kind, sequence: sequence, time: 0, entity: 0, body: body,
            salt: RecordFormat.salt(of: StreamID(high: 1, low: 2)), to: &bytes)
    }
}

/// Segments and a ledger with sound checksums whose numbers, clears and names are nonsense, and some damage.
private struct CraftedFiles {
    private let stream = StreamID(high: 1, low: 2)
    private var dice: DiskDice
    private var firsts: [UInt64] = []

    init(seed: UInt64) {
        dice = DiskDice(seed: seed)
    }

    mutating func make() -> [(name: String, bytes: [UInt8])] {
        let range = SequenceRange.size
        let places: [UInt64] = [
            1, 2, 4, 7, range, range + 1, range + 3, 2 * range + 1, 5 * range - 1, 1 << 50, (1 << 62) - 7,
        ]
        firsts = places.filter { _ in dice.one(in: 4) }
        if firsts.isEmpty { firsts = [1] }
        var files = firsts.map { (SegmentName.of($0), segment(first: $0)) }
        if dice.one(in: 2) {
            let ledger = Ledger(
                generation: .random(in: 0...3, using: &dice), stream: stream, acknowledged: sequence() - 1,
                rangeStart: sequence())
            files.append((Ledger.name, ledger.encoded() + [UInt8](repeating: 0, count: 4096)))
        }
        // The same records in two files.
        if dice.one(in: 4), let one = files.first?.1, let other = files.indices.last {
            files[other].1 = Array(files[other].1.prefix(SegmentHeader.bytes) + one.dropFirst(SegmentHeader.bytes))
        }
        return files
    }

    private mutating func sequence() -> UInt64 {
        let base = firsts.randomElement(using: &dice) ?? 1
        let near = UInt64.random(in: 0...6, using: &dice)
        return dice.one(in: 4) ? max(base, near + 1) - near : min(base + near, SequenceRange.plausible.upperBound)
    }

    private mutating func segment(first: UInt64) -> [UInt8] {
        let owner = dice.one(in: 12) ? StreamID(high: 3, low: 4) : stream
        let names = ["car", "bus", "tram"].filter { _ in dice.one(in: 2) }
        var file = SegmentHeader(stream: owner, firstSequence: first, entities: names).encoded()
        var next = first
        for _ in 0..<Int.random(in: 0...8, using: &dice) {
            next = dice.one(in: 4) ? sequence() : min(next + 1, SequenceRange.plausible.upperBound)
            append(dice.one(in: 3) ? sequence() : next, to: &file, of: owner)
        }
        if dice.one(in: 6) { file[.random(in: SegmentHeader.bytes - 2..<file.count, using: &dice)] ^= 1 }
        if dice.one(in: 6) { file.removeLast(.random(in: 0...20, using: &dice)) }
        if dice.one(in: 3) { file += [UInt8](repeating: 0, count: 70_000) }
        if dice.one(in: 8) { file += [1, 2, 3] }
        return file
    }

    private mutating func append(_ sequence: UInt64, to file: inout [UInt8], of owner: StreamID) {
        let salt = RecordFormat.salt(of: owner)
        let entity = UInt16.random(in: 0...2, using: &dice)
        let time = Int64.random(in: 0...3, using: &dice)
        switch Int.random(in: 0..<6, using: &dice) {
        case 0:
            let names: Set<ExactName>? = dice.one(in: 3) ? nil : Set(["car", "bus"].filter { _ in dice.one(in: 2) })
            let times = dice.one(in: 3) ? Int64.min ... .max : 0...Int64.random(in: 0...3, using: &dice)
            let clear = Tombstone(below: sequence, entities: names, times: times)
            RecordFormat.append(
                .tombstone, sequence: sequence, time: 0, entity: 0, body: clear.encoded(), salt: salt, to: &file)
        case 1:
            let name = ["car", "bus", "tram", ""].randomElement(using: &dice) ?? ""
            RecordFormat.append(
                .entity, sequence: sequence, time: 0, entity: entity, body: Array(name.utf8), salt: salt, to: &file)
        default:
            RecordFormat.append(
                .point, sequence: sequence, time: time, entity: entity, body: payload(Int(sequence)), salt: salt,
                to: &file)
        }
    }
}
