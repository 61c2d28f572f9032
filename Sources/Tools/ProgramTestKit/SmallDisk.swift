import Foundation

/// A file system of a few megabytes over a directory, which a test can fill and empty. Needs the right to mount.
package final class SmallDisk: Sendable {
    private let directory: String
    private var filler: String { directory + "/filler" }

    /// Hides the files that the directory already has.
    package init(over directory: String, megabytes: Int) throws {
        self.directory = directory
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        guard mount("tmpfs", directory, "tmpfs", 0, "size=\(megabytes)m") == 0 else {
            throw Trouble("a small file system cannot be mounted here: errno \(errno)")
        }
        Leftovers.register(mount: directory)
    }

    deinit {
        umount2(directory, Int32(MNT_DETACH))
        Leftovers.forget(mount: directory)
    }

    /// Uses up all free room.
    package func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Trouble("\(filler): errno \(errno)") }
        defer { close(file) }
        let block = [UInt8](repeating: 0x5A, count: 4096)
        while write(file, block, block.count) > 0 {}
    }

    package func empty() { unlink(filler) }

    /// Only while nobody has a file of it open for writing.
    package func setReadOnly(_ isReadOnly: Bool) throws {
        let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
        try require(
            mount("tmpfs", directory, "tmpfs", flags, "") == 0, "\(directory) cannot be remounted: errno \(errno)")
    }
}
