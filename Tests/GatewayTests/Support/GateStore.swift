import Synchronization
import TrackModel
import TrackStore

/// A store whose transactions wait at a gate, or fail as told; all else is the store inside.
final class GateStore: TrackStore {
    private struct State {
        var isOpen = false
        var failures: [TrackStoreError] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let inner: any TrackStore
    private let state: Mutex<State>
    /// One element a transaction that has arrived at the gate: its number of batches.
    let arrivals: AsyncStream<Int>
    private let arrived: AsyncStream<Int>.Continuation

    init(_ inner: any TrackStore, isOpen: Bool = false, failures: [TrackStoreError] = []) {
        self.inner = inner
        state = Mutex(State(isOpen: isOpen, failures: failures))
        (arrivals, arrived) = AsyncStream.makeStream()
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func ingest(_ batches: [IngestBatch]) async throws(TrackStoreError) -> [IngestOutcome] {
        arrived.yield(batches.count)
        await withCheckedContinuation { continuation in
            let mayPass = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if mayPass { continuation.resume() }
        }
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let failure { throw failure }
        return try await inner.ingest(batches)
    }

    func createService(named name: String, at now: Timestamp) async throws(TrackStoreError) -> ServiceRecord {
        try await inner.createService(named: name, at: now)
    }
    func services() async throws(TrackStoreError) -> [ServiceRecord] { try await inner.services() }
    func addKey(
        _ hash: AccessKeyHash, secret: String?, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await inner.addKey(hash, secret: secret, to: service, replacing: replacing, at: now)
    }
    func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord] {
        try await inner.keys(matching: hash)
    }
    func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) {
        try await inner.addColumn(column, of: kind, in: service)
    }
    func deleteColumn(named key: String, of kind: ColumnKind, in service: ServiceID) async throws(TrackStoreError) {
        try await inner.deleteColumn(named: key, of: kind, in: service)
    }
    func columns(of kind: ColumnKind, in service: ServiceID) async throws(TrackStoreError) -> [ColumnRecord] {
        try await inner.columns(of: kind, in: service)
    }
    func updateEntity(
        _ change: EntityChange, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await inner.updateEntity(change, in: service, at: now)
    }
    func addEntity(_ entity: NewEntity, in service: ServiceID, at now: Timestamp) async throws(TrackStoreError) {
        try await inner.addEntity(entity, in: service, at: now)
    }
    func ensureEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> Bool {
        try await inner.ensureEntity(named: name, in: service, at: now)
    }
    func entity(named name: String, in service: ServiceID) async throws(TrackStoreError) -> EntityRecord? {
        try await inner.entity(named: name, in: service)
    }
    func entities(
        in service: ServiceID, matching filter: EntityFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, entities: [EntityRecord]) {
        try await inner.entities(in: service, matching: filter, page: page)
    }
    func storedThrough(_ stream: StreamID, in service: ServiceID) async throws(TrackStoreError) -> UInt64 {
        try await inner.storedThrough(stream, in: service)
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
        try await inner.pendingPushes(of: entity, in: service, after: message, at: now, limit: limit)
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
    func mergeChunks(limit: Int) async throws(TrackStoreError) -> Int { try await inner.mergeChunks(limit: limit) }
    func checkIntegrity() async throws(TrackStoreError) -> [String] { try await inner.checkIntegrity() }
    func counts() async throws(TrackStoreError) -> StoreCounts { try await inner.counts() }
}
