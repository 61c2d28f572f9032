internal import NIOCore
internal import StoreRecords
internal import TrackModel
internal import TrackStore
internal import TrackTestKit

/// The store as one process of the server sees it: slow, failing, and gone with the process or with the power; what it
/// commits is watched.
final class ObservedStore: StoreDecorator {
    let inner: any EngineStore
    private let watch: NIOLoopBound<StoreObserver>
    private let executor: StepExecutor
    private let sleep: @Sendable (Duration) async -> Void
    /// What judges points asks this one.
    private let isJudges: Bool

    init(
        _ inner: any EngineStore, watch: NIOLoopBound<StoreObserver>, executor: StepExecutor, isJudges: Bool = false,
        sleep: @escaping @Sendable (Duration) async -> Void
    ) {
        self.isJudges = isJudges
        self.inner = inner
        self.watch = watch
        self.executor = executor
        self.sleep = sleep
    }

    /// Waits as the store is told to and makes the call; a dead process gets nothing done.
    func passing<Value: Sendable>(
        _ call: (any EngineStore) async throws(TrackStoreError) -> Value
    ) async throws(TrackStoreError) -> Value {
        try await passing(call) { _ in }
    }

    /// `note` hears of what was done, also when the caller gets an error instead.
    private func passing<Value: Sendable>(
        _ call: (any EngineStore) async throws(TrackStoreError) -> Value, noting note: (Value) -> Void
    ) async throws(TrackStoreError) -> Value {
        watch.value.began()
        defer { watch.value.ended() }
        await sleep(.milliseconds(watch.value.delay()))
        guard watch.value.isAlive else { throw TrackStoreError(.failed, "the process is gone") }
        if let failure = watch.value.failure() { throw failure }
        await executor.beginOutside()
        guard watch.value.isAlive else {
            executor.endOutside()
            throw TrackStoreError(.failed, "the process is gone")
        }
        let result: Result<Value, TrackStoreError>
        do throws(TrackStoreError) {
            result = .success(try await call(inner))
        } catch {
            result = .failure(error)
        }
        executor.endOutside()
        // What was answered in the last moment counts, and nobody hears of it.
        if case .success(let value) = result { note(value) }
        if !watch.value.hasPower() {
            watch.value.powerFailed()
            throw TrackStoreError(.failed, "the power is gone")
        }
        let value = try result.get()
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
        let batches = watch.value.causing(batches)
        let outcomes: [IngestOutcome]
        do throws(TrackStoreError) {
            // Committed: from there on a power cut takes nothing back.
            outcomes = try await passing(
                { store async throws(TrackStoreError) in await store.ingest(batches) },
                noting: { outcomes in
                    let watch = watch.value
                    guard watch.hasPower() else { return watch.interrupted(batches, outcomes) }
                    watch.committed(batches, outcomes)
                })
        } catch {
            return batches.map { _ in .failed(error) }
        }
        watch.value.began()
        await sleep(.milliseconds(watch.value.delay()))
        watch.value.ended()
        return outcomes
    }

    func changes(
        of kinds: Set<StoreChange.Kind>, after cursor: StoreCursor?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> StoreChanges {
        // Not asked twice a second, which costs much: the history knows when something was changed.
        if let cursor, !isJudges {
            guard !watch.value.unread.isDisjoint(with: kinds) else {
                return StoreChanges(changes: [], unknown: [], hasMore: false, through: cursor)
            }
            watch.value.unread.subtract(kinds)
        }
        do throws(TrackStoreError) {
            let found = try await passing(
                { store async throws(TrackStoreError) in
                    try await store.changes(of: kinds, after: cursor, at: now, limit: limit)
                }, noting: { _ in if isJudges { watch.value.onJudgeHearing() } })
            if found.hasMore, !isJudges { watch.value.unread.formUnion(kinds) }
            return found
        } catch {
            if !isJudges { watch.value.unread.formUnion(kinds) }
            throw error
        }
    }

    /// Each with the number that the history gives it.
    func pendingPushes(
        of entity: String, in service: ServiceID, after cursor: StoreCursor?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> (through: StoreCursor, pushes: [PendingPush]) {
        guard watch.value.hasPushes else { return (cursor ?? StoreCursor(0), []) }
        let found = try await passing { store async throws(TrackStoreError) in
            try await store.pendingPushes(of: entity, in: service, after: cursor, at: now, limit: limit)
        }
        return (found.through, found.pushes.map { watch.value.handOut($0, entity) })
    }

    func settlePushes(_ settlements: [PushSettlement]) async throws(TrackStoreError) {
        let own = settlements.compactMap { watch.value.settle($0) }
        try await passing(
            { store async throws(TrackStoreError) in try await store.settlePushes(own) },
            noting: { watch.value.settled(settlements) })
    }

    /// Nobody ends keys in a history.
    func endedKeys(among uses: Set<AccessKeyUse>, at now: Timestamp) async throws(TrackStoreError) -> Set<AccessKeyUse>
    { [] }
}

/// How the store of one server process behaves, and who is told of its commits. On the simulation's loop.
final class StoreObserver {
    var isAlive = true
    /// Milliseconds before and after a call.
    var delay: () -> Int64 = { 0 }
    var failure: () -> TrackStoreError? = { nil }
    /// What is said instead of the answer to a call that was done.
    var lostAnswer: () -> TrackStoreError? = { nil }
    var onCommit: ([IngestBatch], [IngestOutcome]) -> Void = { _, _ in }
    var hasPushes = false
    /// Of these kinds something may have been changed since the store was asked last.
    var unread: Set<StoreChange.Kind> = []
    /// Adds to batches what their points bring about.
    var causing: ([IngestBatch]) -> [IngestBatch] = { $0 }
    /// Gives a push of an entity the number that the agent knows it by.
    var handOut: (PendingPush, String) -> PendingPush = { push, _ in push }
    /// The same with the store's own number.
    var settle: (PushSettlement) -> PushSettlement? = { $0 }
    /// The store has noted what became of pushes, with the numbers that agents know.
    var onSettled: ([PushSettlement]) -> Void = { _ in }
    /// The judge of points has heard of all changes of fences.
    var onJudgeHearing: () -> Void = {}
    var onOpening: (StreamOwner, StreamClaim) -> Void = { _, _ in }
    var hasPower: () -> Bool = { true }
    /// The store has found that its machine has no power.
    var onPowerFailure: () -> Void = {}
    /// The power went while the store was at these batches.
    var onInterruption: ([IngestBatch]) -> Void = { _ in }

    /// Calls that are under way, and when one began or ended last.
    private(set) var calls = 0
    private(set) var lastCall = MonotonicTime.distantPast
    var clock: () -> MonotonicTime = { .distantPast }

    func somethingChanged() { unread = Set(StoreChange.Kind.allCases) }
    func began() { (calls, lastCall) = (calls + 1, clock()) }
    func ended() { (calls, lastCall) = (calls - 1, clock()) }
    func opened(_ owner: StreamOwner, _ claim: StreamClaim) { onOpening(owner, claim) }
    func committed(_ batches: [IngestBatch], _ outcomes: [IngestOutcome]) { onCommit(batches, outcomes) }
    func settled(_ settlements: [PushSettlement]) { onSettled(settlements) }

    func powerFailed() {
        guard isAlive else { return }
        isAlive = false
        onPowerFailure()
    }

    /// What the store has an answer to, it has done; of the others nobody knows.
    func interrupted(_ batches: [IngestBatch], _ outcomes: [IngestOutcome]) {
        let isOpen = outcomes.map { if case .failed = $0 { true } else { false } }
        let known = zip(batches, zip(outcomes, isOpen)).filter { !$0.1.1 }
        if !known.isEmpty { onCommit(known.map(\.0), known.map(\.1.0)) }
        onInterruption(zip(batches, isOpen).filter(\.1).map(\.0))
    }
}
