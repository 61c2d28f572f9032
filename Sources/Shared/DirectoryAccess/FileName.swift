internal import Glibc

/// A file's name as its directory has it. It need not be UTF-8.
package struct FileName: Hashable, Sendable, ExpressibleByStringLiteral {
    /// With the zero at its end.
    package let bytes: [CChar]

    package init(_ bytes: [CChar]) { self.bytes = bytes.last == 0 ? bytes : bytes + [0] }
    package init(_ text: some StringProtocol) { self.init(text.utf8.map { CChar(bitPattern: $0) }) }
    package init(stringLiteral text: String) { self.init(text) }

    /// For comparisons and people.
    package var text: String { String(decoding: bytes.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self) }

    /// A name of a directory's entry: not empty, no path, and neither the directory itself nor the one above it.
    var isEntry: Bool {
        bytes.count > 1 && !bytes.dropLast().contains { $0 == 0x2F || $0 == 0 } && text != "." && text != ".."
    }
}

/// Why a file or directory cannot be used.
package struct FileTrouble: Error, Hashable, Sendable {
    package let path: String
    /// An errno. `ELOOP`: a link stands there that is not followed.
    package let number: Int32

    package init(path: String, number: Int32) { (self.path, self.number) = (path, number) }

    package var isAbsence: Bool { number == ENOENT || number == ENOTDIR }

    /// For people.
    package var reason: String {
        switch number {
        case ELOOP: "a link stands there, which is not followed"
        case Self.irregular: "it is no regular file, but a directory, a pipe or a device: put the file there"
        case EISDIR: "it is a directory, and no file"
        case ENOSPC: "the disk is full"
        default: String(cString: strerror(number))
        }
    }

    /// Linux has no errno for a pipe, a device or a directory in a file's place.
    package static let irregular: Int32 = 10_001
}

/// What an entry of a directory is, and whose.
///
/// A type of its own, because in rooms that import Foundation by way of others the C library's `stat` belongs to two modules.
package struct EntryStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case file, directory, link
        /// A pipe, a socket, a device.
        case other
    }

    package let kind: Kind
    package let owner: UInt32
    package let group: UInt32
    /// Of owner, group and all users, such as 0o600.
    package let permissions: UInt32

    /// Of an open file.
    package init?(descriptor: Int32) {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { return nil }
        self.init(found)
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        (owner, group, permissions) = (status.st_uid, status.st_gid, UInt32(status.st_mode & 0o777))
    }
}
