import Compression
import Glibc
package import TrackModel
import TrackStore

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

/// Where the files of finished exports are: one for each token.
package struct ExportDirectory: Hashable, Sendable {
    /// Stands behind the name of a file that is not finished.
    static let unfinished = ".part"
    private static let kind = ".zip"

    package let path: String

    package init(_ path: String) {
        self.path = path
    }

    /// The file of a job.
    package func file(_ token: String) -> String { "\(path)/\(token)\(Self.kind)" }

    /// Makes the directory if it is missing. Only the server's user and group may read it.
    package func make() throws(ExportFileError) {
        guard mkdir(path, 0o750) != 0, errno != EEXIST else { return }
        throw ExportFileError("mkdir", path, errno)
    }

    // MARK: The worker

    /// Has the number of the worker that writes here, so that a server that was killed begins its job again at once and need
    /// not wait until its former claim ends.
    private var workerFile: String { path + "/worker" }

    /// The number of the worker that wrote here last; nil when there is none.
    package func worker() -> Int64? {
        let descriptor = open(workerFile, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0, bytes[count - 1] == UInt8(ascii: "\n") else { return nil }
        return Int64(String(decoding: bytes[..<(count - 1)], as: UTF8.self))
    }

    /// Keeps the number. A failure only costs the next process some time.
    package func keep(worker: Int64) {
        guard self.worker() != worker else { return }
        let descriptor = open(workerFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o640)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let text = Array("\(worker)\n".utf8)
        _ = text.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Removes the files of jobs that are not in `tokens`, finished or not. Touches nothing that does not look like a file of
    /// this directory. Returns how many.
    package func clear(but tokens: Set<String>) -> Int {
        var removed = 0
        for name in names() {
            var token = Substring(name)
            if token.hasSuffix(Self.unfinished) { token = token.dropLast(Self.unfinished.utf8.count) }
            guard token.hasSuffix(Self.kind) else { continue }
            token = token.dropLast(Self.kind.utf8.count)
            guard ExportToken.isToken(token), !tokens.contains(String(token)) else { continue }
            if unlink("\(path)/\(name)") == 0 { removed += 1 }
        }
        return removed
    }

    private func names() -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }

    /// Makes the name of a file durable.
    static func synchronize(_ file: String) throws(ExportFileError) {
        let parent = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ExportFileError("open", parent, errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw ExportFileError("fsync", parent, errno) }
    }
}
