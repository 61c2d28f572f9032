internal import Compression
package import TrackCache

/// The server's fences on disk: one file, replaced whole, with one checksum. A damaged file is worth nothing: the server
/// sends its fences again. What stands in it, the file does not know.
///
/// Every call may block; the calls are made on one thread at a time. Format: docs/formats/fences.md.
package struct ServerFenceFile {
    package enum Reading: Hashable, Sendable {
        case absent
        case read([UInt8])
        /// The file is damaged, or of a later version.
        case damaged
        /// The disk refuses to read it; a sentence.
        case unreadable(String)
    }

    private static let magic: [UInt8] = Array("SAKER-SF".utf8)
    private static let version: UInt16 = 1
    private static let headerBytes = 24
    /// A larger file is foreign.
    package static let maximumBytes = 64 << 20

    private let files: any CacheFileSystem
    private let directory: String

    package init(directory: String, files: any CacheFileSystem = POSIXFileSystem()) {
        self.directory = directory
        self.files = files
    }

    package var path: String { directory + "/server-fences.data" }

    package func read() -> Reading {
        do throws(CacheFileError) {
            let file = try files.openFile(path, .readOnly)
            defer { files.close(file) }
            let bytes = try files.bytes(
                of: file, at: 0, count: min(try files.size(of: file), Self.maximumBytes + 1))
            return Self.decode(bytes).map(Reading.read) ?? .damaged
        } catch {
            if error.operation == .open, error.number == CacheFileError.notThere { return .absent }
            return .unreadable("\(path): \(error)")
        }
    }

    /// Durable on return, wholly or not at all: a power cut leaves the old file or the new one. Returns why it failed, a
    /// sentence; nil when the content is on the disk.
    package func write(_ content: [UInt8]) -> String? {
        guard content.count <= Self.maximumBytes - Self.headerBytes else {
            return "\(path): the fences have \(content.count) bytes, and the file has at most \(Self.maximumBytes)"
        }
        do throws(CacheFileError) {
            try files.replaceFile(path, in: directory, with: Self.encode(content))
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }

    static func encode(_ content: [UInt8]) -> [UInt8] {
        var bytes = magic
        bytes.appendInteger(version)
        bytes.appendInteger(UInt16(0))
        bytes.appendInteger(UInt32(0))
        bytes.appendInteger(UInt64(content.count))
        bytes += content
        bytes.setInteger(sum(bytes), at: 12)
        return bytes
    }

    static func decode(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= headerBytes, bytes.count <= maximumBytes, bytes.starts(with: magic),
            bytes.integer(at: 8) == version, bytes.integer(at: 16) == UInt64(bytes.count - headerBytes),
            bytes.integer(at: 12) == sum(bytes)
        else { return nil }
        return Array(bytes[headerBytes...])
    }

    /// The CRC-32 of the file without the checksum field.
    private static func sum(_ bytes: [UInt8]) -> UInt32 {
        crc32(bytes[16...], continuing: crc32(bytes[..<12]))
    }
}
