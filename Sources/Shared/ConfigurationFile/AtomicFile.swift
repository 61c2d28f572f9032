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
        var old = stat()
        var hasOld = lstat(path, &old) == 0
        if hasOld, !replacing {
            throw ConfigurationError(.exists, file: path, "exists already and is left as it is")
        }
        if !hasOld, let model { hasOld = lstat(model, &old) == 0 }
        var generator = SystemRandomNumberGenerator()
        let temporary = path + ".new-" + String(UInt64.random(in: .min ... .max, using: &generator), radix: 36)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(path, "cannot be written", errno) }
        var isOpen = true
        var isPlaced = false
        defer {
            if isOpen { close(descriptor) }
            if !isPlaced { unlink(temporary) }
        }
        if hasOld { _ = fchown(descriptor, old.st_uid, old.st_gid) }
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
            guard rename(temporary, path) == 0 else { throw failure(path, "cannot be put in place", errno) }
        } else {
            // A link, unlike a rename, refuses to replace what another program wrote in the meantime.
            guard link(temporary, path) == 0 else {
                if errno == EEXIST {
                    throw ConfigurationError(.exists, file: path, "exists already and is left as it is")
                }
                throw failure(path, "cannot be put in place", errno)
            }
            unlink(temporary)
        }
        isPlaced = true
        syncDirectory(of: path)
    }

    /// Puts a file into the place of another one of the same file system, durably.
    package static func move(_ path: String, to other: String) throws(ConfigurationError) {
        guard rename(path, other) == 0 else { throw failure(path, "cannot become \(other)", errno) }
        syncDirectory(of: other)
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

    /// Best effort: some file systems cannot sync a directory, and the file itself is safe already.
    private static func syncDirectory(of path: String) {
        let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func failure(_ path: String, _ what: String, _ code: Int32) -> ConfigurationError {
        let reason =
            switch code {
            case ENOENT: "its directory does not exist"
            case EACCES, EPERM: "this user may not write there"
            default: String(cString: strerror(code))
            }
        return ConfigurationError(.unwritable, file: path, "\(what): \(reason)")
    }
}
