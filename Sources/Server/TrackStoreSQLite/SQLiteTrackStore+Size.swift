import Glibc

/// What the store takes of its disk. Asks the file system, never opens the file: closing it would end SQLite's locks.
extension SQLiteTrackStore {
    /// Bytes of the database and its log.
    package var fileBytes: Int64 { Self.bytes(path) + Self.bytes(path + "-wal") }

    /// Bytes that an unprivileged user may still write on the file system; nil when it cannot be asked.
    package var availableBytes: UInt64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    private static func bytes(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}
