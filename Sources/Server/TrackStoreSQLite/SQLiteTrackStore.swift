import SQLDatabase
import Synchronization
package import TrackStore

/// The fleet's tracks in one SQLite file, see docs/formats/track-store.md.
///
/// One connection writes, several read, in write-ahead mode: reading never waits for writing. Nothing here blocks the
/// caller's thread but opening. Other processes may read and write the file too, but only one may merge.
package final class SQLiteTrackStore: TrackStore {
    package let path: String
    let options: SQLiteTrackStoreOptions
    /// What became of the copy before a migration.
    package let migrationCopy: MigrationCopy.Outcome
    let database: SQLiteDatabase
    private let files: OpenedFiles
    /// Rows by name. Filled after the commit of what made them.
    let known = Mutex(KnownRows())
    let openings = StreamOpenings()
    let merging = FairSemaphore()
    /// One caller writes, and the next one is ready.
    private let writers = FairSemaphore(2, ofOwner: 1)
    /// Whoever asks much leaves a connection to the others.
    private let readers: FairSemaphore
    /// The entity after which the next merging goes on.
    let mergeCursor = Mutex<Int64>(0)
    let isClosed = Mutex(false)
    /// Pushes for which there was no room.
    let leftOut = Mutex(0)
    /// The connection of ``probe()``, from the first call on: nothing else may hold it up.
    let probing = Mutex<SQLiteQueue?>(nil)

    /// Opens the file, or makes it with mode 0600; its directory must exist.
    ///
    /// Throws `.newerSchema` and `.corrupt` with the file untouched; `.busy`, `.full`, `.failed`.
    package convenience init(
        path: String, options: SQLiteTrackStoreOptions = SQLiteTrackStoreOptions()
    ) async throws(TrackStoreError) {
        try self.init(opening: path, options: options)
        guard options.checksIntegrityAtStart else { return }
        let problems = try await checkStructure()
        guard problems.isEmpty else {
            database.close()
            throw TrackStoreError(
                .corrupt, "the store \(path) contradicts itself: \(problems.prefix(5).joined(separator: "; "))")
        }
    }

    /// The same without the check of the file, on the thread of the caller.
    package init(opening path: String, options: SQLiteTrackStoreOptions) throws(TrackStoreError) {
        self.path = path
        self.options = options
        readers = FairSemaphore(options.readers, ofOwner: options.readers - 1)
        do {
            (database, migrationCopy) = try Self.open(path, options)
        } catch {
            throw .translated(error, path: path)
        }
        files = OpenedFiles(path)
    }

    /// Moves the log into the file and ends every connection. Blocks the calling thread until the calls that run end.
    package func close() throws(TrackStoreError) {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        // First: the last connection that is closed takes the log away, and this one may not write.
        probing.withLock { $0 }?.close()
        database.close()
    }

    private static func open(
        _ path: String, _ options: SQLiteTrackStoreOptions
    ) throws -> (SQLiteDatabase, MigrationCopy.Outcome) {
        try StoreFile.prepare(path, makesMissing: options.makesMissing)
        // A server that starts and a command may both find a former store. Held until the tables are those of today.
        let lock = options.copiesBeforeMigration ? MigrationLock(store: path, whileWaiting: options.onCopying) : nil
        defer { withExtendedLifetime(lock) {} }
        try MigrationCopy.refuse(path, isServed: options.isServed)
        let copy =
            options.copiesBeforeMigration ? MigrationCopy.make(of: path, onStep: options.onCopying) : .notNeeded
        let database = try SQLiteDatabase(path: path, busyTimeout: options.busyTimeout) { writer in
            try tune(writer, options)
            try Schema.migrate(writer)
        }
        return (database, copy)
    }

    private static func tune(_ database: SQLiteConnection, _ options: SQLiteTrackStoreOptions) throws {
        switch options.synchronous {
        case .full: try database.execute("PRAGMA synchronous = FULL")
        case .normal: try database.execute("PRAGMA synchronous = NORMAL")
        }
        // 32 MiB; negative numbers are KiB.
        try database.execute("PRAGMA cache_size = -32768")
        // Pages of write-ahead log before they are moved into the file: rare moves write a hot page once, not often.
        try database.execute("PRAGMA wal_autocheckpoint = 8192")
        // The log shrinks back to this after a burst, bytes.
        try database.execute("PRAGMA journal_size_limit = \(OpenedFiles.logLimit)")
        if let seed = options.randomSeed { try database.replaceFunction("random", with: repeatableRandom(seed)) }
        if let bound = options.maximumBytes {
            let pageSize = try database.value(Int64.self, "PRAGMA page_size") ?? 4096
            try database.execute("PRAGMA max_page_count = \(max(1, bound / pageSize))")
        }
    }

    /// In place of SQLite's own: SplitMix64.
    private static func repeatableRandom(_ seed: UInt64) -> () -> Int64 {
        var state = seed
        return {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int64(bitPattern: mixed ^ (mixed >> 31))
        }
    }

    /// Runs on a reading connection, in one snapshot.
    func reading<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws(TrackStoreError) -> Value {
        try checkOpen()
        let owner = WorkOwner.current
        await readers.enter(owner)
        defer { readers.leave(owner) }
        do {
            return try await database.read(body)
        } catch {
            throw translated(error)
        }
    }

    /// Runs on the writing connection, in one transaction that is undone when `body` throws. Returns when it is committed to
    /// the file that the store's path names; throws `.missing` when another file is there, or none.
    func writing<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws(TrackStoreError) -> Value {
        try checkOpen()
        let owner = WorkOwner.current
        await writers.enter(owner)
        defer { writers.leave(owner) }
        // SQLite writes behind a hole as readily as behind what it wrote before.
        try checkFiles()
        do {
            let value = try await database.write { database in
                try self.known.withLock { try $0.begin(database) }
                return try body(database)
            }
            try checkFiles()
            return value
        } catch {
            throw translated(error)
        }
    }

    /// Throws `.missing` when what was committed before is in no file that anybody can open again.
    func checkFiles() throws(TrackStoreError) {
        var finding = files.look()
        if case .shorterLog(let path, let bytes) = finding {
            files.judged(path, bytes: bytes, isSound: canReadLastCommit())
            finding = files.look()
        }
        let (path, what): (String, String)
        switch finding {
        case .sound: return
        case .gone(let gone): (path, what) = (gone, "removed or replaced")
        case .cut(let cut), .shorterLog(let cut, _): (path, what) = (cut, "cut off or emptied")
        }
        // Closing removes the log.
        try checkOpen()
        throw TrackStoreError(
            .missing,
            "the file \(path) was \(what) while the store was in use, so nothing is kept. Stop the server, "
                + "put the file back or restore a backup, and start the server again")
    }

    /// Whether a connection that has nothing in its memory finds what every commit writes.
    private func canReadLastCommit() -> Bool {
        let connection = try? SQLiteConnection(path: path, .readOnly, busyTimeout: options.busyTimeout)
        return (try? connection?.value(Int64.self, "SELECT value FROM counter")) != nil
    }

    /// Throws `.closed`.
    func checkOpen() throws(TrackStoreError) {
        if isClosed.withLock({ $0 }) { throw closedError }
    }

    var closedError: TrackStoreError { TrackStoreError(.closed, "the store \(path) is closed") }

    /// Whatever SQLite says of a connection that ended meanwhile.
    func translated(_ error: any Error) -> TrackStoreError {
        let isMisuse = (error as? SQLError)?.kind == .misuse
        return isMisuse && isClosed.withLock({ $0 }) ? closedError : .translated(error, path: path)
    }
}
