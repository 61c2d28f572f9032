import Glibc

/// The text of a file in UTF-8, one byte after the other, with the number of the line. A piece of it is in memory at a time.
package final class ByteSource {
    private static let pieceBytes = 64 * 1024

    /// -1 for bytes that were in memory from the beginning.
    private let descriptor: Int32
    private var piece: [UInt8]
    private var index = 0
    private var isAtEnd = false
    /// Of the next byte, from 1.
    package private(set) var line = 1
    private var last: UInt8 = 0
    /// How the file is written, as far as ``begin()`` has found out.
    package private(set) var encoding = TextEncoding.utf8
    /// Nil: the bytes are taken as they are.
    private var decoder: TextDecoder?
    /// Bytes of the file that are not decoded yet.
    private var waiting: ArraySlice<UInt8> = []
    private let asked: Asked

    /// The encoding that a person has named.
    package enum Asked: Hashable, Sendable {
        case nothing
        case encoding(TextEncoding)
        /// By the mark of the file.
        case utf16

        /// Nil for an unknown name.
        package init?(name: String) {
            if let encoding = TextEncoding(name: name) {
                self = .encoding(encoding)
            } else if ["utf-16", "utf16"].contains(name.lowercased()) {
                self = .utf16
            } else {
                return nil
            }
        }
    }

    /// Throws when the file cannot be opened.
    package init(path: String, encoding: Asked = .nothing) throws(TrackFileError) {
        asked = encoding
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        piece = []
        guard descriptor >= 0 else { throw TrackFileError("cannot be read: \(String(cString: strerror(errno)))") }
    }

    /// Bytes that are in memory.
    package init(bytes: [UInt8], encoding: Asked = .nothing) {
        asked = encoding
        descriptor = -1
        piece = bytes
        isAtEnd = true
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The next byte, which stays the next.
    package func peek() throws(TrackFileError) -> UInt8? {
        while index == piece.count, !isAtEnd { try refill() }
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

    /// Finds out how the file is written, and passes over the byte order mark and white space at the beginning; returns the byte
    /// after them. A mark says it for certain; then a person, then the declaration of an XML file; otherwise it is UTF-8.
    ///
    /// - Throws: for a file that is no text that can be read, by its first bytes.
    package func begin() throws(TrackFileError) -> UInt8? {
        _ = try peek()
        let start = piece[index...]
        if start.starts(with: "PK\u{3}\u{4}".utf8) {
            throw TrackFileError("it is an archive, such as KMZ: unpack it first")
        }
        if start.starts(with: [0xFF, 0xFE, 0, 0]) || start.starts(with: [0, 0, 0xFE, 0xFF]) {
            throw TrackFileError("it is UTF-32: convert it, for example with iconv -f UTF-32 -t UTF-8")
        }
        encoding = try encoding(of: start)
        if encoding != .utf8 {
            decoder = TextDecoder(encoding)
            (waiting, piece, index) = (start, [], 0)
            isAtEnd = false
        }
        let first = try peek()
        if first == 0xEF {
            for expected in [0xEF, 0xBB, 0xBF] as [UInt8] {
                guard try next() == expected else { throw TrackFileError(line: line, "is not UTF-8") }
            }
        }
        while let byte = try peek(), " \t\r\n".utf8.contains(byte) { _ = try next() }
        return try peek()
    }

    private func encoding(of start: ArraySlice<UInt8>) throws(TrackFileError) -> TextEncoding {
        if let marked = TextEncoding(marked: start.prefix(4)) { return marked }
        switch asked {
        case .encoding(let encoding): return encoding
        case .utf16:
            throw TrackFileError("it has no mark of UTF-16: give --encoding utf-16le or utf-16be")
        case .nothing:
            guard let name = TextEncoding.declared(start.prefix(256)) else { return .utf8 }
            // A declaration in bytes of eight bits cannot be of UTF-16: whoever converted the file has left it.
            return TextEncoding(name: name)
                ?? (name.lowercased().hasPrefix("utf") ? .utf8 : .unknown(String(name.prefix(40))))
        }
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
        var raw = Array(waiting.prefix(Self.pieceBytes))
        waiting = waiting.dropFirst(raw.count)
        if raw.isEmpty, descriptor >= 0 { raw = try read() }
        isAtEnd = raw.isEmpty || descriptor < 0 && waiting.isEmpty
        piece = decoder?.decode(raw, isLast: isAtEnd) ?? raw
        index = 0
    }

    /// The next bytes of the file, empty at its end.
    private func read() throws(TrackFileError) -> [UInt8] {
        var fresh: [UInt8] = []
        // A pipe gives less at once: the beginning must be long enough to know the encoding by it.
        while fresh.count < Self.pieceBytes {
            var part = [UInt8](repeating: 0, count: Self.pieceBytes - fresh.count)
            let count = Glibc.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw TrackFileError("cannot be read: \(String(cString: strerror(errno)))") }
            guard count > 0 else { break }
            fresh.append(contentsOf: part.prefix(count))
        }
        return fresh
    }
}
