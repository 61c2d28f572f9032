import DirectoryAccess
import Glibc

/// Lets one process serve a store: two would both merge it. Released when the process ends, however it ends.
final class ServeLock: Sendable {
    let path: String
    private let descriptor: Int32

    /// Throws `.address` when another process serves this store.
    convenience init(store: String) throws(ServerError) {
        let path = store + ".lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw ServerError(.store, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        try self.init(path: path, descriptor: descriptor, store: store)
    }

    private init(path: String, descriptor: Int32, store: String) throws(ServerError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            close(descriptor)
            throw ServerError(
                isHeld ? .address : .store,
                isHeld ? "another saker-server serves \(store): stop it first" : "\(path) cannot be locked")
        }
        (self.path, self.descriptor) = (path, descriptor)
    }

    /// The same through an open directory.
    convenience init(store name: String, in directory: borrowing DirectoryHandle, owner: (user: UInt32, group: UInt32)?)
        throws(ServerError)
    {
        let path = "\(directory.path)/\(name).lock"
        let descriptor = openat(
            directory.descriptor, name + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw ServerError(.store, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        if let owner { _ = fchown(descriptor, owner.user, owner.group) }
        try self.init(path: path, descriptor: descriptor, store: "\(directory.path)/\(name)")
    }

    /// Whether a process serves this store; nil when this user may not look.
    ///
    /// A server that starts at this very moment may find the look in its way; systemd then starts it once more.
    static func isHeld(store: String) -> Bool? {
        let descriptor = open(store + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? false : nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK ? true : nil }
        return false
    }

    deinit {
        // A child process between its fork and its exec has the file open too, and would keep the lock that long.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
