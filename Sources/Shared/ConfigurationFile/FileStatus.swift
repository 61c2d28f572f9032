internal import Glibc

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
