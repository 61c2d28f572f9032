internal import FenceFiles
internal import Glibc

/// Changes of an SQLite file that stand in a second file beside it. Without writing there, SQLite cannot read either.
enum PendingChanges: Equatable {
    case nothing
    /// Write-ahead log: changes that are not in the file yet.
    case log(String)
    /// Rollback journal: what the file was before a change that did not end.
    case journal(String)

    init(of path: String) {
        if Self.hasBytes(path + "-wal") {
            self = .log(path + "-wal")
        } else if Self.hasBytes(path + "-journal") {
            self = .journal(path + "-journal")
        } else {
            self = .nothing
        }
    }

    /// Whether the file is one with a write-ahead log, and there is no log: nobody has the file open.
    static func isIdle(_ path: String) -> Bool {
        guard !hasLog(path) else { return false }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // The version that a writer needs, and a reader (The SQLite Database File Format, 1.3.3).
        var bytes = [UInt8](repeating: 0, count: 20)
        return read(descriptor, &bytes, bytes.count) == bytes.count && (bytes[18] == 2 || bytes[19] == 2)
    }

    /// Whether there is a write-ahead log, or nobody knows.
    static func hasLog(_ path: String) -> Bool {
        var about = stat()
        return stat(path + "-wal", &about) == 0 || errno != ENOENT
    }

    private static func hasBytes(_ path: String) -> Bool {
        var about = stat()
        return stat(path, &about) == 0 && about.st_size > 0
    }

    /// Nil when nothing waits.
    var error: FenceFileError? {
        switch self {
        case .nothing: nil
        case .log(let path):
            FenceFileError(
                """
                its newest changes stand in \(path), and SQLite may not write in this folder: copy both files into a folder of \
                your own, or close the program that has the file open
                """)
        case .journal(let path):
            FenceFileError(
                """
                a change of it did not end, \(path) has what was before, and SQLite may not write in this folder: copy both \
                files into a folder of your own
                """)
        }
    }
}

/// What tells whether a file was written to, or another one put in its place.
struct FileState: Hashable {
    private let device: dev_t
    private let number: ino_t
    private let size: off_t
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil for a file that cannot be looked at.
    init?(of path: String) {
        var about = stat()
        guard stat(path, &about) == 0 else { return nil }
        (device, number, size) = (about.st_dev, about.st_ino, about.st_size)
        (seconds, nanoseconds) = (about.st_mtim.tv_sec, about.st_mtim.tv_nsec)
    }
}
