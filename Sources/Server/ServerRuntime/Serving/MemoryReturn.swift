import CAllocator
import ServiceLifecycle

/// Gives memory that is free back to the system, every minute.
///
/// The C library keeps what many threads in turn have freed, each in a heap of its own that only shrinks at its end: a
/// fleet's backlogs would stay resident for good, and a quiet server would grow for hours. It takes a fraction of a millisecond
/// for some megabytes, and holds up only threads that use the same heap.
struct MemoryReturn: Service {
    private static let interval = Duration.seconds(60)

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try await Task.sleep(for: Self.interval)
                _ = malloc_trim(0)
            }
        }
    }
}
