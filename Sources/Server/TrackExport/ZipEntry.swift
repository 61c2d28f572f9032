import Compression
package import TrackModel

/// The bytes of a zip file with one compressed entry, without the entry's content (PKWARE's APPNOTE.TXT 6.3.10, 4.3).
///
/// The header stands before the content and has its sizes. It is written twice: at first to take its place, and at the end.
/// Its length never changes: an extra field has room for the long sizes of zip64 (4.5.3), or zeros.
package struct ZipEntry: Hashable, Sendable {
    private let name: [UInt8]
    /// As MS-DOS counts: two seconds, and years since 1980.
    private let time: UInt16
    private let date: UInt16
    private var checksum: UInt32 = 0
    private(set) var plainBytes: UInt64 = 0
    private(set) var packedBytes: UInt64 = 0

    /// The time is written without its zone.
    package init(name: String, modified: Timestamp) {
        self.name = Array(name.utf8)
        let seconds = max(modified.seconds, 315_532_800)
        let day = CivilDate(daysSince1970: seconds / 86_400)
        let second = seconds % 86_400
        time = UInt16((second / 3600) << 11 | (second / 60 % 60) << 5 | (second % 60) / 2)
        date = UInt16(min(day.year - 1980, 127) << 9 | day.month << 5 | day.day)
    }

    /// Content and what became of it when it was compressed.
    package mutating func add(plain: [UInt8], packed: Int) {
        checksum = crc32(plain, continuing: checksum)
        plainBytes += UInt64(plain.count)
        packedBytes += UInt64(packed)
    }

    private var isLong: Bool { max(plainBytes, packedBytes) >= UInt64(UInt32.max) }

    /// What stands before the content.
    package var header: [UInt8] {
        var bytes = LittleEndian()
        bytes.four(0x0403_4B50)
        addDescription(to: &bytes)
        bytes.two(UInt16(name.count))
        bytes.two(20)
        bytes.bytes += name
        // Otherwise the padding that Android's tools made known.
        bytes.two(isLong ? 0x0001 : 0xD935)
        bytes.two(16)
        bytes.eight(isLong ? plainBytes : 0)
        bytes.eight(isLong ? packedBytes : 0)
        return bytes.bytes
    }

    /// What stands behind the content.
    package var trailer: [UInt8] {
        var bytes = LittleEndian()
        let directory = UInt64(header.count) + packedBytes
        bytes.four(0x0201_4B50)
        bytes.two(isLong ? 45 : 20)
        addDescription(to: &bytes)
        bytes.two(UInt16(name.count))
        bytes.two(isLong ? 20 : 0)
        // No comment, first disk, no attributes, and the header at the beginning of the file.
        for _ in 0..<3 { bytes.two(0) }
        bytes.four(0)
        bytes.four(0)
        bytes.bytes += name
        if isLong {
            bytes.two(0x0001)
            bytes.two(16)
            bytes.eight(plainBytes)
            bytes.eight(packedBytes)
        }
        let length = UInt64(bytes.bytes.count)
        // The content may be short where the file is long.
        let isFar = directory >= UInt64(UInt32.max)
        if isFar {
            bytes.four(0x0606_4B50)
            bytes.eight(44)
            bytes.two(45)
            bytes.two(45)
            bytes.four(0)
            bytes.four(0)
            bytes.eight(1)
            bytes.eight(1)
            bytes.eight(length)
            bytes.eight(directory)
            bytes.four(0x0706_4B50)
            bytes.four(0)
            bytes.eight(directory + length)
            bytes.four(1)
        }
        bytes.four(0x0605_4B50)
        bytes.two(0)
        bytes.two(0)
        bytes.two(1)
        bytes.two(1)
        bytes.four(UInt32(length))
        bytes.four(isFar ? .max : UInt32(directory))
        bytes.two(0)
        return bytes.bytes
    }

    /// What both places say of the entry: versions, a name in UTF-8, deflate, time, sums and sizes.
    private func addDescription(to bytes: inout LittleEndian) {
        bytes.two(isLong ? 45 : 20)
        bytes.two(1 << 11)
        bytes.two(8)
        bytes.two(time)
        bytes.two(date)
        bytes.four(checksum)
        bytes.four(isLong ? .max : UInt32(packedBytes))
        bytes.four(isLong ? .max : UInt32(plainBytes))
    }
}

/// Integers as a zip file has them.
private struct LittleEndian {
    var bytes: [UInt8] = []

    mutating func two(_ value: UInt16) { add(UInt64(value), 2) }
    mutating func four(_ value: UInt32) { add(UInt64(value), 4) }
    mutating func eight(_ value: UInt64) { add(value, 8) }

    private mutating func add(_ value: UInt64, _ count: Int) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }
}
