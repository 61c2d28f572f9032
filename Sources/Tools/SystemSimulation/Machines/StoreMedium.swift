internal import FoundationEssentials
internal import StoreDisk
internal import TrackStore
internal import TrackStoreSQLite
internal import TrackTestKit

/// What survives the server's processes: SQLite's files, opened anew by each process. In histories whose server loses power
/// they are on a disk that does.
final class StoreMedium {
    /// The server's machine may lose power.
    let losesPower: Bool
    private let path: String
    private let seed: UInt64
    private var sqlite: SQLiteTrackStore?
    private var disk: StoreDisk?
    /// Where the files are; nil: no process has begun yet.
    private var directory: String?
    private var backup: String?
    private var cuts = 0
    private var openings: UInt64 = 0
    /// The store of the present process.
    private(set) var current: (any TrackStore)?

    init(losesPower: Bool, directory: String, seed: UInt64) {
        self.losesPower = losesPower
        self.seed = seed
        path = "\(directory)/saker-simulation-\(UInt64.random(in: 0 ... .max))-\(seed)"
    }

    func open() async throws -> any EngineStore {
        let place = try directory ?? makeDirectory("0")
        directory = place
        if losesPower, disk == nil { disk = StoreDisk(directory: place) }
        // The former process let go of it without a word: no checkpoint, nothing moved.
        let store = try await open(in: place)
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
        // A disk that keeps its power needs no synchronising.
        return try await SQLiteTrackStore(
            path: Self.file(directory),
            options: SQLiteTrackStoreOptions(
                synchronous: losesPower ? .full : .normal, readers: 1, makesMissing: cuts == 0, randomSeed: dice.next())
        )
    }

    private static func file(_ directory: String) -> String { directory + "/store.sqlite" }

    private func makeDirectory(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        return "\(path)/\(name)"
    }

    // MARK: Backups

    /// Keeps what the store has now, as `saker-server backup` does.
    func makeBackup() throws {
        guard let directory else { return }
        let place = try makeDirectory("backup")
        try StoreCopy.make(of: Self.file(directory), at: Self.file(place))
        backup = place
    }

    /// The next process begins with the backup. False: there is none.
    func restoreBackup() -> Bool {
        guard let backup else { return false }
        try? sqlite?.close()
        (directory, sqlite, current, self.backup) = (backup, nil, nil, nil)
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
    /// nil for a store that nobody has opened, or that keeps its power.
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
        directory = next
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
        try? FileManager.default.removeItem(atPath: path)
    }
}
