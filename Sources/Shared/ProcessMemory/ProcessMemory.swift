internal import CAllocator

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
