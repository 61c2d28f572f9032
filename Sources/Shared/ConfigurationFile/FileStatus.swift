internal import Glibc

/// What the file system says of a file without its being opened; links are followed.
///
/// For rooms that import Foundation by way of their dependencies: there the name `stat` belongs to two modules, and which
/// one is meant depends on the order in which files are compiled.
package struct FileStatus: Hashable, Sendable {
    /// Bytes.
    package let size: Int64
    /// Any user of this machine may read it.
    package let isReadableByAll: Bool

    /// The user whose it is.
    package let owner: UInt32
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
        isReadableByAll = status.st_mode & 0o004 != 0
        owner = status.st_uid
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }
}
