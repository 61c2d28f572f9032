import Glibc
package import SQLDatabase
package import StoreRecords
import Synchronization
package import TrackStore

/// The fleet's tracks in one SQLite file, see docs/formats/track-store.md.
///
/// One connection writes, several read, in write-ahead mode: reading never waits for writing. Nothing here blocks the
/// caller's thread but opening. Other processes may read and write the file too, but only one may merge.
package final class SQLiteTrackStore: TrackStore, SQLRecordStore {
    package let path: String
    let options: SQLiteTrackStoreOptions
    /// What became of the copy before a migration.
    package let migrationCopy: MigrationCopy.Outcome
    let database: SQLiteDatabase
    private let files: OpenedFiles
    package let records: RecordState
    let openings = StreamOpenings()
    let merging = FairSemaphore()
    /// One caller writes, and the next one is ready.
    private let writers = FairSemaphore(2, ofOwner: 1)
    /// Whoever asks much leaves a connection to the others.
    private let readers: FairSemaphore
    /// The entity after which the next merging goes on.
    let mergeCursor = Mutex<Int64>(0)
    let isClosed = Mutex(false)
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
        records = RecordState(secrets: options.secrets)
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

    package func reading<Value: Sendable>(
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
    package func writing<Value: Sendable>(
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
                try self.records.known.withLock { try $0.begin(database) }
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
    package func checkOpen() throws(TrackStoreError) {
        if isClosed.withLock({ $0 }) { throw closedError }
    }

    var closedError: TrackStoreError { TrackStoreError(.closed, "the store \(path) is closed") }

    /// Whatever SQLite says of a connection that ended meanwhile.
    func translated(_ error: any Error) -> TrackStoreError {
        let isMisuse = (error as? SQLError)?.kind == .misuse
        return isMisuse && isClosed.withLock({ $0 }) ? closedError : .translated(error, path: path)
    }
}

/// How a ``SQLiteTrackStore`` treats its file.
package struct SQLiteTrackStoreOptions: Sendable {
    /// What a commit waits for.
    package enum Synchronous: Sendable {
        /// Every commit is on the medium: nothing acknowledged is lost with the power.
        case full
        /// A power cut may take the last commits (an ended process takes none). The file stays sound either way.
        case normal
    }

    package var synchronous: Synchronous
    /// How long to wait for a file that another process holds, seconds.
    package var busyTimeout: Double
    /// Connections that read at the same time, at least 1.
    package var readers: Int
    /// Check the file before the first use. Reads all of it.
    package var checksIntegrityAtStart: Bool
    /// The file grows no further than this, bytes; nil: as far as the medium allows. Then writing throws `.full`.
    package var maximumBytes: Int64?
    /// Make the store when its file is missing or holds nothing; otherwise that throws `.missing`.
    package var makesMissing: Bool
    /// Keep a copy of a store of an earlier schema before its tables are changed.
    package var copiesBeforeMigration: Bool
    /// Whether a server has the store open: then a store of an earlier schema is refused, because that server may be of the
    /// version before. Asked only about such a store. A server that starts says no.
    package var isServed: @Sendable () -> Bool
    /// Called again and again while a copy before a migration gets on, on the thread that opens the store.
    package var onCopying: @Sendable () -> Void
    /// Numbers of pushes come from this seed, so that two runs of a test write the same bytes; nil: from SQLite.
    package var randomSeed: UInt64?
    /// How signing keys and the secrets of callbacks stand in the tables.
    package var secrets: SecretProtection

    package init(
        synchronous: Synchronous = .full, busyTimeout: Double = 5, readers: Int = 4,
        checksIntegrityAtStart: Bool = false, maximumBytes: Int64? = nil, makesMissing: Bool = true,
        copiesBeforeMigration: Bool = false, isServed: @escaping @Sendable () -> Bool = { false },
        onCopying: @escaping @Sendable () -> Void = {},
        randomSeed: UInt64? = nil, secrets: SecretProtection = .none
    ) {
        self.synchronous = synchronous
        self.busyTimeout = busyTimeout
        self.readers = readers
        self.checksIntegrityAtStart = checksIntegrityAtStart
        self.maximumBytes = maximumBytes
        self.makesMissing = makesMissing
        self.copiesBeforeMigration = copiesBeforeMigration
        self.isServed = isServed
        self.onCopying = onCopying
        self.randomSeed = randomSeed
        self.secrets = secrets
    }
}

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

extension SQLiteTrackStore {
    package func probe() async throws(TrackStoreError) {
        try checkOpen()
        do {
            _ = try await probeConnection().read { try $0.value(Int64.self, "SELECT value FROM counter") }
        } catch {
            throw translated(error)
        }
    }

    /// All readers may be in use. The writer is no reader's affair.
    private func probeConnection() throws -> SQLiteQueue {
        try probing.withLock { probing in
            if let probing { return probing }
            let made = try SQLiteQueue(path: path, .readOnly, busyTimeout: options.busyTimeout)
            probing = made
            return made
        }
    }
}
