internal import FoundationEssentials
internal import StoreDisk
internal import TrackStore
internal import TrackStoreSQLite
internal import TrackTestKit

/// What survives the server's processes: the reference store as it is, or SQLite's files on a disk that loses power, opened
/// anew by each process.
final class StoreMedium {
    let usesSQLite: Bool
    private let path: String
    private let seed: UInt64
    private var reference: ReferenceTrackStore?
    private var sqlite: SQLiteTrackStore?
    private var disk: StoreDisk?
    private var cuts = 0
    private var openings: UInt64 = 0
    /// The store of the present process.
    private(set) var current: (any TrackStore)?

    init(usesSQLite: Bool, directory: String, seed: UInt64) {
        self.usesSQLite = usesSQLite
        self.seed = seed
        path = "\(directory)/saker-simulation-\(UInt64.random(in: 0 ... .max))-\(seed)"
    }

    func open() async throws -> any TrackStore {
        guard usesSQLite else {
            let store = reference ?? ReferenceTrackStore()
            reference = store
            current = store
            return store
        }
        let disk = try disk ?? StoreDisk(directory: makeDirectory("0"))
        self.disk = disk
        // The former process let go of it without a word: no checkpoint, nothing moved.
        let store = try await open(in: disk.directory)
        try? sqlite?.close()
        sqlite = store
        current = store
        return store
    }

    /// With what a server has, as far as it touches the disk.
    private func open(in directory: String) async throws -> SQLiteTrackStore {
        // Another one for each: a number of a push is used once.
        openings += 1
        var dice = DiskDice(seed: seed &+ openings &* 0x9E37_79B9_7F4A_7C15)
        return try await SQLiteTrackStore(
            path: directory + "/store.sqlite",
            options: SQLiteTrackStoreOptions(readers: 1, makesMissing: cuts == 0, randomSeed: dice.next()))
    }

    private func makeDirectory(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        return "\(path)/\(name)"
    }

    // MARK: Backups

    /// The store as it was once.
    private var backup: ReferenceTrackStore?

    /// Keeps what the reference store has now.
    func makeBackup() async {
        guard let reference else { return }
        backup = await ReferenceTrackStore(copying: reference)
    }

    /// The next process begins with the backup. False: there is none.
    func restoreBackup() -> Bool {
        guard let backup else { return false }
        (reference, current, self.backup) = (backup, nil, nil)
        return true
    }

    // MARK: Power

    var hasPower: Bool { disk?.hasPower ?? true }

    /// The server's machine loses power after so many more calls of SQLite that change a file; nil: not by itself.
    func failPower(afterCalls count: Int?) { disk?.failPower(afterCalls: count) }

    /// The same in a call that makes something durable, such as a commit, after so many more of them.
    func failPower(afterSynchronisations count: Int, doing interruption: StoreDisk.Interruption) {
        disk?.failPower(afterSynchronisations: count, doing: interruption)
    }

    /// The power is gone, and with it all that was not synchronised. Returns a copy of what is left, for somebody who looks;
    /// nil for the reference store, which loses nothing.
    func cutPower(seed: UInt64) async throws -> SQLiteTrackStore? {
        guard let former = disk else { return nil }
        cuts += 1
        let (next, copy) = (try makeDirectory("\(cuts)"), try makeDirectory("\(cuts)-copy"))
        try former.leave(in: next, seed: seed)
        try former.leave(in: copy, seed: seed)
        try? sqlite?.close()
        (sqlite, current) = (nil, nil)
        former.forget()
        try? FileManager.default.removeItem(atPath: former.directory)
        disk = StoreDisk(directory: next)
        return try await open(in: copy)
    }

    /// Nobody looks at the copy any more.
    func remove(_ copy: SQLiteTrackStore) {
        try? copy.close()
        try? FileManager.default.removeItem(atPath: "\(path)/\(cuts)-copy")
    }

    func remove() {
        try? sqlite?.close()
        disk?.forget()
        if usesSQLite { try? FileManager.default.removeItem(atPath: path) }
    }
}
