import TrackStore
import TrackStoreSQLite

/// Opens the store of a configuration. Nothing else in the server knows which kinds of store there are.
enum StoreFactory {
    /// Opens the store, which must exist, for a process that serves it.
    static func open(_ store: ServerConfiguration.Store) async throws(ServerError) -> SealingStore {
        try await sqlite(
            store.path, keyFile: store.keyFile,
            SQLiteTrackStoreOptions(
                synchronous: store.synchronous == .full ? .full : .normal, readers: store.readers,
                checksIntegrityAtStart: store.isCheckedAtStart, maximumBytes: store.maximumBytes, makesMissing: false))
    }

    /// Opens the store, which must exist, for an administrator's command, also while a server serves it.
    static func openForCommand(_ store: ServerConfiguration.Store) async throws(ServerError) -> SealingStore {
        try await sqlite(store.path, keyFile: store.keyFile, SQLiteTrackStoreOptions(makesMissing: false))
    }

    /// Makes a new store for `init`.
    static func make(at path: String) async throws(ServerError) -> SealingStore {
        try await sqlite(path, keyFile: nil, SQLiteTrackStoreOptions())
    }

    private static func sqlite(
        _ path: String, keyFile: String?, _ options: SQLiteTrackStoreOptions
    ) async throws(ServerError) -> SealingStore {
        do throws(TrackStoreError) {
            return SealingStore(
                inner: try await SQLiteTrackStore(path: path, options: options),
                protection: SecretProtection(keyFile: keyFile))
        } catch {
            throw ServerError(error)
        }
    }
}
