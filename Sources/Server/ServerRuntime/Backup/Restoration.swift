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
    }

    private let directory: String
    /// Only the store, and no configuration or certificate.
    private let isStoreOnly: Bool
    /// What is there is moved aside.
    private let isReplacing: Bool
    private let suffix: String
    private let acts: ActJournal

    package init(_ directory: String, isStoreOnly: Bool, isReplacing: Bool, acts: ActJournal = ActJournal()) {
        self.directory = directory
        self.isStoreOnly = isStoreOnly
        self.isReplacing = isReplacing
        self.acts = acts
        let digits = Date().formatted(.iso8601).filter { $0.isNumber || $0 == "T" }
        suffix = ".before-\(digits)Z"
    }

    /// - Throws: ``ServerError``; `.address` while a server serves the store, `.exists` for what would be replaced.
    package func run() throws(ServerError) -> Result {
        let (manifest, _) = try BackupCheck.read(directory)
        let store = manifest.store.path
        let (files, left) = isStoreOnly ? ([], []) : Self.split(manifest.files)
        try makeDirectory(BackupFile.directory(of: store), for: store)
        let lock = try ServeLock(store: store)
        defer { withExtendedLifetime(lock) {} }
        BackupFile.give(lock.path, toOwnerOf: BackupFile.directory(of: store))

        let old = ["", "-wal", "-shm"].map { store + $0 }.filter { access($0, F_OK) == 0 }
        var (same, others): ([String], [BackupManifest.Entry]) = ([], [])
        for entry in files {
            if access(entry.path, F_OK) == 0, try BackupFile.sum(of: entry.path).sha256 == entry.sha256 {
                same.append(entry.path)
            } else {
                others.append(entry)
            }
        }
        let present = old + others.map(\.path).filter { access($0, F_OK) == 0 }
        guard isReplacing || present.isEmpty else {
            throw ServerError(
                .exists,
                "\(present.joined(separator: ", ")): there already. --replace moves what is there aside, to names that end in "
                    + suffix)
        }
        for path in present {
            guard rename(path, path + suffix) == 0 else { throw BackupFile.failure(path, "cannot be moved aside") }
        }
        for entry in others {
            try makeDirectory(BackupFile.directory(of: entry.path), for: entry.path)
            try put(entry, at: entry.path)
        }
        try put(manifest.store, at: store)
        acts.note(.backupRestore, in: nil, about: "\(directory) to \(store)")
        return Result(
            store: store, files: others.map(\.path), same: same, movedAside: present.map { $0 + suffix },
            left: left.map(\.path))
    }

    private static func split(
        _ files: [BackupManifest.Entry]
    ) -> (put: [BackupManifest.Entry], left: [BackupManifest.Entry]) {
        // Credentials of the service manager are made anew at each start.
        let isPassing: (BackupManifest.Entry) -> Bool = { $0.path.hasPrefix("/run/") }
        return (files.filter { !isPassing($0) }, files.filter(isPassing))
    }

    /// A new file in place of none, whole or not at all.
    private func put(_ entry: BackupManifest.Entry, at path: String) throws(ServerError) {
        let unfinished = path + ".restoring"
        unlink(unfinished)
        let (bytes, sum) = try BackupFile.copy("\(directory)/\(entry.name)", to: unfinished, mode: entry.mode)
        guard bytes == entry.bytes, sum == entry.sha256 else {
            unlink(unfinished)
            throw ServerError(.file, "\(directory)/\(entry.name) has changed while it was read: begin again")
        }
        BackupFile.give(unfinished, toOwnerOf: BackupFile.directory(of: path))
        guard rename(unfinished, path) == 0 else { throw BackupFile.failure(path, "cannot be put in place") }
        try BackupFile.synchronizeDirectory(BackupFile.directory(of: path))
    }

    private func makeDirectory(_ path: String, for file: String) throws(ServerError) {
        guard access(path, F_OK) != 0 else { return }
        guard mkdir(path, 0o750) == 0 else {
            throw BackupFile.failure(path, "is not there for \(file), and cannot be made", .notFound)
        }
    }
}
