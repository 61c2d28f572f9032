import Glibc

/// What the kernel knows of a file.
struct FileFacts: Hashable, Sendable {
    let bytes: Int64
    /// Permissions, such as 0o600.
    let mode: UInt32
    private let owner: uid_t
    private let group: gid_t

    /// Nil when there is no such file, or this user may not ask; `errno` tells why.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        bytes = Int64(status.st_size)
        mode = UInt32(status.st_mode & 0o777)
        (owner, group) = (status.st_uid, status.st_gid)
    }

    /// What root has made in the directory of the server's user is the server's.
    func give(_ path: String) {
        if geteuid() == 0 { _ = chown(path, owner, group) }
    }
}
