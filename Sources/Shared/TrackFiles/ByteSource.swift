import Glibc

/// The bytes of a file one after the other, with the number of the line. A piece of it is in memory at a time.
package final class ByteSource {
    private static let pieceBytes = 64 * 1024

    /// -1 for bytes that were in memory from the beginning.
    private let descriptor: Int32
    private var piece: [UInt8]
    private var index = 0
    /// Of the next byte, from 1.
    package private(set) var line = 1
    private var last: UInt8 = 0

    /// Throws when the file cannot be opened.
    package init(path: String) throws(TrackFileError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        piece = []
        guard descriptor >= 0 else { throw TrackFileError("cannot be read: \(String(cString: strerror(errno)))") }
    }

    /// Bytes that are in memory.
    package init(bytes: [UInt8]) {
        descriptor = -1
        piece = bytes
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The next byte, which stays the next.
    package func peek() throws(TrackFileError) -> UInt8? {
        if index == piece.count, descriptor >= 0 { try refill() }
        return index < piece.count ? piece[index] : nil
    }

    /// The next byte; nil at the end.
    package func next() throws(TrackFileError) -> UInt8? {
        guard let byte = try peek() else { return nil }
        index += 1
        // A carriage return alone ends a line, too; with a line feed behind it, it is half of one end.
        if byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") && last != UInt8(ascii: "\r") { line += 1 }
        last = byte
        return byte
    }

    /// Passes over the byte order mark and white space at the beginning; returns the byte after them.
    ///
    /// - Throws: for a file that is no text in UTF-8 by its first bytes.
    package func begin() throws(TrackFileError) -> UInt8? {
        let first = try peek()
        let start = piece[index...].prefix(4)
        if start.elementsEqual("PK\u{3}\u{4}".utf8) {
            throw TrackFileError("it is an archive, such as KMZ: unpack it first")
        }
        // With a mark, or by the zero beside the first character.
        if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF])
            || start.count > 1 && (start.first == 0) != (start.dropFirst().first == 0)
        {
            throw TrackFileError("it is UTF-16, and no UTF-8: convert it, for example with iconv -f UTF-16 -t UTF-8")
        }
        if first == 0xEF {
            for expected in [0xEF, 0xBB, 0xBF] as [UInt8] {
                guard try next() == expected else { throw TrackFileError(line: line, "is not UTF-8") }
            }
        }
        while let byte = try peek(), " \t\r\n".utf8.contains(byte) { _ = try next() }
        return try peek()
    }

    /// All that is left, at most `limit` bytes.
    func rest(limit: Int) throws(TrackFileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let byte = try next() {
            guard bytes.count < limit else {
                throw TrackFileError(
                    "is longer than \(limit >> 20) MiB: convert it to CSV or GPX, which may be of any length")
            }
            bytes.append(byte)
        }
        return bytes
    }

    private func refill() throws(TrackFileError) {
        var fresh = [UInt8](repeating: 0, count: Self.pieceBytes)
        var count = read(descriptor, &fresh, fresh.count)
        while count < 0, errno == EINTR { count = read(descriptor, &fresh, fresh.count) }
        guard count >= 0 else { throw TrackFileError("cannot be read: \(String(cString: strerror(errno)))") }
        fresh.removeLast(fresh.count - count)
        (piece, index) = (fresh, 0)
    }
}
