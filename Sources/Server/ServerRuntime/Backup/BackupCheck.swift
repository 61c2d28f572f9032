import Crypto
import DirectoryAccess
import FoundationEssentials
import Glibc
import Synchronization
package import TrackModel
import TrackStore
import TrackStoreSQLite

/// Whether a backup is still what was written: its list, the sum of each file, and every page of its store.
package struct BackupCheck: Sendable {
    package struct Result: Sendable {
        /// When it was made, ISO 8601.
        package let made: String
        package let program: String
        package let schema: Int
        package let storeBytes: Int64
        package let newestReceived: Timestamp?
        /// How many files it has besides the store.
        package let files: Int
    }

    /// Reads all of a backup.
    ///
    /// - Throws: ``ServerError`` with the first file that is not as it was written.
    package static func run(_ directory: String, _ progress: BackupProgress? = nil) throws(ServerError) -> Result {
        let (manifest, findings) = try read(
            try BackupFile.opening(directory) { () throws(FileTrouble) in try DirectoryHandle(directory) }, progress)
        return Result(
            made: manifest.made, program: manifest.program, schema: manifest.schema, storeBytes: manifest.store.bytes,
            newestReceived: findings.newestReceived, files: manifest.files.count)
    }

    static func read(
        _ handle: borrowing DirectoryHandle, _ progress: BackupProgress?
    ) throws(ServerError) -> (BackupManifest, StoreCopy.Findings) {
        let directory = handle.path
        let path = "\(directory)/\(BackupManifest.fileName)"
        guard handle.status(of: FileName(BackupManifest.fileName)) != nil else {
            throw ServerError(
                .notFound, "\(directory) is no backup: it has no file \(BackupManifest.fileName), which is written last"
            )
        }
        let text = try TextFile.read(BackupManifest.fileName, in: handle)
        let manifest = try BackupManifest(text, of: path)
        let sums = "\(directory)/\(BackupManifest.sumsName)"
        guard
            try TextFile.read(BackupManifest.sumsName, in: handle).utf8.elementsEqual(
                manifest.sums(of: Array(text.utf8)))
        else {
            throw ServerError(
                .file, "\(path) or \(sums) is not what was written: they contradict each other. Take another backup")
        }
        for entry in [manifest.store] + manifest.files { progress?.expect(entry.bytes) }
        for entry in [manifest.store] + manifest.files {
            let file = "\(directory)/\(entry.name)"
            let (bytes, sum) = try BackupFile.sum(of: FileName(entry.name), in: handle, progress)
            guard bytes == entry.bytes, sum == entry.sha256 else {
                throw ServerError(
                    .file,
                    "\(file) is not what was written: it has \(bytes) bytes of \(entry.bytes), or others. "
                        + "Take another backup")
            }
        }
        // A store with a log would make SQLite write beside it.
        for ending in ["-wal", "-shm", "-journal"]
        where handle.status(of: FileName(BackupManifest.storeName + ending)) != nil {
            throw ServerError(
                .file, "\(directory)/\(BackupManifest.storeName)\(ending) is no part of a backup. Take another backup")
        }
        // SQLite opens it by its path, and follows a link that somebody has put there since.
        let findings = try WorkingUser.withRights(of: handle) { () throws(ServerError) in
            do throws(TrackStoreError) {
                return try StoreCopy.examine("\(directory)/\(manifest.store.name)")
            } catch {
                throw ServerError(error)
            }
        }
        return (manifest, findings)
    }
}

/// How many bytes of a backup have been read. For another thread than that which reads.
package final class BackupProgress: Sendable {
    private let bytes = Atomic<Int64>(0)
    private let total = Atomic<Int64>(0)

    package init() {}

    /// `whole` is 0 before it is known.
    package var read: (bytes: Int64, whole: Int64) {
        (bytes.load(ordering: .relaxed), total.load(ordering: .relaxed))
    }

    /// A list that somebody has forged may name any number.
    func expect(_ more: Int64) { total.wrappingAdd(more, ordering: .relaxed) }
    func took(_ count: Int) { bytes.wrappingAdd(Int64(count), ordering: .relaxed) }
}

/// Large files of a backup, read a piece at a time.
enum BackupFile {
    private static let piece = 1 << 20

    /// Size and SHA-256 of a regular file in a directory, as the disk has it.
    static func sum(
        of name: FileName, in directory: borrowing DirectoryHandle, _ progress: BackupProgress? = nil
    ) throws(ServerError) -> (bytes: Int64, sha256: String) {
        let path = "\(directory.path)/\(name.text)"
        let descriptor = try opening(path) { () throws(FileTrouble) in try directory.open(name) }
        defer { close(descriptor) }
        return try read(descriptor, path) { bytes throws(ServerError) in progress?.took(bytes.count) }
    }

    /// SHA-256 of the file to which a link leads; nil when it cannot be read.
    static func sum(ofLinked path: String) -> String? {
        guard let descriptor = try? RegularFile.open(path) else { return nil }
        defer { close(descriptor) }
        return try? read(descriptor, path) { _ throws(ServerError) in }.sha256
    }

    /// Copies a file that the configuration names into a new one of a backup, with mode 0600, and synchronises it. Returns what was read.
    static func copy(_ path: String, to target: String) throws(ServerError) -> (bytes: Int64, sha256: String) {
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard source >= 0 else { throw failure(path, "cannot be read", .notFound) }
        defer { close(source) }
        // A device may have no end.
        guard EntryStatus(descriptor: source)?.kind == .file else {
            throw ServerError(
                .notFound, "\(path) cannot be read: \(FileTrouble(path: path, number: FileTrouble.irregular).reason)")
        }
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(target, "cannot be made") }
        defer { close(descriptor) }
        return try copy(source, path, to: descriptor, target, mode: 0o600)
    }

    /// Copies what is left of an open file into another one, and gives that its mode, durably.
    static func copy(
        _ source: Int32, _ path: String, to descriptor: Int32, _ target: String, mode: mode_t,
        _ progress: BackupProgress? = nil
    ) throws(ServerError) -> (bytes: Int64, sha256: String) {
        let sum = try read(source, path) { bytes throws(ServerError) in
            progress?.took(bytes.count)
            var rest = bytes
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                guard count >= 0 else {
                    if errno == EINTR { continue }
                    throw failure(target, "cannot be written")
                }
                rest = rest.dropFirst(count)
            }
        }
        guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else {
            throw failure(target, "cannot be written to disk")
        }
        return sum
    }

    static func opening<Result: ~Copyable>(
        _ path: String, _ body: () throws(FileTrouble) -> Result
    ) throws(ServerError) -> Result {
        do throws(FileTrouble) {
            return try body()
        } catch {
            throw ServerError(.notFound, "\(path) cannot be read: \(error.reason)")
        }
    }

    private static func read(
        _ descriptor: Int32, _ path: String, _ body: (ArraySlice<UInt8>) throws(ServerError) -> Void
    ) throws(ServerError) -> (bytes: Int64, sha256: String) {
        var hash = SHA256()
        var total: Int64 = 0
        var buffer = [UInt8](repeating: 0, count: piece)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw failure(path, "cannot be read")
            }
            if count == 0 { break }
            buffer[..<count].withUnsafeBytes { hash.update(bufferPointer: $0) }
            try body(buffer[..<count])
            total += Int64(count)
        }
        return (total, digits(hash.finalize()))
    }

    /// The SHA-256 of some bytes, 64 hexadecimal digits.
    static func sum(of bytes: [UInt8]) -> String { digits(SHA256.hash(data: bytes)) }

    private static func digits(_ digest: SHA256Digest) -> String {
        digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// What a rename has changed in a directory survives a power cut.
    static func synchronizeDirectory(_ path: String) throws(ServerError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, "cannot be opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path, "cannot be written to disk") }
    }

    /// The directory of a path.
    static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    static func failure(_ path: String, _ what: String, _ code: ServerError.Code = .file) -> ServerError {
        let reason = errno == ENOSPC ? "the disk is full" : String(cString: strerror(errno))
        return ServerError(code, "\(path) \(what): \(reason)")
    }
}
