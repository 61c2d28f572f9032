import Compression
import Glibc
package import TrackModel

/// Why a file could not be written.
package struct ExportFileError: Error, Equatable, CustomStringConvertible {
    package let description: String
    /// The medium has no space left: a later attempt can succeed.
    package let isFull: Bool

    init(_ call: String, _ path: String, _ number: Int32) {
        description = "\(path): \(call): \(String(cString: strerror(number)))"
        isFull = number == ENOSPC || number == EDQUOT
    }

    init(_ error: CompressionError) {
        description = error.description
        isFull = false
    }
}

/// A zip file with one entry on its way to the disk. Under its final name it is there whole, or not at all.
///
/// A file that is not finished is removed. One that a killed process left has the name that ``ExportDirectory`` clears away.
package struct ExportFile: ~Copyable {
    /// Bytes that are collected before they are compressed and written.
    private static let pieceBytes = 262_144
    /// zlib's usual compromise; a higher level takes twice the time for a few percent.
    private static let level: Int32 = 6

    private let path: String
    private let descriptor: Int32
    private var entry: ZipEntry
    private var deflater: Deflater
    private var plain: [UInt8] = []
    /// What is to be written next; at first the header.
    private var packed: [UInt8] = []
    private var isFinished = false

    /// Begins a file at `path`, for an entry of this name. Replaces what an earlier attempt left.
    package init(path: String, entry name: String, modified: Timestamp) throws(ExportFileError) {
        let deflater = try Self.deflater()
        let temporary = path + ExportDirectory.unfinished
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw ExportFileError("open", temporary, errno) }
        self.path = path
        self.descriptor = descriptor
        self.deflater = deflater
        entry = ZipEntry(name: name, modified: modified)
        packed = entry.header
    }

    private static func deflater() throws(ExportFileError) -> Deflater {
        do throws(CompressionError) {
            return try Deflater(level: level)
        } catch {
            throw ExportFileError(error)
        }
    }

    deinit {
        close(descriptor)
        if !isFinished { unlink(path + ExportDirectory.unfinished) }
    }

    /// Appends to the entry's content.
    package mutating func append(_ bytes: [UInt8]) throws(ExportFileError) {
        plain += bytes
        guard plain.count >= Self.pieceBytes else { return }
        try pack(isLast: false)
    }

    private mutating func pack(isLast: Bool) throws(ExportFileError) {
        let former = packed.count
        deflater.compress(plain, isLast: isLast, to: &packed)
        entry.add(plain: plain, packed: packed.count - former)
        plain.removeAll(keepingCapacity: true)
        try flush()
    }

    private mutating func flush() throws(ExportFileError) {
        var start = 0
        while start < packed.count {
            let count = packed[start...].withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw ExportFileError("write", path, errno)
            }
            start += count
        }
        packed.removeAll(keepingCapacity: true)
    }

    /// Ends the file and makes it durable under its final name. Returns its bytes.
    package consuming func finish() throws(ExportFileError) -> Int64 {
        try pack(isLast: true)
        let (header, trailer) = (entry.header, entry.trailer)
        packed = trailer
        try flush()
        let count = header.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == header.count else { throw ExportFileError("pwrite", path, errno) }
        guard fdatasync(descriptor) == 0 else { throw ExportFileError("fdatasync", path, errno) }
        guard rename(path + ExportDirectory.unfinished, path) == 0 else {
            throw ExportFileError("rename", path, errno)
        }
        isFinished = true
        try ExportDirectory.synchronize(path)
        return Int64(header.count + trailer.count) + Int64(entry.packedBytes)
    }
}
