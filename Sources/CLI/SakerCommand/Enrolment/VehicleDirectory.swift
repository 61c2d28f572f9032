import ConfigurationFile
import DirectoryAccess
import Glibc

/// The directory of a vehicle's configuration and secrets, `/etc/saker` where systemd starts the agent.
struct VehicleDirectory: Hashable {
    static let system = "/etc/saker"
    /// Root, and no other user, enters it.
    static let credentials = "credentials"
    private static let group = "saker"

    let path: String

    init(_ path: String) {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = path
    }

    /// The directory that holds a configuration file.
    init(of file: String) {
        self.init(file.lastIndex(of: "/").map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? ".")
    }

    struct File: Hashable {
        let name: String
        let text: String
        let mode: mode_t
        /// Readable for the agent's group.
        var isForGroup = false
        /// Takes the place of a file with this name; otherwise such a file is a reason to write nothing.
        var replaces = true
    }

    /// Whether sakerd.service reads these files.
    var isSystemWide: Bool { path == Self.system }

    func path(_ name: String) -> String { "\(path)/\(name)" }
    func has(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

    /// Throws when the agent has its configuration: it is written last, so it alone says that a vehicle is enrolled.
    func refuseEnrolled() throws(CommandFailure) {
        guard !has(DeviceFiles.configuration) else { throw Self.isEnrolled(path(DeviceFiles.configuration)) }
    }

    /// Writes the files in their order, each whole or not at all, and returns their paths. Throws when one exists that is
    /// not to be replaced.
    func write(_ files: [File]) throws(CommandFailure) -> [String] {
        try make()
        for file in files {
            do throws(ConfigurationError) {
                try AtomicFile.write(
                    Array(file.text.utf8), to: path(file.name), mode: file.mode,
                    group: file.isForGroup ? Self.agentGroup : nil, replacing: file.replaces)
            } catch {
                if error.code == .exists, file.name == DeviceFiles.configuration {
                    throw Self.isEnrolled(path(file.name))
                }
                throw CommandFailure(.failed, error.detail + Self.asRoot)
            }
        }
        return files.map { path($0.name) }
    }

    /// There from before the first file of an enrolment until systemd knows of the agent.
    private static let unfinished = "\(credentials)/unfinished"

    var isEnrolmentUnfinished: Bool { has(Self.unfinished) }

    func beginEnrolment() throws(CommandFailure) {
        _ = try write([File(name: Self.unfinished, text: "", mode: 0o600)])
    }

    func endEnrolment() { remove([Self.unfinished]) }

    /// Nil where the agent is not installed as a unit.
    private static var agentGroup: gid_t? { getgrnam(group)?.pointee.gr_gid }

    /// Makes files readable for the agent's group that are not: an earlier version could be killed before it gave them
    /// their group. Throws when that is not possible. A file that is not there is no error.
    func mend(_ names: [String]) throws(CommandFailure) {
        guard isSystemWide, geteuid() == 0, let group = Self.agentGroup else { return }
        for name in names {
            let (folder, last) = DirectoryHandle.parts(of: path(name))
            guard let descriptor = try? DirectoryHandle(folder).open(FileName(last)) else { continue }
            defer { close(descriptor) }
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_uid == 0, facts.st_mode & 0o004 == 0,
                facts.st_gid != group || facts.st_mode & 0o040 == 0
            else { continue }
            guard fchown(descriptor, uid_t.max, group) == 0,
                fchmod(descriptor, facts.st_mode & 0o7777 | 0o040) == 0, fsync(descriptor) == 0
            else {
                let reason = String(cString: strerror(errno))
                throw CommandFailure(.failed, "\(path(name)) cannot be made readable for the agent: \(reason)")
            }
        }
    }

    /// Puts a file into the place of another one, durably.
    func move(_ name: String, to other: String) throws(CommandFailure) {
        do throws(ConfigurationError) {
            try AtomicFile.move(path(name), to: path(other))
        } catch {
            throw CommandFailure(.failed, error.detail + Self.asRoot)
        }
    }

    /// Removes what an earlier enrolment left. A file that is not there is no error.
    func remove(_ names: [String]) {
        for name in names { try? AtomicFile.remove(path(name)) }
    }

    /// Makes the directory and that of the secrets. Throws also when the agent could not read what is written here.
    func make() throws(CommandFailure) {
        guard !isSystemWide || geteuid() != 0 || Self.agentGroup != nil else {
            throw CommandFailure(
                .failed,
                "there is no group '\(Self.group)', so the agent could not read its configuration: install sakerd first "
                    + "(make install, or the package saker-agent), or give --directory")
        }
        try make(path, 0o755)
        try make(path(Self.credentials), 0o700)
    }

    private func make(_ path: String, _ mode: mode_t) throws(CommandFailure) {
        let (folder, name) = DirectoryHandle.parts(of: path)
        do throws(FileTrouble) {
            let parent = try DirectoryHandle(folder)
            // Also a link to a directory, which is then opened as every path is.
            guard parent.status(of: FileName(name)) == nil else { return }
            // Whatever the umask: the agent's own user must get through.
            _ = try parent.makeDirectory(FileName(name), mode: mode)
        } catch {
            guard error.number != EEXIST else { return }
            throw CommandFailure(.failed, "cannot make the directory \(path): \(error.reason)" + Self.asRoot)
        }
    }

    private static var asRoot: String { geteuid() == 0 ? "" : " (as root? sudo saker enroll …)" }

    static func isEnrolled(_ existing: String) -> CommandFailure {
        CommandFailure(
            .failed, "\(existing) exists: this vehicle is enrolled already. Give --force to replace the file.")
    }
}

/// Held by whoever enrols this vehicle or renews its certificate, from the first look at its files until they are written:
/// two at once would mix two identities.
///
/// A lock of the kernel on the directory of the secrets, which only root enters. It leaves no file, and ends with the
/// process.
struct EnrolmentLock {
    private let descriptor: Int32

    /// Nil when another process has it. Throws when the directory cannot be opened.
    init?(_ directory: VehicleDirectory) throws(CommandFailure) {
        // A configuration that was written by hand may be elsewhere, without a directory of secrets.
        let secrets = directory.path(VehicleDirectory.credentials)
        let path = FileStatus(of: secrets) == nil ? directory.path : secrets
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.failed, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    /// Takes it for an enrolment. `waiting`: nobody watches, so the end of the other enrolment is waited for.
    static func take(_ directory: VehicleDirectory, waiting: Bool) async throws -> EnrolmentLock {
        while true {
            if let lock = try EnrolmentLock(directory) { return lock }
            guard waiting else {
                throw CommandFailure(
                    .failed,
                    "another enrolment of this vehicle, or a renewal, is under way. Wait for its end, or end it: sudo systemctl "
                        + "stop saker-enroll saker-renew"
                )
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    func release() { close(descriptor) }
}
