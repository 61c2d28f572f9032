import Synchronization
package import TrackStore

/// A store whose transactions wait at a gate, or fail as told; all else is the store inside.
package final class GateStore: StoreDecorator {
    private struct State {
        var isOpen = false
        var failures: [TrackStoreError] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    package let inner: any TrackStore
    private let state: Mutex<State>
    /// One element a transaction that has arrived at the gate: its number of batches.
    package let arrivals: AsyncStream<Int>
    private let arrived: AsyncStream<Int>.Continuation

    package init(_ inner: any TrackStore, isOpen: Bool = false, failures: [TrackStoreError] = []) {
        self.inner = inner
        state = Mutex(State(isOpen: isOpen, failures: failures))
        (arrivals, arrived) = AsyncStream.makeStream()
    }

    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    package func ingest(_ batches: [IngestBatch]) async -> [IngestOutcome] {
        arrived.yield(batches.count)
        await withCheckedContinuation { continuation in
            let mayPass = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if mayPass { continuation.resume() }
        }
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let failure { return batches.map { _ in .failed(failure) } }
        return await inner.ingest(batches)
    }
}
