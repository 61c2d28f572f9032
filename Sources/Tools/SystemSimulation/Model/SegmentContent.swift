/// What a segment file holds, read as docs/formats/track-cache.md says it: the checker's own reader, without a line of the
/// ring's.
struct SegmentContent {
    struct Header: Hashable {
        let stream: [UInt8]
        let first: UInt64
        let names: [String]
    }

    struct Point {
        let sequence: UInt64
        let time: Int64
        /// Nil: the record that introduces the name is damaged.
        let entity: String?
        let payload: [UInt8]
    }

    /// Of every point with a number below `below`.
    struct Clear: Hashable {
        var below: UInt64
        let times: ClosedRange<Int64>
        /// Nil: every entity.
        let entities: Set<String>?

        func covers(_ point: Point) -> Bool {
            guard point.sequence < below, times.contains(point.time) else { return false }
            guard let entities else { return true }
            return point.entity.map(entities.contains) ?? false
        }
    }

    private static let copyBytes = 4096
    private static let records = 8192
    private static let recordHeader = 28
    private static let longest = 65_564
    private static let numbers: ClosedRange<UInt64> = 1...(1 << 62)

    /// Nil: neither copy is sound.
    private(set) var header: Header?
    /// Every sound record of a point, in the order of the file.
    private(set) var points: [Point] = []
    private(set) var clears: [Clear] = []
    /// Sound records that introduce a name.
    private(set) var introductions = 0
    private var names: [Int: String] = [:]

    /// `stream`: whose records to take when the header is lost.
    init(_ bytes: [UInt8], stream: [UInt8]? = nil) {
        header = Self.header(bytes, at: 0) ?? Self.header(bytes, at: Self.copyBytes)
        for (index, name) in (header?.names ?? []).enumerated() { names[index] = name }
        guard let stream = header?.stream ?? stream else { return }
        var salt = CRC32()
        salt.take(stream)
        var position = Self.records
        let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        while position < end {
            // Behind damage the next sound record is searched for, byte by byte.
            guard let length = Self.soundLength(bytes, at: position, salt) else {
                position += 1
                continue
            }
            take(bytes, position, length)
            position += length
        }
    }

    private mutating func take(_ bytes: [UInt8], _ start: Int, _ length: Int) {
        let sequence = Self.integer(bytes, start + 8, 8)
        let entity = Int(Self.integer(bytes, start + 24, 2))
        let body = Array(bytes[(start + Self.recordHeader)..<(start + length)])
        switch bytes[start + 26] {
        case 1:
            let time = Int64(bitPattern: Self.integer(bytes, start + 16, 8))
            points.append(Point(sequence: sequence, time: time, entity: names[entity], payload: body))
        case 2:
            names[entity] = String(validating: body, as: UTF8.self)
            introductions += 1
        case 3: if let clear = Self.clear(body, below: sequence) { clears.append(clear) }
        default: break
        }
    }

    private static func clear(_ body: [UInt8], below: UInt64) -> Clear? {
        guard body.count >= 18 else { return nil }
        let from = Int64(bitPattern: integer(body, 0, 8))
        let through = Int64(bitPattern: integer(body, 8, 8))
        let count = integer(body, 16, 2)
        guard from <= through else { return nil }
        if count == 65_535 { return Clear(below: below, times: from...through, entities: nil) }
        guard let names = names(body, at: 18, count: Int(count)) else { return nil }
        return Clear(below: below, times: from...through, entities: Set(names))
    }

    private static func names(_ bytes: [UInt8], at start: Int, count: Int) -> [String]? {
        var names: [String] = []
        var offset = start
        for _ in 0..<count {
            guard offset < bytes.count else { return nil }
            let end = offset + 1 + Int(bytes[offset])
            guard end <= bytes.count, let name = String(validating: bytes[(offset + 1)..<end], as: UTF8.self) else {
                return nil
            }
            names.append(name)
            offset = end
        }
        return names
    }

    private static func header(_ bytes: [UInt8], at start: Int) -> Header? {
        guard bytes.count >= start + copyBytes else { return nil }
        let copy = Array(bytes[start..<start + copyBytes])
        guard copy.starts(with: "SAKER-TC".utf8), integer(copy, 8, 2) == 1, integer(copy, 40, 4) == UInt64(records),
            sum(copy) == integer(copy, 12, 4), let names = names(copy, at: 48, count: Int(integer(copy, 10, 2)))
        else { return nil }
        return Header(stream: Array(copy[16..<32]), first: integer(copy, 32, 8), names: names)
    }

    /// The length of the record that begins here; nil when none does.
    private static func soundLength(_ bytes: [UInt8], at start: Int, _ salt: CRC32) -> Int? {
        guard start + recordHeader <= bytes.count else { return nil }
        let length = Int(integer(bytes, start, 4))
        guard (recordHeader...longest).contains(length), start + length <= bytes.count,
            numbers.contains(integer(bytes, start + 8, 8))
        else { return nil }
        var sum = salt
        sum.take(bytes[start..<start + 4])
        sum.take(bytes[(start + 8)..<(start + length)])
        return UInt64(sum.value) == integer(bytes, start + 4, 4) ? length : nil
    }

    /// Of a header or of a slot of the ledger: all bytes but the four of the sum itself.
    static func sum(_ bytes: [UInt8]) -> UInt64 {
        var sum = CRC32()
        sum.take(bytes[..<12])
        sum.take(bytes[16...])
        return UInt64(sum.value)
    }

    /// Least significant byte first.
    static func integer(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(bytes[offset + index]) << (8 * UInt64(index)) }
        return value
    }
}
