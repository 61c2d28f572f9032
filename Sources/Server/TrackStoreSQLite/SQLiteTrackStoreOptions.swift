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

    package init(
        synchronous: Synchronous = .full, busyTimeout: Double = 5, readers: Int = 4,
        checksIntegrityAtStart: Bool = false, maximumBytes: Int64? = nil, makesMissing: Bool = true,
        copiesBeforeMigration: Bool = false, isServed: @escaping @Sendable () -> Bool = { false },
        onCopying: @escaping @Sendable () -> Void = {},
        randomSeed: UInt64? = nil
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
    }
}
