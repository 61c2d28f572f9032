import Glibc
import TrackModel
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

    /// Looks at a store without changing it, also while a server serves it.
    static func look(
        at store: ServerConfiguration.Store, patience: Double
    ) async -> Result<StoreFileFacts, StoreObstacle> {
        guard access(store.path, F_OK) != 0 || access(store.path, R_OK) == 0 else {
            return .failure(StoreObstacle(detail: "this user may not read \(store.path)", isForbidden: true))
        }
        do throws(TrackStoreError) {
            let look = try await StoreLook(path: store.path, patience: patience)
            return .success(
                StoreFileFacts(
                    schema: look.schema, knownSchema: StoreLook.knownSchema, problems: look.problems,
                    isHeld: look.isHeld, newestReceived: look.newestReceived, places: look.places.map(\.wgs84),
                    callbacks: look.callbacks.map {
                        WaitingAlarms(
                            service: $0.service, target: $0.target, count: $0.count, firstTried: $0.firstTried)
                    },
                    access: look.access.map {
                        VehicleAccessFacts(service: $0.service.rawValue, devices: $0.devices, keys: $0.keys)
                    }))
        } catch {
            return .failure(StoreObstacle(detail: error.detail, isForbidden: false))
        }
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
