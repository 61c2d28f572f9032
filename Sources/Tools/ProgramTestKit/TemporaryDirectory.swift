import Foundation
import Synchronization

/// A directory for one test. It is removed with the object, unless it is kept.
package final class TemporaryDirectory: Sendable {
    package let path: String
    private let isKept = Mutex(false)

    package init(named prefix: String = "saker-test") throws {
        var template = Array("/tmp/\(prefix)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Trouble("mkdtemp: errno \(errno)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let made = path
        Leftovers.register(directory: made)
    }

    deinit {
        if !isKept.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
        Leftovers.forget(directory: path)
    }

    package func file(_ name: String) -> String { path + "/" + name }

    /// Keeps the directory, so that a person can look at it.
    package func keep() { isKept.withLock { $0 = true } }
}

/// Remembers the processes and directories of a run, so that an interrupted run can end and remove them.
package enum Leftovers {
    private struct Known {
        var processes: Set<Int32> = []
        var directories: Set<String> = []
        var mounts: Set<String> = []
    }
    private static let known = Mutex(Known())

    static func register(process: Int32) { known.withLock { _ = $0.processes.insert(process) } }
    static func forget(process: Int32) { known.withLock { _ = $0.processes.remove(process) } }
    static func register(directory: String) { known.withLock { _ = $0.directories.insert(directory) } }
    static func forget(directory: String) { known.withLock { _ = $0.directories.remove(directory) } }

    static func register(mount: String) { known.withLock { _ = $0.mounts.insert(mount) } }
    static func forget(mount: String) { known.withLock { _ = $0.mounts.remove(mount) } }

    /// Ends and removes all of them. For a program that is about to exit.
    package static func clear() {
        let all = known.withLock { known in
            defer { known = Known() }
            return known
        }
        for process in all.processes { kill(process, SIGKILL) }
        for mount in all.mounts { umount2(mount, Int32(MNT_DETACH)) }
        for directory in all.directories { try? FileManager.default.removeItem(atPath: directory) }
    }
}

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
