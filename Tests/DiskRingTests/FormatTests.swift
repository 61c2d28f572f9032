import FoundationEssentials
import Testing
import TrackModel
import TrackTestKit

@testable import DiskRing

/// The annotated example of docs/formats/track-cache.md is what the code writes.
@Suite struct FormatTests {
    /// The bytes of each `hex` block, by offset; what stands after `|` is for people.
    private func documentedBytes() throws -> [[Int: UInt8]] {
        let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/docs/formats/track-cache.md"
        let text = try String(contentsOfFile: "/" + path, encoding: .utf8)
        return text.components(separatedBy: "```hex\n").dropFirst().map { block in
            var bytes: [Int: UInt8] = [:]
            for line in block.prefix(while: { $0 != "`" }).split(separator: "\n") {
                let fields = line.prefix { $0 != "|" }.split(separator: " ")
                guard let first = fields.first, var offset = Int(first, radix: 16) else { continue }
                for field in fields.dropFirst() {
                    bytes[offset] = UInt8(field, radix: 16)
                    offset += 1
                }
            }
            return bytes
        }
    }

    private func expectEqual(_ file: [UInt8], _ documented: [Int: UInt8], _ name: String) {
        #expect(documented.count > 40, "\(name)")
        for (offset, byte) in file.enumerated() where byte != documented[offset] ?? 0 {
            Issue.record("\(name): byte \(String(offset, radix: 16)) is \(String(byte, radix: 16)): \(hex(file))")
            return
        }
    }

    /// In the shape of the document, without what is zero.
    private func hex(_ file: [UInt8]) -> String {
        stride(from: 0, to: file.count, by: 16).compactMap { start -> String? in
            let row = file[start..<min(start + 16, file.count)]
            guard row.contains(where: { $0 != 0 }) else { return nil }
            return ([start] + row.map(Int.init)).map { String($0, radix: 16) }.joined(separator: " ")
        }.joined(separator: "\n")
    }

    @Test func theDocumentedExampleIsWhatIsWritten() throws {
        let documented = try documentedBytes()
        try #require(documented.count == 2)
        let ring = Ring()
        let stream = StreamID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
        func open() throws -> DiskRing {
            try DiskRing(
                directory: Ring.directory, options: ring.options, fileSystem: ring.disk, now: 0, newStream: { stream })
        }
        var cache = try open()
        cache.append(entity: "bus-7", time: 1_760_000_000_000, payload: Array("one".utf8), now: 0)
        cache.append(entity: "bus-7", time: 1_760_000_005_000, payload: Array("two".utf8), now: 0)
        cache.close(now: 0)
        cache = try open()
        cache.append(entity: "bus-7", time: 1_760_000_010_000, payload: Array("three".utf8), now: 0)
        cache.append(entity: "tram", time: 1_760_000_010_000, payload: Array("four".utf8), now: 0)
        _ = try cache.clear(entities: ["tram"], from: nil, through: 1_760_000_010_000, now: 0)
        cache.confirm(serverStoredThrough: 2, now: 0)
        cache.close(now: 0)
        let segment = try #require(ring.disk.contents(of: Ring.directory + "/0000000100000001.segment"))
        expectEqual(segment, documented[0], "segment")
        let ledger = try #require(ring.disk.contents(of: Ring.directory + "/acknowledged"))
        expectEqual(ledger, documented[1], "ledger")
    }

    @Test func headersAreReadAsTheyWereWritten() {
        let stream = StreamID(high: 1, low: 2)
        let names = SegmentHeader.fitting((0..<100).map { String(repeating: "x", count: 100) + "\($0)" })
        #expect(names.count == 39)
        for entities in [[], ["car"], ["", "é"], names] {
            let header = SegmentHeader(stream: stream, firstSequence: 77, entities: entities)
            #expect(header.encoded().count == SegmentHeader.bytes)
            #expect(SegmentHeader(decoding: header.encoded()) == header)
        }
        #expect(SegmentHeader(decoding: []) == nil)
        #expect(SegmentHeader(decoding: [UInt8](repeating: 0, count: SegmentHeader.bytes)) == nil)
    }

    @Test func aNewerVersionIsNotRead() {
        var block = SegmentHeader(stream: StreamID(high: 1, low: 2), firstSequence: 1, entities: []).encoded()
        for copy in [0, SegmentHeader.copyBytes] { block[copy + 8] = 2 }
        #expect(SegmentHeader(decoding: block) == nil)
    }

    @Test func segmentNamesAreSixteenDigits() {
        #expect(SegmentName.of(1) == "0000000000000001.segment")
        #expect(SegmentName.of((1 << 62) + 0xAB) == "40000000000000ab.segment")
        #expect(SegmentName.sequence("00000000000000ff.segment") == 255)
        for name in [
            "", ".segment", "0000000000000000.segment", "00000000000000FF.segment", "00000000000000ff.segment.new",
            "+0000000000000ff.segment", "ffffffffffffffff.segment", "00000000000000f.segment",
        ] {
            #expect(SegmentName.sequence(name) == nil, "\(name)")
        }
    }
}

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
