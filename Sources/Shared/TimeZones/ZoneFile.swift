package import Geofencing
package import TrackModel

/// A time zone as a file of the zone database has it: TZif of RFC 9636, versions 1 to 4. Pure; ``SystemZones`` reads files.
package struct ZoneFile: Hashable, Sendable {
    /// Larger files are refused; the largest of the database has 4 KB.
    package static let mostBytes = 65_536
    /// Seconds from UTC that the format allows.
    private static let offsets: ClosedRange<Int32> = -89_999...93_599

    private struct Change: Hashable {
        let time: Int64
        let offset: Int32
    }

    /// Seconds east of UTC before the first change.
    private let first: Int32
    /// In the order of their times.
    private let changes: [Change]
    /// For the time behind the last change; nil: its offset stays.
    private let rule: ZoneRule?

    // MARK: Asking

    /// Seconds east of UTC at a time in seconds since 1970.
    package func offset(at time: Int64) -> Int32 {
        guard let last = changes.last, time < last.time else { return ruledOffset(at: time) }
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : changes[low - 1].offset
    }

    private func ruledOffset(at time: Int64) -> Int32 {
        guard let rule else { return changes.last?.offset ?? first }
        // Within what dates can be computed of: beyond it nobody asks.
        let bounded = max(-Self.farthest, min(Self.farthest, time))
        let year = Self.year(of: bounded)
        let found = ((year - 1)...(year + 1)).flatMap { rule.changes(in: $0) }.last { $0.time <= bounded }
        return found?.offset ?? rule.offset
    }

    private static let farthest: Int64 = 1 << 50

    private static func year(of time: Int64) -> Int64 {
        CivilDate(daysSince1970: (time - (time < 0 ? 86_399 : 0)) / 86_400).year
    }

    /// The offsets of a span of time, at most 1,000 years of it.
    package func offsets(from start: Timestamp, through end: Timestamp) -> ZoneOffsets {
        let bound = Self.farthest
        let low = max(-bound, min(bound, start.seconds))
        let high = max(low, min(low + 31_556_952_000, end.seconds))
        var found: [ZoneOffsets.Change] = []
        var current = offset(at: low)
        func note(_ time: Int64, _ offset: Int32) {
            guard time > low, time <= high, offset != current else { return }
            found.append(ZoneOffsets.Change(time: Timestamp(seconds: time), seconds: offset))
            current = offset
        }
        for change in changes { note(change.time, change.offset) }
        if let rule, high > changes.last?.time ?? .min {
            let begin = max(low, changes.last?.time ?? .min)
            for year in Self.year(of: begin) - 1...Self.year(of: high) + 1 {
                for change in rule.changes(in: year) where change.time > changes.last?.time ?? .min {
                    note(change.time, change.offset)
                }
            }
        }
        return ZoneOffsets(first: offset(at: low), changes: found)
    }

    // MARK: Reading

    package init(_ bytes: [UInt8]) throws(ZoneFileError) {
        guard bytes.count <= Self.mostBytes else {
            throw ZoneFileError("it has \(bytes.count) bytes: at most \(Self.mostBytes)")
        }
        var reader = Reader(bytes: bytes[...])
        let head = try Header(&reader)
        guard head.version >= UInt8(ascii: "2") else {
            (first, changes) = try Self.block(head, timeBytes: 4, &reader)
            rule = nil
            return
        }
        // The first block is for old readers.
        _ = try reader.take(head.bytes(timeBytes: 4))
        (first, changes) = try Self.block(try Header(&reader), timeBytes: 8, &reader)
        guard try reader.take(1).first == 0x0A, let end = reader.bytes.firstIndex(of: 0x0A) else {
            throw ZoneFileError("its last line is missing")
        }
        let line = Array(reader.bytes[..<end])
        rule = line.isEmpty ? nil : try ZoneRule(line)
    }

    private struct Header {
        let version: UInt8
        /// isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt
        let counts: [Int]
        var leaps: Int { counts[2] }
        var times: Int { counts[3] }
        var types: Int { counts[4] }

        init(_ reader: inout Reader) throws(ZoneFileError) {
            let head = try reader.take(20)
            guard head.starts(with: "TZif".utf8), let version = head.dropFirst(4).first,
                version == 0 || (UInt8(ascii: "2")...UInt8(ascii: "4")).contains(version)
            else { throw ZoneFileError("it is no TZif file of version 1 to 4") }
            var counts: [Int] = []
            for _ in 0..<6 { counts.append(Int(try reader.number(4))) }
            // Whatever is larger does not fit into the file.
            guard counts.allSatisfy({ (0...ZoneFile.mostBytes).contains($0) }) else { throw Reader.short }
            (self.version, self.counts) = (version, counts)
            guard (1...256).contains(types), counts[5] > 0, [0, types].contains(counts[0]),
                [0, types].contains(counts[1])
            else { throw ZoneFileError("its counts contradict each other") }
            guard leaps == 0 else { throw ZoneFileError("it counts leap seconds, which GNSS times here do not") }
        }

        func bytes(timeBytes: Int) -> Int {
            times * (timeBytes + 1) + types * 6 + counts[5] + counts[1] + counts[0]
        }
    }

    private static func block(
        _ head: Header, timeBytes: Int, _ reader: inout Reader
    ) throws(ZoneFileError) -> (first: Int32, changes: [Change]) {
        var times: [Int64] = []
        for _ in 0..<head.times {
            let time = try reader.number(timeBytes)
            guard times.last.map({ $0 < time }) ?? true else { throw ZoneFileError("its times do not ascend") }
            times.append(time)
        }
        let kinds = Array(try reader.take(head.times))
        var offsets: [Int32] = []
        for _ in 0..<head.types {
            let offset = Int32(truncatingIfNeeded: try reader.number(4))
            guard Self.offsets.contains(offset) else { throw ZoneFileError("an offset of \(offset) s is too large") }
            offsets.append(offset)
            _ = try reader.take(2)
        }
        _ = try reader.take(head.counts[5] + head.counts[1] + head.counts[0])
        guard kinds.allSatisfy({ $0 < offsets.count }) else { throw ZoneFileError("a change has no kind of time") }
        return (offsets[0], zip(times, kinds).map { Change(time: $0, offset: offsets[Int($1)]) })
    }

    private struct Reader {
        static let short = ZoneFileError("it ends too early")

        var bytes: ArraySlice<UInt8>

        mutating func take(_ count: Int) throws(ZoneFileError) -> ArraySlice<UInt8> {
            guard count <= bytes.count else { throw Self.short }
            defer { bytes = bytes.dropFirst(count) }
            return bytes.prefix(count)
        }

        /// Two's complement, the highest byte first.
        mutating func number(_ count: Int) throws(ZoneFileError) -> Int64 {
            let taken = try take(count)
            var value: Int64 = taken.first.map { $0 >= 0x80 ? -1 : 0 } ?? 0
            for byte in taken { value = value << 8 | Int64(byte) }
            return value
        }
    }
}

/// Why bytes are no time zone.
package struct ZoneFileError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
