import CAllocator
import ServiceLifecycle

/// Keeps what is free from staying with the process.
///
/// The C library gives each thread a heap that only shrinks at its end, and keeps the more free at that end the larger the blocks are that
/// it once saw: a fleet's backlogs would stay resident for good, and a quiet server would grow for hours.
struct MemoryReturn: Service {
    private static let interval = Duration.seconds(60)
    /// Bytes from which a block is the system's own, and that a heap may keep at its end; fixed, where the library would raise them.
    private static let threshold: Int32 = 128 * 1024

    init() {
        mallopt(M_MMAP_THRESHOLD, Self.threshold)
        mallopt(M_TRIM_THRESHOLD, Self.threshold)
    }

    /// Every minute what lies between blocks in use too. It takes a fraction of a millisecond for some megabytes, and holds up only threads
    /// that use the same heap.
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try await Task.sleep(for: Self.interval)
                _ = malloc_trim(0)
            }
        }
    }
}
