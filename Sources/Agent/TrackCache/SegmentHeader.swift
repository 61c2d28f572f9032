internal import Compression
internal import TrackModel

/// The first block of a segment file, which stands there twice.
struct SegmentHeader: Equatable {
    static let magic: [UInt8] = Array("SAKER-TC".utf8)
    static let version: UInt16 = 1
    /// Bytes of one copy: a page and a disk's physical sector, so that one torn write harms one copy.
    static let copyBytes = 4096
    /// Where records begin.
    static let bytes = 2 * copyBytes
    private static let namesOffset = 48

    let stream: StreamID
    let firstSequence: UInt64
    /// Entity names in use when the segment was begun; the index is the position.
    let entities: [String]

    /// Names that fit; the others are introduced by a record when they are used.
    static func fitting(_ names: [String]) -> [String] {
        var rest = copyBytes - namesOffset
        return names.filter { name in
            rest -= name.utf8.count + 1
            return rest >= 0
        }
    }

    /// Both copies; the names must fit.
    func encoded() -> [UInt8] {
        var bytes = Self.magic
        bytes.appendInteger(Self.version)
        bytes.appendInteger(UInt16(entities.count))
        bytes.appendInteger(UInt32(0))
        bytes += stream.bytes
        bytes.appendInteger(firstSequence)
        bytes.appendInteger(UInt32(Self.bytes))
        bytes.appendInteger(UInt32(0))
        for name in entities {
            bytes.append(UInt8(name.utf8.count))
            bytes += name.utf8
        }
        bytes += [UInt8](repeating: 0, count: Self.copyBytes - bytes.count)
        bytes.setInteger(Self.checksum(of: bytes), at: 12)
        return bytes + bytes
    }

    /// Nil unless one of the two copies is whole and of this version.
    init?(decoding block: [UInt8]) {
        for start in [0, Self.copyBytes] where block.count >= start + Self.copyBytes {
            guard let header = Self(copy: Array(block[start..<start + Self.copyBytes])) else { continue }
            self = header
            return
        }
        return nil
    }

    init(stream: StreamID, firstSequence: UInt64, entities: [String]) {
        self.stream = stream
        self.firstSequence = firstSequence
        self.entities = entities
    }

    private init?(copy: [UInt8]) {
        guard copy.starts(with: Self.magic), copy.integer(at: 12) == Self.checksum(of: copy),
            copy.integer(at: 8) == Self.version, copy.integer(at: 40) == UInt32(Self.bytes),
            let stream = StreamID(bytes: copy[16..<32])
        else { return nil }
        let sequence: UInt64 = copy.integer(at: 32)
        guard SequenceRange.plausible.contains(sequence) else { return nil }
        var names: [String] = []
        var offset = Self.namesOffset
        for _ in 0..<copy.integer(at: 10, as: UInt16.self) {
            guard offset < copy.count else { return nil }
            let end = offset + 1 + Int(copy[offset])
            guard end <= copy.count, let name = String(validating: copy[(offset + 1)..<end], as: UTF8.self) else {
                return nil
            }
            names.append(name)
            offset = end
        }
        self.init(stream: stream, firstSequence: sequence, entities: names)
    }

    private static func checksum(of copy: [UInt8]) -> UInt32 {
        crc32(copy[16...], continuing: crc32(copy[..<12]))
    }
}

/// How sequence numbers are given out; docs/decisions/0002-sequence-ranges.md says why.
enum SequenceRange {
    /// Each opening begins a range of this size.
    static let size: UInt64 = 1 << 32
    /// Fits the signed 64-bit integers of every database, with room for sums.
    static let plausible: ClosedRange<UInt64> = 1...(1 << 62)
    /// File names, the ledger and a server are believed up to here, which 500 million openings do not reach. Numbering
    /// goes on behind what is believed, and a stream must not come near its end because of one wrong word.
    static let believed: ClosedRange<UInt64> = 1...(1 << 61)

    /// The first number of the first range in which nothing was seen.
    static func start(after seen: UInt64) -> UInt64 {
        let whole = min(seen, plausible.upperBound) + (size - 1)
        return whole / size * size + 1
    }

    /// The number behind the range that a number is of.
    static func end(around sequence: UInt64) -> UInt64 {
        (max(sequence, 1) - 1) / size * size + size + 1
    }
}

/// Names of segment files: sixteen hexadecimal digits of the first sequence.
enum SegmentName {
    static let suffix = ".segment"
    static let temporarySuffix = ".segment.new"

    static func of(_ firstSequence: UInt64) -> String {
        let digits = String(firstSequence, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + suffix
    }

    /// Nil when the name is none of ours.
    static func sequence(_ name: String, suffix: String = SegmentName.suffix) -> UInt64? {
        guard name.utf8.count == 16 + suffix.utf8.count, name.hasSuffix(suffix) else { return nil }
        let digits = name.prefix(16)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            let value = UInt64(digits, radix: 16), SequenceRange.plausible.contains(value)
        else { return nil }
        return value
    }
}
