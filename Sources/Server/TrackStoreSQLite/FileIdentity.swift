import Glibc
import Synchronization

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
