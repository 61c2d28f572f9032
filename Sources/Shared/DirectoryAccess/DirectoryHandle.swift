internal import Glibc

/// An open directory. What is done through it is done in that directory, whatever its path names meanwhile.
///
/// Who may write in a directory on the way can put a link where a directory was, between two steps of a program. A program of root
/// would then write, or give away, files elsewhere. So a path is opened part by part without following a link, and files are
/// named only relative to the directory that was opened. Links that only root can change are followed.
package struct DirectoryHandle: ~Copyable {
    package let descriptor: Int32
    /// Where the directory is, without the links on the way. Below the root of an image for ``init(_:below:)``.
    package let path: String
    /// Users beside root who can change what the path names: the owners of the directories on the way and of this one.
    /// ``anybody`` stands for a group or for all users.
    package let others: Set<UInt32>

    package static let anybody = UInt32.max

    init(adopting descriptor: Int32, path: String, others: Set<UInt32>) {
        (self.descriptor, self.path, self.others) = (descriptor, path, others)
    }

    deinit { close(descriptor) }

    /// Opens a directory of this system. Root follows only links that no other user can change; another user follows all, because
    /// the kernel knows what he may do.
    package init(_ path: String) throws(FileTrouble) {
        guard geteuid() == 0 else {
            let descriptor = openat(AT_FDCWD, path.isEmpty ? "." : path, DirectoryWalk.flags & ~O_NOFOLLOW)
            guard descriptor >= 0 else { throw FileTrouble(path: path, number: errno) }
            self.init(adopting: descriptor, path: path.isEmpty ? "." : path, others: [geteuid()])
            return
        }
        self = try DirectoryWalk.open(path)
    }

    /// Opens a directory as a system sees it that starts from `root`: a link leads no further than there. Empty: this system.
    package init(_ path: String, below root: String) throws(FileTrouble) {
        self = try DirectoryWalk.open(path, below: root)
    }

    /// The directory of a file, and the file's name.
    package static func parts(of path: String) -> (directory: String, name: String) {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return (".", String(path)) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    // MARK: What is there

    /// What an entry is itself: a link is not followed. Nil when there is none, or it cannot be asked.
    package func status(of name: FileName) -> EntryStatus? {
        var found = stat()
        return name.isEntry && fstatat(descriptor, name.bytes, &found, AT_SYMLINK_NOFOLLOW) == 0
            ? EntryStatus(found) : nil
    }

    /// Of the directory itself.
    package var status: EntryStatus? {
        var found = stat()
        return fstat(descriptor, &found) == 0 ? EntryStatus(found) : nil
    }

    /// The names of the entries, sorted.
    package func names() throws(FileTrouble) -> [FileName] {
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { throw trouble() }
        guard let stream = fdopendir(own) else {
            let number = errno
            close(own)
            throw FileTrouble(path: path, number: number)
        }
        defer { closedir(stream) }
        var found: [FileName] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                FileName($0.prefix { $0 != 0 }.map { CChar(bitPattern: $0) })
            }
            if name.isEntry { found.append(name) }
        }
        return found.sorted { $0.text < $1.text }
    }

    // MARK: Files and directories in it

    /// Makes a file that was not there, and opens it for writing. The caller closes it.
    package func create(_ name: FileName, mode: UInt32) throws(FileTrouble) -> Int32 {
        guard name.isEntry else { throw FileTrouble(path: "\(path)/\(name.text)", number: EINVAL) }
        let file = openat(descriptor, name.bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0 else { throw trouble(name) }
        return file
    }

    /// Opens a directory in this one; a link is none.
    package func directory(_ name: FileName) throws(FileTrouble) -> DirectoryHandle {
        guard name.isEntry else { throw FileTrouble(path: "\(path)/\(name.text)", number: EINVAL) }
        return try DirectoryWalk.child(descriptor, path, others, name)
    }

    /// Makes a directory that was not there, whatever the umask, for this owner and group when they are given.
    package func makeDirectory(
        _ name: FileName, mode: UInt32, owner: (user: UInt32, group: UInt32)? = nil
    ) throws(FileTrouble) -> DirectoryHandle {
        guard name.isEntry else { throw FileTrouble(path: "\(path)/\(name.text)", number: EINVAL) }
        guard mkdirat(descriptor, name.bytes, 0o700) == 0 else { throw trouble(name) }
        let made = openat(descriptor, name.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard made >= 0 else { throw trouble(name) }
        defer { close(made) }
        // Somebody may have put another directory there meanwhile.
        var found = stat()
        guard fstat(made, &found) == 0, found.st_uid == geteuid() else {
            throw FileTrouble(path: "\(path)/\(name.text)", number: EPERM)
        }
        guard owner.map({ fchown(made, $0.user, $0.group) == 0 }) ?? true, fchmod(made, mode) == 0 else {
            throw trouble(name)
        }
        return try directory(name)
    }

    // MARK: Changes

    package func rename(_ name: FileName, to other: FileName) throws(FileTrouble) {
        guard name.isEntry, other.isEntry, renameat(descriptor, name.bytes, descriptor, other.bytes) == 0 else {
            throw trouble(other)
        }
    }

    /// Gives a file a second name, which was free.
    package func link(_ name: FileName, to other: FileName) throws(FileTrouble) {
        guard name.isEntry, other.isEntry, linkat(descriptor, name.bytes, descriptor, other.bytes, 0) == 0 else {
            throw trouble(other)
        }
    }

    /// Removes a file, or a link itself.
    package func remove(_ name: FileName) throws(FileTrouble) {
        guard name.isEntry, unlinkat(descriptor, name.bytes, 0) == 0 else { throw trouble(name) }
    }

    package func removeDirectory(_ name: FileName) throws(FileTrouble) {
        guard name.isEntry, unlinkat(descriptor, name.bytes, AT_REMOVEDIR) == 0 else { throw trouble(name) }
    }

    /// What was renamed in it survives a power cut.
    package func synchronize() throws(FileTrouble) {
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { throw trouble() }
        defer { close(own) }
        guard fsync(own) == 0 else { throw trouble() }
    }

    func trouble(_ name: FileName? = nil) -> FileTrouble {
        FileTrouble(path: name.map { "\(path == "/" ? "" : path)/\($0.text)" } ?? path, number: errno)
    }
}
