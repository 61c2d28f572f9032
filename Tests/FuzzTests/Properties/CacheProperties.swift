import Compression
import TrackModel
import TrackTestKit

@testable import DiskRing

/// The disk ring: whatever a disk gives back.
enum CacheProperties {
    private static let directory = "/cache"
    private static let stream = StreamID(high: 0x5341_4B45_5200_0001, low: 7)

    /// First byte: 1 when the rest is a segment file as it is; else the rest are records behind a sound header, whose
    /// checksums are made right (2: of the first half only), so that what is behind the checksum is reached. 4: the
    /// first 64 bytes of the rest are a slot of the ledger, likewise. 8: the same bytes once more as a second segment.
    @Sendable static func checkSegment(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let choice = reader.byte()
        var rest = Array(reader.rest)
        let disk = DiskSimulation(directories: [directory])
        if choice & 4 != 0 {
            disk.plant(ledger(Array(rest.prefix(64))), at: "\(directory)/\(Ledger.name)")
            rest.removeFirst(min(64, rest.count))
        }
        let firsts: [UInt64] = choice & 8 != 0 ? [1, 1 << 32 | 1] : [1]
        for first in firsts {
            let header = SegmentHeader(stream: stream, firstSequence: first, entities: ["van 07", "bus"])
            let file =
                choice & 1 != 0
                ? rest : header.encoded() + sealed(rest, through: choice & 2 != 0 ? rest.count / 2 : rest.count)
            disk.plant(file, at: "\(directory)/\(SegmentName.of(first))")
        }
        try checkRing(on: disk, bytes: 2 * rest.count)
    }

    private static func checkRing(on disk: DiskSimulation, bytes: Int) throws {
        let ring = try open(disk)
        try require(ring.state == .disk, "the cache left a disk that works")
        let found = try records(in: ring)
        try require(
            found.reduce(0) { $0 + $1.payload.count + RecordFormat.headerBytes } <= bytes,
            "more came out than was in the file")
        try require(ring.count == UInt64(found.count), "it counts \(ring.count) records and returns \(found.count)")
        let info = ring.info()
        try require(info.reduce(0) { $0 + $1.count } == ring.count, "the entities' counts do not add up")
        // It works on, whatever it found.
        let new = ring.append(entity: "new", time: 1, payload: [1, 2, 3], now: 0)
        try require(new != nil, "a record was refused")
        try require(new ?? 0 > found.last?.sequence ?? 0, "a number was given out twice")
        let all = try records(in: ring)
        try require(all.count == found.count + 1, "the record appended is not read back")
        ring.close(now: 0)
        try require(disk.openFileCount == 0, "files stay open")

        let again = try open(disk)
        let kept = try records(in: again)
        try require(kept == all, "opened again, it holds \(kept.map(\.sequence)), before \(all.map(\.sequence))")
        again.acknowledge(through: again.nextSequence - 1, of: again.streamID, now: 0)
        try require(again.count == 0, "records stay after everything was acknowledged")
        again.close(now: 0)
    }

    private static func open(_ disk: DiskSimulation) throws -> DiskRing {
        try DiskRing(
            directory: directory,
            options: DiskRingOptions(segmentBytes: DiskRingOptions.smallestSegment), fileSystem: disk, now: 0,
            newStream: { StreamID(high: 1, low: 2) })
    }

    private static func records(in ring: DiskRing) throws -> [CacheRecord] {
        var all: [CacheRecord] = []
        var position: UInt64 = 0
        while let batch = ring.read(after: position, maximumCount: 7, maximumBytes: 4096, now: 0) {
            try require(batch.firstSequence > position, "reading goes back")
            try require(batch.records.count <= 7, "more records than asked for")
            for (index, record) in batch.records.enumerated() {
                try require(
                    record.sequence == batch.firstSequence + UInt64(index), "the sequences of a batch have a gap")
            }
            all += batch.records
            position = batch.lastSequence
        }
        return all
    }

    /// The records, each as long as it says, with the checksums they should have.
    private static func sealed(_ bytes: [UInt8], through end: Int) -> [UInt8] {
        let salt = RecordFormat.salt(of: stream)
        var bytes = bytes
        var offset = 0
        while offset + RecordFormat.headerBytes <= end {
            // The length's upper half has to be zero for any record to be sound.
            let length = Int(bytes.integer(at: offset, as: UInt16.self))
            guard length >= RecordFormat.headerBytes, offset + length <= bytes.count else { break }
            bytes.setInteger(UInt32(length), at: offset)
            let sum = bytes.withUnsafeBytes { all in
                RecordFormat.checksum(of: UnsafeRawBufferPointer(rebasing: all[offset..<offset + length]), salt: salt)
            }
            bytes.setInteger(sum, at: offset + 4)
            offset += length
        }
        return bytes
    }

    private static func ledger(_ slot: [UInt8]) -> [UInt8] {
        guard slot.count == 64 else { return slot }
        var slot = slot
        slot.replaceSubrange(0..<10, with: Array("SAKER-AK".utf8) + [1, 0])
        slot.setInteger(crc32(slot[16...], continuing: crc32(slot[..<12])), at: 12)
        return slot
    }
}
