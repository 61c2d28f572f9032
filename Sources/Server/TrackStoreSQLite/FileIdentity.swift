import Glibc

/// Which file a path names: a file that is removed and made again has another identity.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// Nil: the path names nothing.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}

/// The database and its log as they were when the store was opened.
///
/// SQLite goes on writing into a file that nobody can find any more. So what it has committed is told only while the paths
/// still name the files that it writes.
struct OpenedFiles: Sendable {
    private let files: [(path: String, identity: FileIdentity)]

    /// After the first transaction in write-ahead mode, which makes the log.
    init(_ path: String) {
        files = [path, path + "-wal"].compactMap { path in FileIdentity(of: path).map { (path, $0) } }
    }

    /// The first path that names another file now, or none.
    var missing: String? { files.first { FileIdentity(of: $0.path) != $0.identity }?.path }
}
