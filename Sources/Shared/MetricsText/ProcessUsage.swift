internal import CAllocator
internal import Glibc

/// What this process takes of its machine.
package struct ProcessUsage: Hashable, Sendable {
    /// Of all threads, in user and kernel mode.
    package var cpuSeconds: Double
    /// Nil when /proc is not there.
    package var residentBytes: Int?

    /// Asks the kernel; waits for no disk.
    package static func read() -> ProcessUsage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        let microseconds = Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
        return ProcessUsage(cpuSeconds: seconds + microseconds / 1e6, residentBytes: residentBytes())
    }

    /// proc_pid_statm(5): the second number is the resident pages.
    private static func residentBytes() -> Int? {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        let words = String(decoding: bytes[..<count], as: UTF8.self).split(separator: " ")
        guard words.count > 1, let pages = Int(words[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// The memory that the C library's allocator keeps for the process.
package enum ProcessMemory {
    /// The C library raises both limits with the largest block that it has seen. From here on they stay.
    ///
    /// `bytes`: from which a block is the system's own, and that a heap may keep at its end. The system clears each page of
    /// such a block when it is used first, so large blocks that come and go often should be in a heap.
    package static func fixLimits(_ bytes: Int32) {
        mallopt(M_MMAP_THRESHOLD, bytes)
        mallopt(M_TRIM_THRESHOLD, bytes)
    }

    /// Gives the system what lies free between blocks in use too. It takes a fraction of a millisecond for some megabytes,
    /// and holds up only threads that use the same heap.
    package static func giveBack() {
        _ = malloc_trim(0)
    }
}
