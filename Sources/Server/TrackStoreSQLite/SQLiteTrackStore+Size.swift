import Glibc
package import TrackStore

/// What the store takes of its disk. Asks the file system, never opens the file: closing it would end SQLite's locks.
extension SQLiteTrackStore {
    /// The database and its log, and what an unprivileged user may still write on their file system.
    package func size() async throws(TrackStoreError) -> StoreSize {
        try checkOpen()
        var status = statvfs()
        let available = statvfs(path, &status) == 0 ? UInt64(status.f_bavail) * UInt64(status.f_frsize) : nil
        return StoreSize(bytes: Self.bytes(path) + Self.bytes(path + "-wal"), availableBytes: available)
    }

    static func bytes(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}
