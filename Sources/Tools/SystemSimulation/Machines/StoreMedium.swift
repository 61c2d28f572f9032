internal import FoundationEssentials
internal import TrackStore
internal import TrackStoreSQLite
internal import TrackTestKit

/// What survives the server's processes: the reference store as it is, or SQLite's files, opened anew by each process.
final class StoreMedium {
    let usesSQLite: Bool
    private let path: String
    private var reference: ReferenceTrackStore?
    private var sqlite: SQLiteTrackStore?
    /// The store of the present process.
    private(set) var current: (any TrackStore)?

    init(usesSQLite: Bool, directory: String, seed: UInt64) {
        self.usesSQLite = usesSQLite
        path = "\(directory)/saker-simulation-\(UInt64.random(in: 0 ... .max))-\(seed)"
    }

    func open() async throws -> any TrackStore {
        guard usesSQLite else {
            let store = reference ?? ReferenceTrackStore()
            reference = store
            current = store
            return store
        }
        if sqlite == nil { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        // The former process let go of it without a word: no checkpoint, nothing moved.
        let options = SQLiteTrackStoreOptions(synchronous: .normal, readers: 1)
        let store = try await SQLiteTrackStore(path: path + "/store.sqlite", options: options)
        try? sqlite?.close()
        sqlite = store
        current = store
        return store
    }

    func remove() {
        try? sqlite?.close()
        if usesSQLite { try? FileManager.default.removeItem(atPath: path) }
    }
}
