import ConfigurationFile
import Glibc
import TrackStore

/// Looks at the files of the store.
enum StoreProbe {
    /// Seconds: a gigabyte takes about one.
    static let patience = 15.0

    static func content(_ look: StoreFileFacts, _ store: ServerConfiguration.Store) -> StoreContent {
        let (strange, owner) = owners(store.path)
        return StoreContent(
            path: store.path, schema: look.schema, knownSchema: look.knownSchema,
            bytes: size(store.path) + size(store.path + "-wal"), maximumBytes: store.maximumBytes,
            problems: look.problems, heldFor: look.isHeld ? 5 : nil, newestReceived: look.newestReceived,
            strangeFiles: strange, owner: owner)
    }

    private static func size(_ path: String) -> Int64 { FileStatus(of: path)?.size ?? 0 }

    /// A command that another user gave may have made files that the server cannot open.
    private static func owners(_ path: String) -> (strange: [String], owner: String) {
        guard let owner = owner(path) else { return ([], "?") }
        let strange = ["-wal", "-shm", ".lock"].map { path + $0 }.filter { self.owner($0).map { $0 != owner } ?? false }
        let name = getpwuid(owner).flatMap { $0.pointee.pw_name.map { String(cString: $0) } }
        return (strange, name ?? "user \(owner)")
    }

    private static func owner(_ path: String) -> UInt32? { FileStatus(of: path)?.owner }
}
