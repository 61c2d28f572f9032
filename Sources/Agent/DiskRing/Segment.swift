internal import Compression
internal import TrackModel

/// What the cache remembers of one segment file: enough to answer, to bound and to delete without reading it.
struct Segment {
    let first: UInt64
    /// Highest sequence of a point in it; `first - 1` when it holds none.
    var last: UInt64
    /// Where sound records end.
    var end: Int
    /// Of the file.
    var bytes: Int
    /// Points that are not cleared, acknowledged or not.
    var tally = SegmentTally()
    var holdsTombstone = false
    /// It holds points of numbers that only the next segment's name keeps from being taken. No agent writes such a file.
    var reachesBeyond = false
    /// Whether everything in the file was read or written by this process: only then may its tail be cut.
    var isWhole = true
    /// The disk refused records that may stand in it. Nobody knows whether they wait, so the file stays for the next
    /// opening; only the bound takes it.
    var holdsUnread = false
    /// Unsynchronised records stand behind its end, and in memory or nowhere: they must not come back.
    var hasLeftovers = false
    /// Records known to be damaged, so that each is counted once.
    var damaged: UInt64 = 0
    var readFailures = 0
    /// A clear could not look into it, so the tally may count what is cleared. Of several clears the first.
    var missedClear: MissedClear?
    var isTallyStale: Bool { missedClear != nil }

    /// Whether no number in it is missing: then counting needs no reading.
    var isDense: Bool { !isTallyStale && tally.count > 0 && tally.count == last - first + 1 }

    var name: String { SegmentName.of(first) }

    /// It could be read, and cannot any more: nothing of it waits for this process.
    mutating func giveUp() {
        last = first - 1
        tally = SegmentTally()
        missedClear = nil
        isWhole = false
        holdsUnread = true
    }
}

/// A clear of a segment that the disk refused to show.
struct MissedClear {
    /// As what the records count that it took.
    var cause: CacheLoss
    /// What was acknowledged then: the server has it, and the clear took none of it.
    var acknowledged: UInt64
}

/// Counts of points by entity.
struct SegmentTally {
    /// More entities than this are not kept a segment; whoever asks has to read it.
    private static let maximumEntities = 64

    private(set) var count: UInt64 = 0
    /// Lowest sequence counted; 0 when none.
    private(set) var first: UInt64 = 0
    /// Nil: too many.
    private(set) var entities: [EntityCacheInfo]? = []

    mutating func add(entity: String, sequence: UInt64, time: Int64, bytes: Int) {
        add(EntityCacheInfo(first: entity, time: time, bytes: bytes), first: sequence)
    }

    /// Points of one entity at once; `first` is their lowest sequence.
    mutating func add(_ info: EntityCacheInfo, first sequence: UInt64) {
        if count == 0 { first = sequence }
        count += info.count
        guard entities != nil else { return }
        if let index = entities?.firstIndex(where: { ExactName($0.entity) == ExactName(info.entity) }) {
            entities?[index].merge(info)
        } else if let known = entities?.count, known < Self.maximumEntities {
            entities?.append(info)
        } else {
            entities = nil
        }
    }
}

/// Consecutive points of one entity, counted without looking at names: opening reads a million records in its budget.
struct TallyRun {
    let entity: Int
    let name: String
    let first: UInt64
    private var count: UInt64 = 1
    private var firstTime: Int64
    private var lastTime: Int64
    private(set) var newestTime: Int64
    private var bytes: UInt64

    init(_ record: SegmentScanner.Record, of name: String) {
        entity = record.entity
        self.name = name
        first = record.sequence
        firstTime = record.time
        lastTime = record.time
        newestTime = record.time
        bytes = UInt64(record.bodyBytes)
    }

    mutating func add(_ record: SegmentScanner.Record) {
        count += 1
        firstTime = min(firstTime, record.time)
        lastTime = max(lastTime, record.time)
        newestTime = record.time
        bytes += UInt64(record.bodyBytes)
    }

    var newest: NewestPoint { NewestPoint(entity: name, time: newestTime) }

    var info: EntityCacheInfo {
        EntityCacheInfo(entity: name, count: count, firstTime: firstTime, lastTime: lastTime, bytes: bytes)
    }
}

extension EntityCacheInfo {
    init(first entity: String, time: Int64, bytes: Int) {
        self.init(entity: entity, count: 1, firstTime: time, lastTime: time, bytes: UInt64(bytes))
    }

    mutating func merge(_ other: EntityCacheInfo) {
        count += other.count
        firstTime = min(firstTime, other.firstTime)
        lastTime = max(lastTime, other.lastTime)
        bytes += other.bytes
    }
}

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
