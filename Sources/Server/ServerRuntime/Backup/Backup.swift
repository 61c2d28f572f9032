import ConfigurationFile
import Diagnosing
import DirectoryAccess
import FoundationEssentials
import Glibc
import JSON
package import TrackModel
import TrackStore
import TrackStoreSQLite

/// `saker-server backup`: everything that a server needs to begin again on another machine, in a directory of its own.
///
/// The store is copied as it is at one moment, while the server goes on. Then come the configuration and the files that it
/// names, and last a list with the sum of each file. A directory without the list is no backup.
package struct Backup: Sendable {
    package struct Result: Sendable {
        package let directory: String
        /// Of the copied store.
        package let storeBytes: Int64
        package let schema: Int
        /// When the server received the newest points in it.
        package let newestReceived: Timestamp?
        /// Names of the other files, with what each was.
        package let files: [(name: String, path: String)]
        /// Files that the configuration names and this user cannot read, with the reason.
        package let missing: [String]
    }

    private let configuration: ServerConfiguration
    private let directory: String
    /// Until it is whole.
    private var unfinished: String { directory + ".partial" }

    /// `directory`: must not exist, and its parent must.
    package init(_ configuration: ServerConfiguration, at directory: String) {
        self.configuration = configuration
        self.directory = directory.count > 1 && directory.hasSuffix("/") ? String(directory.dropLast()) : directory
    }

    /// How much of the store has been copied so far, in bytes; nil before the copy begins and after the end. For another thread
    /// than that of ``make()``.
    package var progress: (copied: Int64, store: Int64)? {
        guard let copy = FileStatus(of: "\(unfinished)/\(BackupManifest.storeName)"),
            let store = FileStatus(of: configuration.store.path)
        else { return nil }
        return (min(Int64(copy.size), Int64(store.size)), Int64(store.size))
    }

    /// - Throws: ``ServerError``. What was begun is removed.
    package func make() throws(ServerError) -> Result {
        guard access(directory, F_OK) != 0 else {
            throw ServerError(.exists, "\(directory) exists already: a backup is made in a new directory")
        }
        try checkPlace()
        guard mkdir(unfinished, 0o700) == 0 else {
            guard errno != EEXIST else {
                throw ServerError(
                    .exists,
                    "\(unfinished) exists: another backup is being made there, or was cut off. Then remove it: rm -r \(unfinished)"
                )
            }
            throw BackupFile.failure(unfinished, "cannot be made")
        }
        do throws(ServerError) {
            let result = try fill()
            try BackupFile.synchronizeDirectory(unfinished)
            guard rename(unfinished, directory) == 0 else { throw BackupFile.failure(directory, "cannot be made") }
            try BackupFile.synchronizeDirectory(BackupFile.directory(of: directory))
            return result
        } catch {
            remove()
            throw error
        }
    }

    private func fill() throws(ServerError) -> Result {
        let copy = "\(unfinished)/\(BackupManifest.storeName)"
        try checkRoom()
        let findings: StoreCopy.Findings
        do throws(TrackStoreError) {
            try StoreCopy.make(of: configuration.store.path, at: copy)
            findings = try StoreCopy.examine(copy)
        } catch {
            throw ServerError(error)
        }
        let store = try entry(BackupManifest.storeName, from: configuration.store.path, mode: 0o600)
        var (files, missing): ([BackupManifest.Entry], [String]) = ([], [])
        for (name, path) in sources {
            do throws(ServerError) {
                files.append(try take(name, from: path))
            } catch {
                guard name != Self.configurationName else { throw error }
                missing.append(error.detail)
            }
        }
        let manifest = BackupManifest(
            made: Date().formatted(.iso8601), program: "saker-server \(SakerVersion.text)", schema: findings.schema,
            store: store, files: files)
        try write(manifest)
        return Result(
            directory: directory, storeBytes: store.bytes, schema: findings.schema,
            newestReceived: findings.newestReceived, files: files.map { ($0.name, $0.path) }, missing: missing)
    }

    private static let configurationName = "server.toml"

    /// What the backup takes.
    private var sources: [(name: String, path: String)] {
        // The key of the authority may be kept elsewhere.
        Self.named(by: configuration).filter { $0.name != "ca-key.pem" || access($0.path, F_OK) == 0 }
    }

    /// Everything that a server reads besides the store, by its name in a backup, as its configuration names it.
    static func named(by configuration: ServerConfiguration) -> [(name: String, path: String)] {
        var sources = [(configurationName, configuration.effective.path)]
        func add(_ name: String, _ path: String?) {
            guard let path, !sources.contains(where: { $0.1 == path }) else { return }
            sources.append((name, path))
        }
        add("certificate.pem", configuration.tls.certificate)
        add("key.pem", configuration.tls.key)
        add("ca.pem", configuration.tls.authority)
        // Without it no certificate can be renewed.
        add("ca-key.pem", configuration.tls.authority.map { BackupFile.directory(of: $0) + "/ca-key.pem" })
        add("device-ca.pem", configuration.device.authority)
        add("device-ca-key.pem", configuration.device.authorityKey)
        add("store-key", configuration.store.keyFile)
        add("client-ca.pem", configuration.device.clientAuthority)
        add("callback-ca.pem", configuration.callbacks.authorities)
        return sources
    }

    private func take(_ name: String, from path: String) throws(ServerError) -> BackupManifest.Entry {
        guard let status = FileStatus(of: path) else { throw BackupFile.failure(path, "cannot be read", .notFound) }
        let (bytes, sum) = try BackupFile.copy(path, to: "\(unfinished)/\(name)")
        return BackupManifest.Entry(
            name: name, path: Self.absolute(path), mode: status.permissions, bytes: bytes, sha256: sum)
    }

    private func entry(_ name: String, from path: String, mode: UInt32) throws(ServerError) -> BackupManifest.Entry {
        let unfinished = unfinished
        let place = try BackupFile.opening(unfinished) { () throws(FileTrouble) in try DirectoryHandle(unfinished) }
        let (bytes, sum) = try BackupFile.sum(of: FileName(name), in: place)
        return BackupManifest.Entry(name: name, path: Self.absolute(path), mode: mode, bytes: bytes, sha256: sum)
    }

    private func write(_ manifest: BackupManifest) throws(ServerError) {
        do throws(ConfigurationError) {
            let text = manifest.text
            try AtomicFile.write(text, to: "\(unfinished)/\(BackupManifest.fileName)", mode: 0o600)
            try AtomicFile.write(
                manifest.sums(of: text), to: "\(unfinished)/\(BackupManifest.sumsName)", mode: 0o600)
        } catch {
            throw ServerError(.file, error.detail)
        }
    }

    /// What root copies into a directory of another user, that user could exchange meanwhile.
    private func checkPlace() throws(ServerError) {
        guard geteuid() == 0 else { return }
        let parent = DirectoryHandle.parts(of: directory).directory
        let place = try BackupFile.opening(parent) { () throws(FileTrouble) in try DirectoryHandle(parent) }
        guard !place.others.isEmpty else { return }
        throw ServerError(
            .file,
            "\(parent) can be changed by other users than root, who would get the server's secrets: choose a directory that only root "
                + "can change")
    }

    /// A disk that cannot take the copy is told before the work.
    private func checkRoom() throws(ServerError) {
        guard let store = FileStatus(of: configuration.store.path), let space = DiskSpace(of: unfinished)
        else { return }
        guard space.free <= store.size else { return }
        throw ServerError(
            .file,
            "\(BackupFile.directory(of: directory)) has \(space.free >> 10) KiB free, and the store has "
                + "\(store.size >> 10): make room, or choose another disk")
    }

    private func remove() {
        for name in sources.map(\.name) + [BackupManifest.storeName, BackupManifest.fileName, BackupManifest.sumsName] {
            for ending in ["", "-wal", "-shm", "-journal"] { unlink("\(unfinished)/\(name)\(ending)") }
        }
        rmdir(unfinished)
    }

    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return "\(String(cString: here))/\(path)"
    }
}

/// What a backup holds and how to know that it still does: the file `backup.json`, see docs/formats/backup.md.
struct BackupManifest: Hashable, Sendable {
    /// A file of the backup.
    struct Entry: Hashable, Sendable {
        /// Its name in the backup.
        var name: String
        /// Where it was, and where `restore` puts it; absolute.
        var path: String
        /// Permissions, such as 0o600.
        var mode: UInt32
        var bytes: Int64
        /// 64 hexadecimal digits.
        var sha256: String
    }

    static let fileName = "backup.json"
    /// The sums of all other files and of the list itself, as `sha256sum -c` reads them.
    static let sumsName = "SHA256SUMS"
    static let storeName = "tracks.sqlite"
    private static let format: Int64 = 1

    /// ISO 8601, UTC.
    var made: String
    /// The program that made it.
    var program: String
    /// Of the store.
    var schema: Int
    var store: Entry
    /// The configuration and what it names.
    var files: [Entry]

    var text: [UInt8] {
        func value(_ entry: Entry) -> JSONValue {
            [
                "name": .string(entry.name), "path": .string(entry.path), "bytes": .integer(entry.bytes),
                "mode": .string(String(entry.mode, radix: 8)), "sha256": .string(entry.sha256),
            ]
        }
        let all: JSONValue = [
            "format": .integer(Self.format), "made": .string(made), "program": .string(program),
            "schema": .integer(Int64(schema)), "store": value(store), "files": .array(files.map(value)),
        ]
        return all.serialized() + Array("\n".utf8)
    }

    /// The content of the file `SHA256SUMS` beside a list with these bytes.
    func sums(of list: [UInt8]) -> [UInt8] {
        let list = (Self.fileName, BackupFile.sum(of: list))
        let all = ([store] + files).map { ($0.name, $0.sha256) } + [list]
        return Array(all.map { "\($0.1)  \($0.0)\n" }.joined().utf8)
    }

    init(made: String, program: String, schema: Int, store: Entry, files: [Entry]) {
        (self.made, self.program, self.schema, self.store, self.files) = (made, program, schema, store, files)
    }

    /// - Throws: `.file` for a text that no version of this program wrote.
    init(_ text: String, of path: String) throws(ServerError) {
        guard let all = try? JSONReader.value(of: Array(text.utf8)), let format = all["format"]?.integerValue else {
            throw ServerError(.file, "\(path) is no list of a backup: it is damaged, or of another program")
        }
        guard format == Self.format else {
            throw ServerError(
                .file, "\(path) has format \(format), this program knows \(Self.format): use the program that made it")
        }
        func entry(_ value: JSONValue?) -> Entry? {
            guard let value, let name = value["name"]?.stringValue, let path = value["path"]?.stringValue,
                let mode = value["mode"]?.stringValue.flatMap({ UInt32($0, radix: 8) }), mode <= 0o777,
                let bytes = value["bytes"]?.integerValue, let sum = value["sha256"]?.stringValue,
                !name.isEmpty, !name.contains("/"), path.hasPrefix("/")
            else { return nil }
            return Entry(name: name, path: path, mode: mode, bytes: bytes, sha256: sum)
        }
        let values = all["files"]?.arrayValue ?? []
        let files = values.compactMap { entry($0) }
        guard let made = all["made"]?.stringValue, let program = all["program"]?.stringValue,
            let schema = all["schema"]?.integerValue.flatMap(Int.init(exactly:)), let store = entry(all["store"]),
            files.count == values.count
        else { throw ServerError(.file, "\(path) is damaged: it lacks what every list of a backup has") }
        self.init(made: made, program: program, schema: schema, store: store, files: files)
    }
}
