import Compression
import Glibc

/// A zip file that somebody else wrote, on a disk: its entries, and their content piece by piece (APPNOTE.TXT 6.3.10, 4.3).
///
/// Takes stored and deflated entries, also of zip64; checks the checksum of each. Never holds a whole file.
package final class ZipFile {
    package struct Entry: Hashable, Sendable {
        package let name: String
        let method: UInt16
        let checksum: UInt32
        let packed: UInt64
        package let bytes: UInt64
        let header: UInt64
    }

    /// Why a file cannot be read.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// Of the directory: more entries than any export has.
    private static let mostDirectoryBytes: UInt64 = 4 << 20
    /// An export has one entry.
    private static let mostEntries: UInt64 = 10_000
    /// How many times as long as the whole file the content of all entries may be: deflate makes a text at most 1032 times shorter.
    private static let mostExpansion: UInt64 = 1032

    /// The only one that closes the descriptor: an initialiser that throws late runs `deinit` as well.
    private struct Descriptor: ~Copyable {
        let number: Int32

        deinit { if number >= 0 { close(number) } }
    }

    private let path: String
    private let descriptor: Descriptor
    private let size: UInt64
    package private(set) var entries: [Entry] = []

    package init(_ path: String) throws(Failure) {
        self.path = path
        let opened = Descriptor(number: open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
        guard opened.number >= 0 else {
            throw Failure("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        var status = stat()
        guard fstat(opened.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure("\(path) is no file")
        }
        descriptor = opened
        size = UInt64(status.st_size)
        entries = try readDirectory()
    }

    // MARK: The directory

    private func readDirectory() throws(Failure) -> [Entry] {
        // The end record stands before a comment of up to 64 KiB.
        let tail = try bytes(at: size - min(size, 65_557), count: Int(min(size, 65_557)))
        guard
            let end = (0...max(0, tail.count - 22)).reversed().first(where: {
                tail.count >= 22 && tail.four($0) == 0x0605_4B50
            })
        else { throw Failure("\(path) is no zip file") }
        var (count, length, offset) = (
            UInt64(tail.two(end + 10)), UInt64(tail.four(end + 12)), UInt64(tail.four(end + 16))
        )
        if count == 0xFFFF || length == 0xFFFF_FFFF || offset == 0xFFFF_FFFF, end >= 20,
            tail.four(end - 20) == 0x0706_4B50
        {
            let long = try bytes(at: tail.eight(end - 12), count: 56)
            guard long.four(0) == 0x0606_4B50 else { throw damaged("its zip64 record") }
            (count, length, offset) = (long.eight(32), long.eight(40), long.eight(48))
        }
        guard count <= Self.mostEntries else {
            throw Failure(
                "\(path) has \(count) entries, and \(Self.mostEntries) are the most: it is no file of an export")
        }
        guard length <= Self.mostDirectoryBytes else { throw Failure("\(path): its directory has \(length) bytes") }
        let directory = try bytes(at: offset, count: Int(length))
        var (found, position): ([Entry], Int) = ([], 0)
        while found.count < count {
            guard position + 46 <= directory.count, directory.four(position) == 0x0201_4B50 else {
                throw damaged("its directory")
            }
            let (nameEnd, extra) = (
                position + 46 + Int(directory.two(position + 28)), Int(directory.two(position + 30))
            )
            let next = nameEnd + extra + Int(directory.two(position + 32))
            guard next <= directory.count else { throw damaged("its directory") }
            found.append(try entry(directory, position, nameEnd, extra))
            position = next
        }
        // Entries that the count leaves out would be lost without a word. A signature may stand behind the last one.
        guard position == directory.count || directory.count >= position + 4 && directory.four(position) == 0x0505_4B50
        else {
            throw damaged("its directory")
        }
        try checkBodies(of: found)
        return found
    }

    /// Each entry has bytes of its own: entries that share them make much of a short file.
    private func checkBodies(of entries: [Entry]) throws(Failure) {
        var end: UInt64 = 0
        for entry in entries.sorted(by: { $0.header < $1.header }) {
            let (next, overflow) = entry.header.addingReportingOverflow(entry.packed)
            guard entry.header >= end, !overflow, next <= size else {
                throw Failure(
                    "\(path): the entry \(entry.name) shares its bytes with another one, or has none: fetch the file again"
                )
            }
            // Its own header has 30 bytes at least.
            end = next + 30
        }
        var total: UInt64 = 0
        for entry in entries {
            let (sum, overflow) = total.addingReportingOverflow(entry.bytes)
            guard !overflow, sum / Self.mostExpansion <= size else {
                throw Failure(
                    "\(path): its entries say that they have more bytes than a file of \(size) bytes can hold")
            }
            total = sum
        }
    }

    private func entry(_ bytes: [UInt8], _ start: Int, _ nameEnd: Int, _ extra: Int) throws(Failure) -> Entry {
        let name = String(decoding: bytes[(start + 46)..<nameEnd], as: UTF8.self)
        guard bytes.two(start + 8) & 1 == 0 else { throw Failure("\(path): \(name) is encrypted") }
        var plain = UInt64(bytes.four(start + 24))
        var packed = UInt64(bytes.four(start + 20))
        var header = UInt64(bytes.four(start + 42))
        var position = nameEnd
        while position + 4 <= nameEnd + extra {
            let (kind, length) = (bytes.two(position), Int(bytes.two(position + 2)))
            position += 4
            guard position + length <= nameEnd + extra else { break }
            if kind == 1 {
                // Only those stand here that have no room above, in this order.
                var field = position
                for value in 0..<3 where field + 8 <= position + length {
                    let isLong = [plain, packed, header][value] == 0xFFFF_FFFF
                    guard isLong else { continue }
                    let long = bytes.eight(field)
                    if value == 0 { plain = long } else if value == 1 { packed = long } else { header = long }
                    field += 8
                }
            }
            position += length
        }
        return Entry(
            name: name, method: bytes.two(start + 10), checksum: bytes.four(start + 16), packed: packed, bytes: plain,
            header: header)
    }

    // MARK: Content

    /// Reads the content of an entry. Throws ``Failure``.
    package func reader(of entry: Entry) throws(Failure) -> ZipEntryReader {
        guard entry.method == 0 || entry.method == 8 else {
            throw Failure("\(path): \(entry.name) is compressed by method \(entry.method); only deflate can be read")
        }
        let local = try bytes(at: entry.header, count: 30)
        guard local.four(0) == 0x0403_4B50 else { throw damaged(entry.name) }
        let start = entry.header + 30 + UInt64(local.two(26)) + UInt64(local.two(28))
        let (end, overflow) = start.addingReportingOverflow(entry.packed)
        guard !overflow, end <= size else { throw damaged(entry.name) }
        do throws(CompressionError) {
            return try ZipEntryReader(self, entry, start..<end)
        } catch {
            throw Failure("\(path): \(error.description)")
        }
    }

    func damaged(_ what: String) -> Failure { Failure("\(path): \(what) is damaged: fetch the file again") }

    func bytes(at offset: UInt64, count: Int) throws(Failure) -> [UInt8] {
        let (end, overflow) = offset.addingReportingOverflow(UInt64(count))
        guard !overflow, end <= size else { throw damaged("its end") }
        var (bytes, done) = ([UInt8](repeating: 0, count: count), 0)
        while done < count {
            let read = bytes[done...].withUnsafeMutableBytes {
                unsafe pread(descriptor.number, $0.baseAddress, $0.count, off_t(offset) + off_t(done))
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { throw Failure("\(path) cannot be read: \(String(cString: strerror(errno)))") }
            done += read
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate func two(_ index: Int) -> UInt16 { UInt16(truncatingIfNeeded: little(index, 2)) }
    fileprivate func four(_ index: Int) -> UInt32 { UInt32(truncatingIfNeeded: little(index, 4)) }
    fileprivate func eight(_ index: Int) -> UInt64 { little(index, 8) }

    private func little(_ index: Int, _ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for offset in (0..<count).reversed() { value = value << 8 | UInt64(self[index + offset]) }
        return value
    }
}

/// The content of one entry of a ``ZipFile``, piece by piece. Its checksum is checked at the end.
package final class ZipEntryReader {
    private static let pieceBytes = 65_536

    private let file: ZipFile
    private let entry: ZipFile.Entry
    private var position: UInt64
    private let end: UInt64
    private var inflater: Inflater
    private var checksum: UInt32 = 0
    private var count: UInt64 = 0

    init(_ file: ZipFile, _ entry: ZipFile.Entry, _ range: Range<UInt64>) throws(CompressionError) {
        inflater = try Inflater()
        (self.file, self.entry) = (file, entry)
        (position, end) = (range.lowerBound, range.upperBound)
    }

    /// Nil at the end.
    package func next() throws(ZipFile.Failure) -> [UInt8]? {
        guard let piece = try unpacked() else {
            guard entry.method == 0 || inflater.hasEnded, count == entry.bytes, checksum == entry.checksum else {
                throw file.damaged(entry.name)
            }
            return nil
        }
        checksum = crc32(piece, continuing: checksum)
        count += UInt64(piece.count)
        guard count <= entry.bytes else { throw file.damaged(entry.name) }
        return piece
    }

    private func unpacked() throws(ZipFile.Failure) -> [UInt8]? {
        guard entry.method == 8 else { return try packed() }
        while true {
            do throws(CompressionError) {
                if let piece = try inflater.next() { return piece }
            } catch {
                throw file.damaged(entry.name)
            }
            guard !inflater.hasEnded, let more = try packed() else { return nil }
            inflater.feed(more)
        }
    }

    private func packed() throws(ZipFile.Failure) -> [UInt8]? {
        guard position < end else { return nil }
        let piece = try file.bytes(at: position, count: Int(min(end - position, UInt64(Self.pieceBytes))))
        position += UInt64(piece.count)
        return piece
    }
}

/// Cuts text that comes in pieces into its lines. Holds at most one line.
package struct LineCutter {
    private let maximum: Int
    private var line: [UInt8] = []

    /// `maximum`: bytes of a line. Of a longer line its first `maximum + 1` bytes are a line.
    package init(maximum: Int) { self.maximum = maximum }

    /// The lines that end in this piece, without their ends.
    package mutating func cut(_ piece: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = piece[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            add(rest[..<end])
            lines.append(line)
            line = []
            rest = rest[(end + 1)...]
        }
        add(rest)
        return lines
    }

    /// The last line, when no end stands behind it.
    package mutating func finish() -> [UInt8]? {
        defer { line = [] }
        return line.isEmpty ? nil : line
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) { line += bytes.prefix(max(0, maximum + 1 - line.count)) }
}
