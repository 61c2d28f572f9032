import Glibc
import SQLDatabase
import TrackStore

/// The copy of a store that is made before a newer program changes its tables, so that the former program can go on with it.
package enum MigrationCopy {
    package enum Outcome: Hashable, Sendable {
        /// The store has the tables of this program, or is new.
        case notNeeded
        /// The path of the copy, which was made now or by a start that ended before its migration did.
        case kept(String)
        /// There is no copy: why.
        case skipped(String)
    }

    /// `tracks.sqlite.before-v15`: what the store was before it got schema 15.
    static func path(of store: String, before schema: Int) -> String { "\(store).before-v\(schema)" }

    /// The copies of a store that are there, whatever schema they are from.
    package static func all(of store: String) -> [String] { files(of: store, ending: "") }

    private static func files(of store: String, ending: String) -> [String] {
        let cut = store.lastIndex(of: "/")
        let folder = cut.map { String(store[...$0]) } ?? "./"
        let prefix = String(store[(cut.map { store.index(after: $0) } ?? store.startIndex)...]) + ".before-v"
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var found: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix(prefix), name.hasSuffix(ending) else { continue }
            if Int(name.dropFirst(prefix.count).dropLast(ending.count)) != nil {
                found.append((cut == nil ? "" : folder) + name)
            }
        }
        return found.sorted()
    }

    /// Throws `.failed` for a store of an earlier schema that a server has open: a server of the version before would go
    /// on with tables that it does not know, and a copy in steps begins anew whenever it writes.
    static func refuse(_ store: String, isServed: () -> Bool) throws {
        guard let schema = try? schema(of: store), isFormer(schema), isServed() else { return }
        throw TrackStoreError(
            .failed,
            "the store \(store) has schema \(schema), and a server uses it, which may be of the version before. This program "
                + "needs schema \(Schema.currentVersion). Restart the server (sudo systemctl restart saker-server), which "
                + "changes the tables, and try again")
    }

    /// Call it before the first step of the migration, with the ``MigrationLock`` held. Blocks for as long as reading and writing the
    /// store takes. A copy is no condition of the migration: without room for it the server still starts. `onStep`: called
    /// again and again while the copy gets on.
    static func make(of store: String, onStep: @escaping () -> Void) -> Outcome {
        let copy = path(of: store, before: Schema.currentVersion)
        let part = copy + ".part"
        // Of starts that were killed while they made a copy, by whatever version. They take the room that the copy needs.
        for rest in files(of: store, ending: ".part") { unlink(rest) }
        do {
            guard let schema = try schema(of: store), isFormer(schema) else { return .notNeeded }
            // A start was killed during its migration: the copy is from before it, and the store is not any more. A copy of
            // the same schema is from an upgrade that somebody took back.
            if access(copy, F_OK) == 0, let copied = try? self.schema(of: copy), copied < schema { return .kept(copy) }
            if let problem = roomProblem(store) { return .skipped(problem) }
            do {
                try StoreCopy.make(of: store, at: part, onStep: onStep)
            } catch {
                unlink(part)
                throw error
            }
            guard rename(part, copy) == 0 else {
                let reason = String(cString: strerror(errno))
                unlink(part)
                return .skipped("\(copy) cannot be made: \(reason)")
            }
            // Otherwise a power cut may take the name of the copy, and leave the changed tables.
            synchronizeFolder(of: copy)
            return .kept(copy)
        } catch {
            return .skipped(TrackStoreError.translated(error, path: store).detail)
        }
    }

    private static func synchronizeFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func isFormer(_ schema: Int) -> Bool { schema > 0 && schema < Schema.currentVersion }

    private static func schema(of store: String) throws -> Int? {
        try SQLiteConnection(path: store, .readOnly).value(Int.self, "PRAGMA user_version")
    }

    /// The copy takes as much as the store, and the migration may write as much again into the log.
    private static func roomProblem(_ store: String) -> String? {
        var status = statvfs()
        guard statvfs(store, &status) == 0 else { return nil }
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        let wanted = 2 * UInt64(clamping: SQLiteTrackStore.bytes(store) + SQLiteTrackStore.bytes(store + "-wal"))
        guard free < wanted else { return nil }
        return "its disk has \(free) bytes free, and a copy beside the migration may need \(wanted)"
    }
}

/// Lets one process at a time copy a former store and change its tables. Released when the process ends, however it ends.
///
/// The lock is on the directory of the store, so it leaves no file behind. On a file system without such locks there is none;
/// SQLite's own locks still keep the tables right.
final class MigrationLock {
    private let descriptor: CInt

    /// Blocks until no other process has it, and calls `whileWaiting` again and again.
    init(store: String, whileWaiting: () -> Void) {
        let folder = store.lastIndex(of: "/").map { String(store[...$0]) } ?? "."
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
            whileWaiting()
            usleep(50_000)
        }
    }

    deinit {
        guard descriptor >= 0 else { return }
        // A child process between its fork and its exec has the directory open too, and would keep the lock that long.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
