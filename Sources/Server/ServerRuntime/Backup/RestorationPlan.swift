import ConfigurationFile
import DirectoryAccess
import Glibc

/// Which files of a backup go where.
///
/// Anybody who can write in a backup can change its list and its sums, and the server's user can. So the list decides nothing
/// by itself: each path is one that the configuration of the backup names, and no mode gives others more than such a file needs. Where
/// the backup is not root's alone, root writes only in directories of the server's user, in the program's own directories, and in
/// those that the caller names.
struct RestorationPlan {
    /// Directories of root in which a server's files may be.
    static let ownDirectories = ["/etc/saker", "/etc/saker/credentials"]
    /// The user of the package.
    private static let account = "saker-server"

    let store: BackupManifest.Entry
    let files: [BackupManifest.Entry]
    /// Of a directory that does not outlive a restart: their owner puts them back.
    let left: [BackupManifest.Entry]
    /// Files whose mode in the list gives others more than they need, with the mode that they get.
    private(set) var narrowed: [(path: String, from: UInt32, to: UInt32)] = []

    /// Nil: the backup is root's alone, or this is another user, who can do no more than he may.
    private let users: Set<UInt32>?
    private let named: Set<String>

    /// `named`: directories of root that the caller wants files in.
    init(
        _ manifest: BackupManifest, in directory: borrowing DirectoryHandle, isStoreOnly: Bool, named: [String]
    ) throws(ServerError) {
        let wanted = try Self.paths(manifest, in: directory)
        for entry in [manifest.store] + manifest.files {
            guard wanted[entry.name] == Self.normal(entry.path) || Self.isPassing(entry) else {
                throw ServerError(
                    .file,
                    "\(directory.path)/\(BackupManifest.fileName) wants \(entry.name) at \(entry.path), and the configuration in the backup "
                        + (wanted[entry.name].map { "names \($0)" } ?? "names no such file")
                        + ": the list is not what backup make wrote. Nothing was restored. Take another backup")
            }
        }
        var narrowed: [(path: String, from: UInt32, to: UInt32)] = []
        let narrow: (BackupManifest.Entry) -> BackupManifest.Entry = { entry in
            var entry = entry
            let mode = entry.mode & (Self.secrets.contains(entry.name) ? 0o640 : 0o644) | 0o400
            if mode != entry.mode { narrowed.append((entry.path, entry.mode, mode)) }
            entry.mode = mode
            return entry
        }
        let files = isStoreOnly ? [] : manifest.files
        store = narrow(manifest.store)
        self.files = files.filter { !Self.isPassing($0) }.map(narrow)
        left = files.filter(Self.isPassing)
        self.narrowed = narrowed
        users = try Self.users(of: directory)
        self.named = try Set(
            named.map { path throws(ServerError) in
                try BackupFile.opening(path) { () throws(FileTrouble) in try DirectoryHandle(path) }.path
            })
    }

    private static let secrets: Set<String> = [
        "key.pem", "ca-key.pem", "device-ca-key.pem", "store-key", BackupManifest.storeName,
    ]

    /// Credentials of the service manager are made anew at each start.
    private static func isPassing(_ entry: BackupManifest.Entry) -> Bool {
        entry.name != BackupManifest.storeName && normal(entry.path).hasPrefix("/run/")
    }

    /// Where the configuration in the backup wants each file.
    private static func paths(
        _ manifest: BackupManifest, in directory: borrowing DirectoryHandle
    ) throws(ServerError) -> [String: String] {
        guard let own = manifest.files.first(where: { $0.name == "server.toml" }) else {
            throw ServerError(.file, "\(directory.path) has no server.toml, which says where the files belong")
        }
        let text = try TextFile.read(own.name, in: directory)
        let configuration: ServerConfiguration
        do throws(ConfigurationError) {
            configuration = try ServerConfiguration.read(ConfigurationReader(text: text, path: own.path))
        } catch {
            throw ServerError(
                .configuration,
                "the configuration in the backup says where its files belong, and cannot be read: \(error.detail)")
        }
        var paths = [BackupManifest.storeName: normal(configuration.store.path)]
        for (name, path) in Backup.named(by: configuration) { paths[name] = normal(path) }
        return paths
    }

    private static func normal(_ path: String) -> String {
        "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }

    // MARK: In which directories root writes

    private static func users(of directory: borrowing DirectoryHandle) throws(ServerError) -> Set<UInt32>? {
        guard geteuid() == 0 else { return nil }
        let files = [BackupManifest.fileName, BackupManifest.sumsName].compactMap { directory.status(of: FileName($0)) }
        let isRoots = directory.others.isEmpty && files.allSatisfy { $0.owner == 0 && $0.permissions & 0o022 == 0 }
        guard !isRoots else { return nil }
        var users = directory.others.union(files.map(\.owner)).subtracting([0, DirectoryHandle.anybody])
        if let account = getpwnam(account) { users.insert(account.pointee.pw_uid) }
        return users
    }

    /// Throws unless root may put a file of this backup into this directory.
    func check(_ directory: borrowing DirectoryHandle, for path: String) throws(ServerError) {
        guard let users else { return }
        let isOwn =
            directory.others.isEmpty && (named.contains(directory.path) || Self.ownDirectories.contains(directory.path))
        let isTheirs = !directory.others.isEmpty && directory.status?.owner != 0 && directory.others.isSubset(of: users)
        guard !isOwn, !isTheirs else { return }
        throw ServerError(
            .file,
            "\(path): the backup is not root's alone, and whoever can write in it would choose what root writes in \(directory.path). "
                + "Nothing was restored. "
                + (directory.others.isEmpty
                    ? "When that is where the file belongs: --into \(directory.path)"
                    : "The directory belongs to neither the server's user nor root"))
    }
}
