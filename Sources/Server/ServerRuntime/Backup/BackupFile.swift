import ConfigurationFile
import Crypto
import FoundationEssentials
import Glibc

/// Large files of a backup, read a piece at a time.
enum BackupFile {
    private static let piece = 1 << 20

    /// Size and SHA-256 of a file, as the disk has it.
    static func sum(of path: String) throws(ServerError) -> (bytes: Int64, sha256: String) {
        try read(path) { _ throws(ServerError) in }
    }

    /// Copies a file to a new one with these permissions, and synchronises it. Returns what was read.
    static func copy(
        _ path: String, to target: String, mode: mode_t
    ) throws(ServerError) -> (bytes: Int64, sha256: String) {
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw failure(target, "cannot be made") }
        defer { close(descriptor) }
        let sum = try read(path) { bytes throws(ServerError) in
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

    private static func read(
        _ path: String, _ body: (ArraySlice<UInt8>) throws(ServerError) -> Void
    ) throws(ServerError) -> (bytes: Int64, sha256: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(path, "cannot be read", .notFound) }
        defer { close(descriptor) }
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

    /// What root has made belongs to the owner of the directory that it is for: the server must be able to read and write it.
    static func give(_ path: String, toOwnerOf directory: String) {
        guard geteuid() == 0, let status = FileStatus(of: directory) else { return }
        _ = chown(path, status.owner, status.group)
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
