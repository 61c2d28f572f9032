import Glibc

/// Lets one process at a time copy a former store and change its tables. Released when the process ends, however it ends.
///
/// The lock is on the directory of the store, so it leaves no file behind. On a file system without such locks there is none;
/// SQLite's own locks still keep the tables right.
final class MigrationLock {
    private let descriptor: CInt

    /// Blocks until no other process has it, and calls `whileWaiting` again and again.
    init(store: String, whileWaiting: () -> Void) {
        let folder = store.lastIndex(of: "/").map { String(store[...$0]) } ?? "."
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
            whileWaiting()
            usleep(50_000)
        }
    }

    deinit {
        guard descriptor >= 0 else { return }
        // A child process between its fork and its exec has the directory open too, and would keep the lock that long.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
