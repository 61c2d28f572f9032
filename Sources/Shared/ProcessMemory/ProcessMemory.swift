internal import CAllocator

/// The memory that the C library's allocator keeps for the process.
package enum ProcessMemory {
    /// Bytes from which a block is the system's own, and that a heap may keep at its end.
    private static let threshold: Int32 = 128 * 1024

    /// The C library raises both limits with the largest block that it has seen. From here on they stay.
    package static func fixLimits() {
        mallopt(M_MMAP_THRESHOLD, threshold)
        mallopt(M_TRIM_THRESHOLD, threshold)
    }

    /// Gives the system what lies free between blocks in use too. It takes a fraction of a millisecond for some megabytes,
    /// and holds up only threads that use the same heap.
    package static func giveBack() {
        _ = malloc_trim(0)
    }
}
