internal import DirectoryAccess
package import Glibc

/// Writes a file so that a reader, or a power cut, sees all of the old one or all of the new one.
package enum AtomicFile {
    /// Temporary file beside it, fsync, rename, fsync of the directory. Throws `.unwritable`, and `.exists` when the
    /// file is there and `replacing` is false; on any throw the old file is untouched.
    ///
    /// The mode is exact, whatever the umask. A replaced file keeps its owner and group where the caller may set them.
    /// `group`: the file's group from the moment at which its name appears. Root gets this group or a throw; the file of
    /// another user stays his own when he may not give it away. `model`: a new file gets the owner and group of this one, whose
    /// place it will take.
    package static func write(
        _ bytes: some Collection<UInt8>, to path: String, mode: mode_t, group: gid_t? = nil, replacing: Bool = true,
        like model: String? = nil
    ) throws(ConfigurationError) {
        let (folder, last) = DirectoryHandle.parts(of: path)
        let name = FileName(last)
        let directory = try opened(folder, for: path)
        var old = directory.status(of: name)
        if old != nil, !replacing {
            throw ConfigurationError(.exists, file: path, "exists already and is left as it is")
        }
        if old == nil, let model { old = directory.status(of: FileName(DirectoryHandle.parts(of: model).name)) }
        var generator = SystemRandomNumberGenerator()
        let temporary = FileName(
            last + ".new-" + String(UInt64.random(in: .min ... .max, using: &generator), radix: 36))
        let descriptor = try trying("cannot be written", path) { () throws(FileTrouble) in
            try directory.create(temporary, mode: 0o600)
        }
        var isOpen = true
        var isPlaced = false
        defer {
            if isOpen { close(descriptor) }
            if !isPlaced { try? directory.remove(temporary) }
        }
        if let old { _ = fchown(descriptor, old.owner, old.group) }
        // Before the name appears: a power cut after it must not leave a file that the group cannot read.
        if let group, fchown(descriptor, uid_t.max, group) != 0, geteuid() == 0 {
            throw failure(path, "cannot be given its group", errno)
        }
        guard fchmod(descriptor, mode) == 0 else { throw failure(path, "cannot be given its mode", errno) }
        try writeAll(Array(bytes), to: descriptor, path: path)
        guard fsync(descriptor) == 0 else { throw failure(path, "cannot be written to disk", errno) }
        isOpen = false
        guard close(descriptor) == 0 else { throw failure(path, "cannot be written to disk", errno) }
        if replacing {
            try trying("cannot be put in place", path) { () throws(FileTrouble) in
                try directory.rename(temporary, to: name)
            }
            isPlaced = true
        } else {
            // A link, unlike a rename, refuses to replace what another program wrote in the meantime.
            do throws(FileTrouble) {
                try directory.link(temporary, to: name)
            } catch {
                if error.number == EEXIST {
                    throw ConfigurationError(.exists, file: path, "exists already and is left as it is")
                }
                throw failure(path, "cannot be put in place", error.number)
            }
        }
        // Best effort: some file systems cannot sync a directory, and the file itself is safe already.
        try? directory.synchronize()
    }

    /// Puts a file into the place of another one of the same directory, durably.
    package static func move(_ path: String, to other: String) throws(ConfigurationError) {
        let (folder, name) = DirectoryHandle.parts(of: path)
        let directory = try opened(folder, for: path)
        try trying("cannot become \(other)", path) { () throws(FileTrouble) in
            try directory.rename(FileName(name), to: FileName(DirectoryHandle.parts(of: other).name))
        }
        try? directory.synchronize()
    }

    /// Removes a file, or a link itself. One that is not there is no error.
    package static func remove(_ path: String) throws(ConfigurationError) {
        let (folder, name) = DirectoryHandle.parts(of: path)
        do throws(FileTrouble) {
            try DirectoryHandle(folder).remove(FileName(name))
        } catch {
            guard !error.isAbsence else { return }
            throw failure(path, "cannot be removed", error.number)
        }
    }

    private static func opened(_ folder: String, for path: String) throws(ConfigurationError) -> DirectoryHandle {
        do throws(FileTrouble) {
            return try DirectoryHandle(folder)
        } catch {
            throw failure(error.number == ELOOP ? error.path : path, "cannot be written", error.number)
        }
    }

    @discardableResult private static func trying<Result>(
        _ what: String, _ path: String, _ body: () throws(FileTrouble) -> Result
    ) throws(ConfigurationError) -> Result {
        do throws(FileTrouble) {
            return try body()
        } catch {
            throw failure(path, what, error.number)
        }
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(ConfigurationError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(path, "cannot be written", errno)
            }
            rest = rest.dropFirst(count)
        }
    }

    private static func failure(_ path: String, _ what: String, _ code: Int32) -> ConfigurationError {
        let reason =
            switch code {
            case ENOENT: "its directory does not exist"
            case EACCES, EPERM: "this user may not write there"
            default: FileTrouble(path: path, number: code).reason
            }
        return ConfigurationError(.unwritable, file: path, "\(what): \(reason)")
    }
}

/// Reading a small file whole, and what its owner lets others do with it.
enum FileReading {
    struct Status {
        var isReadableByAll: Bool
    }

    /// Throws `.unreadable`, saying what to do about the common causes.
    static func bytes(of path: String, limit: Int) throws(ConfigurationError) -> ([UInt8], Status) {
        let descriptor: Int32
        do throws(FileTrouble) {
            descriptor = try RegularFile.open(path)
        } catch {
            throw ConfigurationError(.unreadable, file: path, explain(error.number))
        }
        defer { close(descriptor) }
        return try bytes(from: descriptor, of: path, limit: limit)
    }

    /// The rest of a file that is open.
    static func bytes(
        from descriptor: Int32, of path: String, limit: Int
    ) throws(ConfigurationError) -> ([UInt8], Status) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw ConfigurationError(.unreadable, file: path, explain(errno))
        }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else {
            throw ConfigurationError(
                .unreadable, file: path, explain(kind == S_IFDIR ? EISDIR : FileTrouble.irregular))
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw ConfigurationError(.unreadable, file: path, explain(errno))
            }
            if count == 0 { break }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw ConfigurationError(.unreadable, file: path, "is larger than \(limit) bytes")
            }
        }
        let isReadableByAll = status.st_mode & S_IFMT == S_IFREG && status.st_mode & 0o004 != 0
        return (bytes, Status(isReadableByAll: isReadableByAll))
    }

    static func explain(_ code: Int32) -> String {
        switch code {
        case ENOENT: "does not exist"
        case FileTrouble.irregular: "is no regular file, but a pipe, a socket or a device: put the file there"
        case EISDIR: "is a directory, not a file"
        case EACCES: "may not be read by this user: check the owner and mode of the file and its directories"
        default: "cannot be read: \(String(cString: strerror(code)))"
        }
    }
}

/// What the file system says of a file without its being opened; links are followed.
///
/// For rooms that import Foundation by way of their dependencies: there the name `stat` belongs to two modules, and which
/// one is meant depends on the order in which files are compiled.
package struct FileStatus: Hashable, Sendable {
    /// Bytes.
    package let size: Int64
    /// Of owner, group and all users, such as 0o600.
    package let permissions: UInt32
    /// Any user of this machine may read it.
    package var isReadableByAll: Bool { permissions & 0o004 != 0 }

    /// The user and the group whose it is.
    package let owner: UInt32
    package let group: UInt32
    /// Of the file system and in it: another file of the same name has another pair.
    package let device: UInt64
    package let inode: UInt64
    /// Nanoseconds since 1970 at which it was written last.
    package let modified: Int64

    /// Nil when it cannot be asked: the file is missing, or so is a permission on the way to it.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        size = Int64(status.st_size)
        permissions = UInt32(status.st_mode & 0o777)
        (owner, group) = (status.st_uid, status.st_gid)
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }
}
