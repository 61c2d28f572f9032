import Glibc
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// Whether the store answers is asked on a connection that no other call uses.
@Suite(.timeLimit(.minutes(2))) struct ProbeTests {
    /// Holds whoever runs into it, on whatever thread.
    private final class Barrier: Sendable {
        let isOpen = Mutex(false)
        let inside = Mutex(0)

        func hold() {
            inside.withLock { $0 += 1 }
            while !isOpen.withLock({ $0 }) { usleep(1000) }
        }
    }

    @Test func readersThatAreAllInUseDoNotHoldItUp() async throws {
        let bench = try Workbench()
        let store = try await SQLiteTrackStore(path: bench.path, options: SQLiteTrackStoreOptions(readers: 2))
        let barrier = Barrier()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Two have the readers, the others wait for one.
            for _ in 0..<6 { group.addTask { try await store.reading { _ in barrier.hold() } } }
            while barrier.inside.withLock({ $0 }) < 2 { await Task.yield() }
            for _ in 0..<3 { try await store.probe() }
            #expect(barrier.inside.withLock { $0 } == 2)
            barrier.isOpen.withLock { $0 = true }
            try await group.waitForAll()
        }
        try store.close()
    }

    @Test func aWriterThatIsInUseDoesNotHoldItUp() async throws {
        let bench = try Workbench()
        let store = try await SQLiteTrackStore(path: bench.path)
        let barrier = Barrier()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await store.writing { _ in barrier.hold() } }
            while barrier.inside.withLock({ $0 }) < 1 { await Task.yield() }
            try await store.probe()
            barrier.isOpen.withLock { $0 = true }
            try await group.waitForAll()
        }
        try store.close()
    }
}
