internal import Glibc

/// The file system of a directory, in bytes.
package struct DiskSpace {
    /// For programs without privileges.
    package let free: Int64
    package let total: Int64
    package let isReadOnly: Bool

    /// Nil when the system does not say.
    package init?(of directory: String) {
        var facts = statvfs()
        guard statvfs(directory, &facts) == 0 else { return nil }
        let block = UInt64(facts.f_frsize)
        free = Int64(clamping: UInt64(facts.f_bavail).multipliedReportingOverflow(by: block).partialValue)
        total = Int64(clamping: UInt64(facts.f_blocks).multipliedReportingOverflow(by: block).partialValue)
        isReadOnly = facts.f_flag & UInt(ST_RDONLY) != 0
    }
}
