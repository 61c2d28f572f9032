import Glibc
import Logging
import StoreRecords
import TrackModel
import TrackStore
import TrackStoreSQLite

/// A store of whatever kind, and how its secrets stand in it.
struct OpenedStore: Sendable {
    let store: any TrackStore
    let protection: SecretProtection
}

/// Opens the store of a configuration. Nothing else in the server knows which kinds of store there are.
enum StoreFactory {
    /// Opens the store, which must exist, for a process that serves it, or for one that looks whether it could: then a server
    /// may be `elsewhere`. `onCopying`: see ``SQLiteTrackStoreOptions``.
    static func open(
        _ store: ServerConfiguration.Store, logger: Logger? = nil, mayBeServed elsewhere: Bool = false,
        onCopying: @escaping @Sendable () -> Void = {}
    ) async throws(ServerError) -> OpenedStore {
        try await sqlite(
            store.path, keyFile: store.keyFile, logger: logger,
            SQLiteTrackStoreOptions(
                synchronous: store.synchronous == .full ? .full : .normal, readers: store.readers,
                checksIntegrityAtStart: store.isCheckedAtStart, maximumBytes: store.maximumBytes, makesMissing: false,
                copiesBeforeMigration: true, isServed: { elsewhere && ServeLock.isHeld(store: store.path) == true },
                onCopying: onCopying))
    }

    /// Opens the store, which must exist, for an administrator's command, also while a server serves it.
    static func openForCommand(_ store: ServerConfiguration.Store) async throws(ServerError) -> OpenedStore {
        try await sqlite(
            store.path, keyFile: store.keyFile,
            SQLiteTrackStoreOptions(
                makesMissing: false, copiesBeforeMigration: true,
                isServed: { ServeLock.isHeld(store: store.path) == true }))
    }

    /// Makes a new store for `init`.
    static func make(at path: String) async throws(ServerError) -> any TrackStore {
        try await sqlite(path, keyFile: nil, SQLiteTrackStoreOptions()).store
    }

    /// The copies from before migrations that are there.
    static func migrationCopies(of store: ServerConfiguration.Store) -> [String] { MigrationCopy.all(of: store.path) }

    /// Looks at a store without changing it, also while a server serves it.
    static func look(
        at store: ServerConfiguration.Store, timeout: Double
    ) async -> Result<StoreFileFacts, StoreObstacle> {
        guard access(store.path, F_OK) != 0 || access(store.path, R_OK) == 0 else {
            return .failure(StoreObstacle(detail: "this user may not read \(store.path)", isForbidden: true))
        }
        do throws(TrackStoreError) {
            let look = try await StoreFileInspection(path: store.path, timeout: timeout, at: SystemClock.now())
            return .success(
                StoreFileFacts(
                    schema: look.schema, knownSchema: StoreFileInspection.knownSchema, problems: look.problems,
                    isHeld: look.isHeld, newestReceived: look.newestReceived, places: look.places.map(\.wgs84),
                    callbacks: look.callbacks.map {
                        WaitingAlarms(
                            service: $0.service, target: $0.target, count: $0.count, firstTried: $0.firstTried)
                    },
                    access: look.access.map {
                        VehicleAccessFacts(
                            service: $0.service.rawValue, devices: $0.devices, keys: $0.keys, pending: $0.pending,
                            oldestPending: $0.oldestPending, tokenEnds: $0.tokenEnds)
                    }, fleet: FleetFacts(FleetHealth(look.health, devices: look.devices, at: SystemClock.now()))))
        } catch {
            return .failure(StoreObstacle(detail: error.detail, isForbidden: false))
        }
    }

    private static func sqlite(
        _ path: String, keyFile: String?, logger: Logger? = nil, _ options: SQLiteTrackStoreOptions
    ) async throws(ServerError) -> OpenedStore {
        do throws(TrackStoreError) {
            var options = options
            options.secrets = SecretProtection(keyFile: keyFile)
            let store = try await SQLiteTrackStore(path: path, options: options)
            switch store.migrationCopy {
            case .notNeeded: break
            case .kept(let copy):
                logger?.notice(
                    "the store has the tables of this version now, and a copy is from before",
                    metadata: ["copy": "\(copy)", "kept_days": "\(CopyCleanup.days)"])
            case .skipped(let reason):
                logger?.warning(
                    "the store has the tables of this version now, and there is no copy from before",
                    metadata: ["reason": "\(reason)"])
            }
            return OpenedStore(store: store, protection: options.secrets)
        } catch {
            throw ServerError(error)
        }
    }
}

extension SecretProtection {
    /// `path` nil: none is configured.
    init(keyFile path: String?) {
        guard let path else {
            self = .none
            return
        }
        do throws(ServerError) {
            guard let seal = SecretSeal(hex: try TextFile.read(path)) else {
                self = .unavailable(
                    "\(path) is no key for signing keys: it must hold \(SecretSeal.keyDigits) hexadecimal digits, as "
                        + "`openssl rand -hex 32` makes them")
                return
            }
            self = .sealed(seal)
        } catch {
            self = .unavailable(error.detail)
        }
    }
}

extension FleetFacts {
    fileprivate init(_ fleet: FleetHealth) { self.init(vehicles: fleet.rows.count, troubles: fleet.counts) }
}
