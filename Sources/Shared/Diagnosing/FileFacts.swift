import Glibc

/// What the kernel knows of a file.
package struct FileFacts: Hashable, Sendable {
    package let bytes: Int64
    /// Permissions, such as 0o600.
    package let mode: UInt32
    private let owner: uid_t
    private let group: gid_t

    /// Nil when there is no such file, or this user may not ask; `errno` tells why.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        bytes = Int64(status.st_size)
        mode = UInt32(status.st_mode & 0o777)
        (owner, group) = (status.st_uid, status.st_gid)
    }

    /// Gives a file that root has made to the owner of this one, such as of its directory.
    package func give(_ path: String) {
        if geteuid() == 0 { _ = chown(path, owner, group) }
    }
}
