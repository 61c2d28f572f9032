import Glibc
import SQLDatabase
package import TrackModel
package import TrackStore

/// Copies of a store in a file of their own, made while a server goes on.
package enum StoreCopy {
    /// What a copy is, after SQLite has looked at all of it.
    package struct Findings: Hashable, Sendable {
        package let schema: Int
        /// When the server received the newest stored points; nil for a store without points, or of another schema.
        package let newestReceived: Timestamp?
    }

    /// Makes a new file with everything that the store had at one moment, and synchronises it. Writers do not wait: they go
    /// on in the store's log, which grows until the copy is made. Blocks for as long as reading and writing the store takes.
    ///
    /// - Throws: `.missing` and `.corrupt` as a start of the server does, `.full` for a full disk, `.failed`. A file that was
    ///   begun stays.
    package static func make(of path: String, at copy: String) throws(TrackStoreError) {
        try make(of: path, at: copy, onStep: nil)
    }

    /// `onStep`: the copy is made in steps of ``pagesOfStep``, each of which is on the disk when this is called. A copy in
    /// steps begins anew whenever somebody has written, so it is for a store that nobody serves. Nil: in one step.
    static func make(of path: String, at copy: String, onStep: (() -> Void)?) throws(TrackStoreError) {
        do {
            try StoreFile.prepare(path, makesMissing: false)
            let descriptor = open(copy, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw TrackStoreError(.failed, "\(copy) cannot be made: \(String(cString: strerror(errno)))")
            }
            defer { close(descriptor) }
            try fill(
                copy, from: path,
                onStep: onStep.map { onStep in
                    {
                        // Otherwise the last step would wait for all of them.
                        fdatasync(descriptor)
                        onStep()
                    }
                })
            guard fsync(descriptor) == 0 else {
                throw TrackStoreError(.failed, "\(copy) cannot be written to disk: \(String(cString: strerror(errno)))")
            }
        } catch {
            let isFull = (error as? SQLError)?.kind == .full
            throw .translated(error, path: isFull ? copy : path)
        }
    }

    /// 16 MiB, with pages of 4096 bytes.
    private static let pagesOfStep: Int32 = 4096

    private static func fill(_ copy: String, from path: String, onStep: (() -> Void)?) throws {
        // Not read-only: who closes a store last takes its log away, and only a writer may.
        let source = try SQLiteConnection(path: path)
        let target = try SQLiteConnection(path: copy)
        // A copy in several steps begins anew whenever the server has written.
        try source.copy(to: target, pagesOfStep: pagesOfStep, onStep: onStep)
        // One file, without a log beside it.
        try target.execute("PRAGMA journal_mode = DELETE")
    }

    /// Looks at all of a file that nobody uses: every page, index and constraint.
    ///
    /// - Throws: `.corrupt` with what is wrong, `.newerSchema`, `.missing`.
    package static func examine(_ copy: String) throws(TrackStoreError) -> Findings {
        do {
            try StoreFile.prepare(copy, makesMissing: false)
            let database = try SQLiteConnection(path: copy, .readOnly)
            return try database.snapshot {
                let problems = try database.values(String.self, "PRAGMA integrity_check(3)").filter { $0 != "ok" }
                guard problems.isEmpty else {
                    throw TrackStoreError(.corrupt, "\(copy) is damaged: \(problems.joined(separator: "; "))")
                }
                let schema = try database.value(Int.self, "PRAGMA user_version") ?? 0
                let received =
                    schema == Schema.currentVersion
                    ? try database.value(Int64.self, "SELECT received FROM counter") : nil
                return Findings(
                    schema: schema, newestReceived: received.flatMap { $0 > 0 ? Timestamp(milliseconds: $0) : nil })
            }
        } catch {
            throw .translated(error, path: copy)
        }
    }
}
