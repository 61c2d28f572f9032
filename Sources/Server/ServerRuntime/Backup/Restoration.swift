import ConfigurationFile
import DirectoryAccess
import FoundationEssentials
import Glibc

/// `saker-server backup restore`: puts the files of a backup back where they were, the store last. A server without a store
/// does not start, so a restoration that was cut off cannot be taken for a whole one.
package struct Restoration: Sendable {
    package struct Result: Sendable {
        package let store: String
        /// Files that were put back.
        package let files: [String]
        /// Files that are there already as in the backup.
        package let same: [String]
        /// What was there before, under its new names.
        package let movedAside: [String]
        /// Files of a directory that does not outlive a restart: their owner puts them back.
        package let left: [String]
        /// What the list gave others more rights to than they need, with what was given instead; octal digits.
        package let narrowed: [(path: String, from: String, to: String)]
    }

    private let directory: String
    /// Only the store, and no configuration or certificate.
    private let isStoreOnly: Bool
    /// What is there is moved aside.
    private let isReplacing: Bool
    /// Directories of root that the caller wants files in, though the backup is not root's alone.
    private let directories: [String]
    private let suffix: String
    private let acts: AuditLog
    private let progress: BackupProgress?

    package init(
        _ directory: String, isStoreOnly: Bool, isReplacing: Bool, into directories: [String] = [],
        acts: AuditLog = AuditLog(), progress: BackupProgress? = nil
    ) {
        self.progress = progress
        self.directory = directory
        self.isStoreOnly = isStoreOnly
        self.isReplacing = isReplacing
        self.directories = directories
        self.acts = acts
        let digits = Date().formatted(.iso8601).filter { $0.isNumber || $0 == "T" }
        suffix = ".before-\(digits)Z"
    }

    /// - Throws: ``ServerError``; `.address` while a server serves the store, `.exists` for what would be replaced.
    package func run() throws(ServerError) -> Result {
        let path = directory
        let backup = try BackupFile.opening(path) { () throws(FileTrouble) in try DirectoryHandle(path) }
        let (manifest, _) = try BackupCheck.read(backup, progress)
        let plan = try RestorationPlan(manifest, in: backup, isStoreOnly: isStoreOnly, named: directories)
        // Every place is judged before the first file is touched.
        let store = try BackupDestination(plan.store, plan)
        let files = try plan.files.map { entry throws(ServerError) in try BackupDestination(entry, plan) }
        let storeDirectory = try store.open(plan)
        let lock = try ServeLock(
            store: store.name, in: storeDirectory,
            owner: geteuid() == 0 ? BackupDestination.owner(of: storeDirectory) : nil)
        defer { withExtendedLifetime(lock) {} }

        let old = ["", "-wal", "-shm"].filter { storeDirectory.status(of: FileName(store.name + $0)) != nil }
        var (same, others): ([String], [BackupDestination]) = ([], [])
        var present = old.map { store.entry.path + $0 }
        var differing: [String] = []
        for place in files {
            if try place.isSame() {
                same.append(place.entry.path)
            } else {
                others.append(place)
                if try place.isTaken() { differing.append(place.entry.path) }
            }
        }
        guard isReplacing || present.isEmpty && differing.isEmpty else {
            let facts =
                (present.isEmpty ? [] : ["\(present.joined(separator: ", ")): there already."])
                + differing.map { "\($0): its content differs from the backup's." }
            throw ServerError(
                .exists,
                "\(facts.joined(separator: " ")) --replace moves what is there aside, to names that end in \(suffix)")
        }
        present += differing
        for place in [store] + others { progress?.expect(place.entry.bytes) }
        for ending in old { try BackupDestination.moveAside(store.name + ending, in: storeDirectory, suffix) }
        for place in others {
            let directory = try place.open(plan)
            if directory.status(of: FileName(place.name)) != nil {
                try BackupDestination.moveAside(place.name, in: directory, suffix)
            }
            try place.put(from: backup, into: directory, progress)
        }
        try store.put(from: backup, into: storeDirectory, progress)
        acts.note(.backupRestore, in: nil, about: "\(directory) to \(store.entry.path)")
        return Result(
            store: store.entry.path, files: others.map(\.entry.path), same: same,
            movedAside: present.map { $0 + suffix },
            left: plan.left.map(\.path),
            narrowed: plan.narrowed.map { ($0.path, String($0.from, radix: 8), String($0.to, radix: 8)) })
    }
}

/// Where a file of a backup goes. The directory is opened anew for each step, and judged each time.
private struct BackupDestination {
    let entry: BackupManifest.Entry
    let name: String
    private let directory: String

    /// Throws when this backup may not put a file there.
    init(_ entry: BackupManifest.Entry, _ plan: RestorationPlan) throws(ServerError) {
        self.entry = entry
        (directory, name) = DirectoryHandle.parts(of: entry.path)
        guard let place = try found() else {
            // It is made in its parent, which must be there.
            let parent = DirectoryHandle.parts(of: directory).directory
            let above: DirectoryHandle
            do throws(FileTrouble) {
                above = try DirectoryHandle(parent)
            } catch {
                throw ServerError(
                    .notFound, "\(directory) is not there for \(entry.path), and cannot be made: \(error.reason)")
            }
            try plan.check(above, for: entry.path)
            return
        }
        try plan.check(place, for: entry.path)
    }

    private func found() throws(ServerError) -> DirectoryHandle? {
        do throws(FileTrouble) {
            return try DirectoryHandle(directory)
        } catch {
            guard !error.isAbsence else { return nil }
            throw ServerError(
                .file, "\(error.path) on the way to \(entry.path): \(error.reason). Nothing was restored there")
        }
    }

    /// Makes the directory when it is missing.
    func open(_ plan: RestorationPlan) throws(ServerError) -> DirectoryHandle {
        if let directory = try found() {
            try plan.check(directory, for: entry.path)
            return directory
        }
        let (parent, last) = DirectoryHandle.parts(of: directory)
        let above = try step("cannot be made") { () throws(FileTrouble) in try DirectoryHandle(parent) }
        try plan.check(above, for: entry.path)
        return try step("cannot be made") { () throws(FileTrouble) in
            try above.makeDirectory(FileName(last), mode: 0o750, owner: geteuid() == 0 ? Self.owner(of: above) : nil)
        }
    }

    private func step<Result: ~Copyable>(
        _ what: String, _ body: () throws(FileTrouble) -> Result
    ) throws(ServerError) -> Result {
        do throws(FileTrouble) {
            return try body()
        } catch {
            throw ServerError(.file, "\(error.path) \(what), for \(entry.path): \(error.reason)")
        }
    }

    /// Whether the file is there with the same content.
    func isSame() throws(ServerError) -> Bool {
        guard let directory = try found(), let status = directory.status(of: FileName(name)) else { return false }
        // A link of root's, as tools for certificates make them, stands for its file.
        if status.kind == .link, geteuid() != 0 || directory.others.isEmpty && status.owner == 0 {
            return BackupFile.sum(ofLinked: entry.path) == entry.sha256
        }
        return (try? BackupFile.sum(of: FileName(name), in: directory))?.sha256 == entry.sha256
    }

    func isTaken() throws(ServerError) -> Bool { try found()?.status(of: FileName(name)) != nil }

    static func moveAside(
        _ name: String, in directory: borrowing DirectoryHandle, _ suffix: String
    ) throws(ServerError) {
        do throws(FileTrouble) {
            try directory.rename(FileName(name), to: FileName(name + suffix))
        } catch {
            throw ServerError(.file, "\(directory.path)/\(name) cannot be moved aside: \(error.reason)")
        }
    }

    /// What root restores belongs to the owner of its directory: the server must be able to read and write it.
    static func owner(of directory: borrowing DirectoryHandle) -> (user: UInt32, group: UInt32)? {
        directory.status.map { ($0.owner, $0.group) }
    }

    /// A new file in place of none, whole or not at all.
    func put(
        from backup: borrowing DirectoryHandle, into directory: borrowing DirectoryHandle, _ progress: BackupProgress?
    ) throws(ServerError) {
        let unfinished = FileName(name + ".restoring")
        if directory.status(of: unfinished) != nil {
            try step("cannot be removed") { () throws(FileTrouble) in try directory.remove(unfinished) }
        }
        let source = try step("cannot be read") { () throws(FileTrouble) in try backup.open(FileName(entry.name)) }
        defer { close(source) }
        let target = try step("cannot be made") { () throws(FileTrouble) in
            try directory.create(unfinished, mode: 0o600)
        }
        defer { close(target) }
        do throws(ServerError) {
            if geteuid() == 0, let owner = Self.owner(of: directory), fchown(target, owner.user, owner.group) != 0 {
                throw BackupFile.failure(entry.path, "cannot be given to the owner of its directory")
            }
            let sum = try BackupFile.copy(
                source, "\(backup.path)/\(entry.name)", to: target, entry.path, mode: entry.mode, progress)
            guard sum == (entry.bytes, entry.sha256) else {
                throw ServerError(.file, "\(backup.path)/\(entry.name) has changed while it was read: begin again")
            }
            try step("cannot be put in place") { () throws(FileTrouble) in
                try directory.rename(unfinished, to: FileName(name))
            }
        } catch {
            try? directory.remove(unfinished)
            throw error
        }
        try step("cannot be written to disk") { () throws(FileTrouble) in try directory.synchronize() }
    }
}

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
