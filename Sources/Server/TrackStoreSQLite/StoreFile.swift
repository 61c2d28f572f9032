import Glibc
import SQLDatabase
import Synchronization
import TrackStore

/// The file before SQLite may touch it: ours, ours to make, or someone else's.
enum StoreFile {
    /// Makes the file when it is missing and may be made, and refuses one that this program must not change.
    static func prepare(_ path: String, makesMissing: Bool) throws {
        try refuseIrregular(path)
        if try makesMissing && make(path) { return }
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard !makesMissing, errno == ENOENT || errno == ENOTDIR else { return }
            throw missing("there is no store at \(path)")
        }
        guard status.st_size > 0 else {
            if makesMissing { return }
            throw missing("the store \(path) is empty: the file has 0 bytes")
        }
        // SQLite takes so short a file for an empty one and would write over it.
        guard status.st_size >= 512 else {
            throw TrackStoreError(
                .corrupt,
                "\(path) is not a SQLite database: it has only \(status.st_size) bytes. "
                    + "Move it away or correct the store's path")
        }
        let database = try SQLiteConnection(path: path, .readOnly)
        try database.snapshot { try check(database, path, makesMissing: makesMissing) }
    }

    /// SQLite opens what has these names, and would wait for ever for somebody who writes into a pipe.
    private static func refuseIrregular(_ path: String) throws {
        for name in [path, path + "-journal", path + "-wal", path + "-shm"] {
            var status = stat()
            guard stat(name, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { continue }
            throw TrackStoreError(
                .failed,
                "\(name) is no regular file, as each file of a store is, but a pipe, a socket or a device: remove it. "
                    + "If there was a store, put it back or restore a backup")
        }
    }

    /// Mode 0600 from the first moment; SQLite gives its log the mode of the file. True when the file is new.
    private static func make(_ path: String) throws -> Bool {
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file < 0 {
            let reason = errno
            guard reason != EEXIST else { return false }
            throw TrackStoreError(
                .failed,
                "cannot make the store \(path): \(String(cString: strerror(reason))). "
                    + "Its directory must exist and belong to the server's user")
        }
        close(file)
        return true
    }

    /// Someone may have removed a store, or its disk may not be mounted: a new one would hide the loss.
    private static func missing(_ fact: String) -> TrackStoreError {
        TrackStoreError(
            .missing,
            fact + ". If there was a store, put it back or restore a backup; otherwise make one with "
                + "`saker-server init`, or correct path in [store]")
    }

    private static func check(_ database: any SQLConnection, _ path: String, makesMissing: Bool) throws {
        let application = try database.value(Int64.self, "PRAGMA application_id") ?? 0
        let version = try database.value(Int.self, "PRAGMA user_version") ?? 0
        let tables = try database.value(Int.self, "SELECT COUNT(*) FROM sqlite_master") ?? 0
        // A start that ended before its first transaction leaves an empty database.
        if application == 0 && version == 0 && tables == 0 {
            if makesMissing { return }
            throw missing("the store \(path) is empty: the database has no tables")
        }
        guard application == Int64(Schema.applicationID) else {
            throw TrackStoreError(
                .corrupt, "\(path) is a database, but not a track store. Move it away or correct the store's path")
        }
        guard version <= Schema.currentVersion else {
            throw TrackStoreError(
                .newerSchema,
                "the store \(path) has schema \(version), this program knows up to \(Schema.currentVersion). "
                    + "Start the newer program again, or restore a backup from before the update")
        }
    }
}

/// The identity of the file that a path names. A file that is removed and made again has another identity.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    fileprivate init(_ status: stat) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}

/// The database and its log since the store was opened.
///
/// SQLite goes on writing into a file that nobody can find any more, or that somebody has emptied. So what it has committed
/// is told only while the paths still name the files that it writes, and these have all that was written.
final class OpenedFiles: Sendable {
    enum Finding: Hashable {
        case sound
        /// The path names another file now, or none.
        case gone(String)
        /// The database has become shorter, which nothing does while the store is open.
        case cut(String)
        /// The log has become shorter. Another program that moves the log into the database may do that. The caller looks
        /// whether everything can still be read, and calls ``judged(_:isSound:)``.
        case shorterLog(String, bytes: Int64)
    }

    private struct Known {
        let path: String
        let identity: FileIdentity
        let isLog: Bool
        var bytes: Int64
    }

    private struct State {
        var files: [Known]
        var cut: String?
    }

    /// Bytes to which the store itself cuts its log after a burst.
    static let logLimit: Int64 = 64 << 20

    private let state: Mutex<State>

    /// After the first transaction in write-ahead mode, which makes the log.
    init(_ path: String) {
        let files = [(path, false), (path + "-wal", true)].compactMap { path, isLog in
            Self.look(at: path).map {
                Known(path: path, identity: FileIdentity($0), isLog: isLog, bytes: Int64($0.st_size))
            }
        }
        state = Mutex(State(files: files))
    }

    /// Looks at both files. What was cut once stays cut: SQLite writes behind the hole, and the file grows again.
    func look() -> Finding {
        state.withLock { state in
            if let path = state.cut { return .cut(path) }
            for (index, known) in state.files.enumerated() {
                guard let status = Self.look(at: known.path), FileIdentity(status) == known.identity else {
                    return .gone(known.path)
                }
                let bytes = Int64(status.st_size)
                if bytes < known.bytes, !(known.isLog && bytes >= Self.logLimit) {
                    if known.isLog { return .shorterLog(known.path, bytes: bytes) }
                    state.cut = known.path
                    return .cut(known.path)
                }
                state.files[index].bytes = bytes
            }
            return .sound
        }
    }

    /// What became of a log that is shorter.
    func judged(_ path: String, bytes: Int64, isSound: Bool) {
        state.withLock { state in
            guard isSound else { return state.cut = path }
            for index in state.files.indices where state.files[index].path == path { state.files[index].bytes = bytes }
        }
    }

    /// Nil: the path names nothing.
    private static func look(at path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
