internal import NIOCore
internal import TrackModel
internal import TrackStore

/// The store as one process of the server sees it: slow, failing, and gone with the process; what it commits is watched.
final class WatchedStore: TrackStore {
    private let inner: any TrackStore
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

    /// Waits as the store is told to, does the call, and waits again; a dead process gets nothing done.
    private func call<Value: Sendable>(
        _ body: () async throws(TrackStoreError) -> Value
    ) async throws(TrackStoreError) -> Value {
        try await enter()
        executor.beginOutside()
        let result: Result<Value, TrackStoreError>
        do throws(TrackStoreError) {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        executor.endOutside()
        return try result.get()
    }

    private func enter() async throws(TrackStoreError) {
        await sleep(.milliseconds(watch.value.delay()))
        guard watch.value.isAlive else { throw TrackStoreError(.failed, "the process is gone") }
        if let failure = watch.value.failure() { throw failure }
    }

    func ingest(_ batches: [IngestBatch]) async throws(TrackStoreError) -> [IngestOutcome] {
        let outcomes = try await call { () async throws(TrackStoreError) in try await self.inner.ingest(batches) }
        // Committed: from here on a power cut takes nothing back.
        watch.value.committed(batches, outcomes)
        await sleep(.milliseconds(watch.value.delay()))
        return outcomes
    }

    func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord] {
        try await call { () async throws(TrackStoreError) in try await self.inner.keys(matching: hash) }
    }
    func services() async throws(TrackStoreError) -> [ServiceRecord] {
        try await call { () async throws(TrackStoreError) in try await self.inner.services() }
    }
    func ensureEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> Bool {
        try await call { () async throws(TrackStoreError) in
            try await self.inner.ensureEntity(named: name, in: service, at: now)
        }
    }
    func storedThrough(_ stream: StreamID, in service: ServiceID) async throws(TrackStoreError) -> UInt64 {
        try await call { () async throws(TrackStoreError) in
            try await self.inner.storedThrough(stream, in: service)
        }
    }
    func columns(of kind: ColumnKind, in service: ServiceID) async throws(TrackStoreError) -> [ColumnRecord] {
        try await call { () async throws(TrackStoreError) in try await self.inner.columns(of: kind, in: service) }
    }
    func mergeChunks(limit: Int) async throws(TrackStoreError) -> Int {
        try await call { () async throws(TrackStoreError) in try await self.inner.mergeChunks(limit: limit) }
    }

    // The gateway asks nothing of what follows.
    func createService(named name: String, at now: Timestamp) async throws(TrackStoreError) -> ServiceRecord {
        try await inner.createService(named: name, at: now)
    }
    func addKey(
        _ hash: AccessKeyHash, secret: String?, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await inner.addKey(hash, secret: secret, to: service, replacing: replacing, at: now)
    }
    func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) {
        try await inner.addColumn(column, of: kind, in: service)
    }
    func deleteColumn(named key: String, of kind: ColumnKind, in service: ServiceID) async throws(TrackStoreError) {
        try await inner.deleteColumn(named: key, of: kind, in: service)
    }
    func updateEntity(
        _ change: EntityChange, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await inner.updateEntity(change, in: service, at: now)
    }
    func addEntity(_ entity: NewEntity, in service: ServiceID, at now: Timestamp) async throws(TrackStoreError) {
        try await inner.addEntity(entity, in: service, at: now)
    }
    func entity(named name: String, in service: ServiceID) async throws(TrackStoreError) -> EntityRecord? {
        try await inner.entity(named: name, in: service)
    }
    func entities(
        in service: ServiceID, matching filter: EntityFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, entities: [EntityRecord]) {
        try await inner.entities(in: service, matching: filter, page: page)
    }
    func points(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> [StoredPoint] {
        try await inner.points(of: entity, in: service, from: from, through: through, limit: limit)
    }
    func queuePush(
        _ push: NewPush, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> QueuedPush {
        try await inner.queuePush(push, in: service, at: now)
    }
    func pushNews(
        after message: Int64?, limit: Int
    ) async throws(TrackStoreError) -> (through: Int64, news: [PushNews]) {
        try await inner.pushNews(after: message, limit: limit)
    }
    func pendingPushes(
        of entity: String, in service: ServiceID, after message: Int64, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> [PendingPush] {
        // Nobody pushes here: a history is of points.
        []
    }
    func settlePushes(_ settlements: [PushSettlement]) async throws(TrackStoreError) {
        try await inner.settlePushes(settlements)
    }
    func pushes(
        in service: ServiceID, matching filter: PushFilter, at now: Timestamp, page: Page
    ) async throws(TrackStoreError) -> (total: Int, pushes: [PushRecord]) {
        try await inner.pushes(in: service, matching: filter, at: now, page: page)
    }
    func removePushes(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int {
        try await inner.removePushes(before: time, limit: limit)
    }
    func checkIntegrity() async throws(TrackStoreError) -> [String] { try await inner.checkIntegrity() }
    func counts() async throws(TrackStoreError) -> StoreCounts { try await inner.counts() }
}

/// How the store of one server process behaves, and who is told of its commits. On the simulation's loop.
final class StoreWatch {
    var isAlive = true
    /// Milliseconds before and after a call.
    var delay: () -> Int64 = { 0 }
    var failure: () -> TrackStoreError? = { nil }
    var onCommit: ([IngestBatch], [IngestOutcome]) -> Void = { _, _ in }

    func committed(_ batches: [IngestBatch], _ outcomes: [IngestOutcome]) { onCommit(batches, outcomes) }
}
