import ConfigurationFile
import Diagnosing
import Glibc
import TrackStore

/// Asks the file systems under the store and under the exports.
enum DiskProbe {
    private static let timeout: Int64 = 5

    static func facts(_ configuration: ServerConfiguration) async -> [DiskFacts] {
        var found: [DiskFacts] = []
        var devices: Set<UInt64> = []
        for directory in [folder(of: configuration.store.path), configuration.exports.directory] {
            guard let device = FileStatus(of: directory)?.device, devices.insert(device).inserted else { continue }
            // A file system of another machine may hang.
            if let space = await Deadline.run(seconds: timeout, { space(directory) }) ?? nil {
                var facts = space
                facts.sync = await Deadline.run(seconds: timeout) { sync(directory) } ?? .hangs
                found.append(facts)
            }
        }
        return found
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func space(_ directory: String) -> DiskFacts? {
        guard let space = DiskSpace(of: directory) else { return nil }
        return DiskFacts(
            directory: directory, free: space.free, total: space.total, isReadOnly: space.isReadOnly,
            kind: FileStatus(of: directory).flatMap { kind(device: $0.device) }, sync: .forbidden)
    }

    private static func kind(device: UInt64) -> String? {
        guard let text = try? TextFile.read("/proc/self/mountinfo") else { return nil }
        return MountTable.kind(in: text, device: device)
    }

    /// Writes one small file, waits until it is on the medium, and removes it.
    private static func sync(_ directory: String) -> DiskFacts.Sync {
        let path = "\(directory)/.saker-server-doctor.\(getpid())"
        let begin = ContinuousClock.now
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let number = errno
            return number == EACCES || number == EPERM ? .forbidden : .failed(String(cString: strerror(number)))
        }
        defer {
            close(descriptor)
            unlink(path)
        }
        let page = [UInt8](repeating: 0x5A, count: 4096)
        guard write(descriptor, page, page.count) == page.count, fsync(descriptor) == 0 else {
            return .failed(String(cString: strerror(errno)))
        }
        return .done(Int64((ContinuousClock.now - begin) / .milliseconds(1)))
    }
}

/// What the kernel says of mounted file systems.
enum MountTable {
    /// The type of a file system, from proc(5): `36 35 98:0 / /mnt rw - ext3 /dev/root rw`.
    static func kind(in text: String, device: UInt64) -> String? {
        // As the C library takes a device's number apart.
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        let minor = device & 0xFF | device >> 12 & ~0xFF
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 6, fields[2] == "\(major):\(minor)", let dash = fields.firstIndex(of: "-"),
                dash + 1 < fields.count
            else { continue }
            return String(fields[dash + 1])
        }
        return nil
    }
}

/// Looks at the files of the store.
enum StoreProbe {
    /// Seconds: a gigabyte takes about one.
    static let timeout = 15.0

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
