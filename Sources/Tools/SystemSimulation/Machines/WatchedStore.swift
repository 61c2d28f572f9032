internal import NIOCore
internal import TrackModel
internal import TrackStore

/// The store as one process of the server sees it: slow, failing, and gone with the process; what it commits is watched.
final class WatchedStore: StoreDecorator {
    let inner: any TrackStore
    private let watch: NIOLoopBound<StoreWatch>
    private let executor: StepExecutor
    private let sleep: @Sendable (Duration) async -> Void

    init(
        _ inner: any TrackStore, watch: NIOLoopBound<StoreWatch>, executor: StepExecutor,
        sleep: @escaping @Sendable (Duration) async -> Void
    ) {
        self.inner = inner
        self.watch = watch
        self.executor = executor
        self.sleep = sleep
    }

    /// Waits as the store is told to and makes the call; a dead process gets nothing done.
    func passing<Value: Sendable>(
        _ call: (any TrackStore) async throws(TrackStoreError) -> Value
    ) async throws(TrackStoreError) -> Value {
        try await passing(call) { _ in }
    }

    /// `note` hears of what was done, also when the caller gets an error instead.
    private func passing<Value: Sendable>(
        _ call: (any TrackStore) async throws(TrackStoreError) -> Value, noting note: (Value) -> Void
    ) async throws(TrackStoreError) -> Value {
        await sleep(.milliseconds(watch.value.delay()))
        guard watch.value.isAlive else { throw TrackStoreError(.failed, "the process is gone") }
        if let failure = watch.value.failure() { throw failure }
        executor.beginOutside()
        let result: Result<Value, TrackStoreError>
        do throws(TrackStoreError) {
            result = .success(try await call(inner))
        } catch {
            result = .failure(error)
        }
        executor.endOutside()
        let value = try result.get()
        note(value)
        if let error = watch.value.lostAnswer() { throw error }
        return value
    }

    func openStream(
        _ stream: StreamID, of entity: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> StreamClaim {
        try await passing(
            { store async throws(TrackStoreError) in
                try await store.openStream(stream, of: entity, in: service, at: now)
            },
            noting: { claim in
                watch.value.opened(StreamOwner(service: service, entity: entity, stream: stream), claim)
            })
    }

    func ingest(_ batches: [IngestBatch]) async -> [IngestOutcome] {
        let outcomes: [IngestOutcome]
        do throws(TrackStoreError) {
            // Committed: from there on a power cut takes nothing back.
            outcomes = try await passing(
                { store async throws(TrackStoreError) in await store.ingest(batches) },
                noting: { watch.value.committed(batches, $0) })
        } catch {
            return batches.map { _ in .failed(error) }
        }
        await sleep(.milliseconds(watch.value.delay()))
        return outcomes
    }

    /// Nobody pushes in a history, which is of points.
    func pendingPushes(
        of entity: String, in service: ServiceID, after mark: PushMark?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> (through: PushMark, pushes: [PendingPush]) {
        (mark ?? PushMark(0), [])
    }
}

/// How the store of one server process behaves, and who is told of its commits. On the simulation's loop.
final class StoreWatch {
    var isAlive = true
    /// Milliseconds before and after a call.
    var delay: () -> Int64 = { 0 }
    var failure: () -> TrackStoreError? = { nil }
    /// What is said instead of the answer to a call that was done.
    var lostAnswer: () -> TrackStoreError? = { nil }
    var onCommit: ([IngestBatch], [IngestOutcome]) -> Void = { _, _ in }
    var onOpening: (StreamOwner, StreamClaim) -> Void = { _, _ in }

    func opened(_ owner: StreamOwner, _ claim: StreamClaim) { onOpening(owner, claim) }
    func committed(_ batches: [IngestBatch], _ outcomes: [IngestOutcome]) { onCommit(batches, outcomes) }
}
