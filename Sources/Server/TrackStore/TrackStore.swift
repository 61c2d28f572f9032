package import TrackModel

/// What every store of the fleet's tracks must do; the suite in TrackTestKit checks each implementation against it.
///
/// All methods may be called from any task at any time. Reads see every commit that finished before they began.
package protocol TrackStore: Sendable {
    // MARK: Services and keys

    /// Makes a service with the next free number.
    func createService(named name: String, at now: Timestamp) async throws(TrackStoreError) -> ServiceRecord
    /// All services in the order of their numbers.
    func services() async throws(TrackStoreError) -> [ServiceRecord]
    /// Adds a key to a service; `replacing` true disables all earlier ones in the same transaction.
    func addKey(
        _ hash: AccessKeyHash, secret: String?, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError)
    /// Every key with this hash, one a service; empty when the key is unknown.
    func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord]

    // MARK: Columns

    /// Throws `.columnExists`, `.tooManyColumns` beyond ``ColumnRecord/maximumCount``, `.unknownService`.
    func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError)
    /// Deletes a column, of entities with all its values; points keep theirs. Throws `.unknownColumn`.
    func deleteColumn(
        named key: String, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError)
    /// In the order of their keys (bytes of UTF-8); empty for an unknown service.
    func columns(of kind: ColumnKind, in service: ServiceID) async throws(TrackStoreError) -> [ColumnRecord]

    // MARK: Entities

    /// Throws `.entityExists`, `.unknownService`.
    func addEntity(_ entity: NewEntity, in service: ServiceID, at now: Timestamp) async throws(TrackStoreError)
    /// Changes what is given, and the time of modification. Throws `.unknownEntity`, `.unknownService`.
    func updateEntity(_ change: EntityChange, in service: ServiceID, at now: Timestamp) async throws(TrackStoreError)
    /// Makes the entity when the service does not have it; true when it was made. Throws `.unknownService`.
    func ensureEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> Bool
    func entity(named name: String, in service: ServiceID) async throws(TrackStoreError) -> EntityRecord?
    /// Matches in the order of their names (bytes of UTF-8), and how many there are without the page's bounds.
    func entities(
        in service: ServiceID, matching filter: EntityFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, entities: [EntityRecord])

    // MARK: Points

    /// The last stored sequence of a stream, 0 when the store does not know it.
    func storedThrough(_ stream: StreamID, in service: ServiceID) async throws(TrackStoreError) -> UInt64
    /// Stores all batches in one transaction and returns after its commit, one outcome a batch, in order.
    ///
    /// A batch that belongs to a stream is stored exactly once: what its sequences say is stored already is left out.
    /// A hint becomes the entity's latest point when it is later than both the latest stored one and an earlier hint, until a
    /// point as late is stored. It is no point of the track: no range, count or stream knows it.
    ///
    /// A batch whose service is gone fails alone. Throws only when the transaction as a whole failed: nothing is stored.
    func ingest(_ batches: [IngestBatch]) async throws(TrackStoreError) -> [IngestOutcome]
    /// Points with `from <= time <= through`, ascending; of two with the same time the one stored later.
    /// Throws `.unknownEntity`, `.tooManyPoints` when there are more than `limit`.
    func points(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> [StoredPoint]

    // MARK: Pushes

    /// Queues a message, in one transaction for all its targets.
    ///
    /// Throws `.unknownService`, `.unknownEntity` when it names one that the service does not have, and `.failed` when it
    /// breaks a rule; then nothing is queued.
    func queuePush(
        _ push: NewPush, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> QueuedPush
    /// Word of the messages after one, in their order, at most `limit`, whoever queued them; nil: none. `through` is what to
    /// ask after next.
    func pushNews(
        after message: Int64?, limit: Int
    ) async throws(TrackStoreError) -> (through: Int64, news: [PushNews])
    /// What an entity has not acknowledged of the messages after one and whose lifetime has not ended, in their order.
    func pendingPushes(
        of entity: String, in service: ServiceID, after message: Int64, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> [PendingPush]
    /// Notes all in one transaction. The first acknowledgement of a push counts; one that is not there is passed over.
    func settlePushes(_ settlements: [PushSettlement]) async throws(TrackStoreError)
    /// The newest message first, of one message in the order of the entities' names; and how many match in all.
    func pushes(
        in service: ServiceID, matching filter: PushFilter, at now: Timestamp, page: Page
    ) async throws(TrackStoreError) -> (total: Int, pushes: [PushRecord])
    /// Removes pushes queued before a time, at most about `limit`; returns how many. 0: there are no more.
    func removePushes(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int

    // MARK: Upkeep

    /// Merges small neighbouring chunks of some entities into larger ones; returns how many chunks it replaced.
    ///
    /// Stops soon after `limit`; call again until it returns 0, which means that nothing is due, not that no small
    /// chunk is left. Readers see the same points before, during and after. Cheap when nothing is due.
    func mergeChunks(limit: Int) async throws(TrackStoreError) -> Int
    /// Checks the store's own consistency; an empty list means sound. Each entry is a sentence for an operator.
    func checkIntegrity() async throws(TrackStoreError) -> [String]
    func counts() async throws(TrackStoreError) -> StoreCounts
}

/// Why a store did not do what it was asked.
package struct TrackStoreError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case unknownService
        case entityExists
        case unknownEntity
        case columnExists
        case unknownColumn
        case tooManyColumns
        case tooManyPoints
        /// The store was made by a newer program: it is left untouched.
        case newerSchema
        /// The medium has no space left. A retry can help once there is some.
        case full
        /// Someone else holds the store. A retry can help.
        case busy
        /// The stored data contradict themselves.
        case corrupt
        case failed
    }

    package let code: Code
    /// For people; holds no secret and no position.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package var description: String { detail }

    package var isRetriable: Bool {
        switch code {
        case .full, .busy: true
        case .unknownService, .entityExists, .unknownEntity, .columnExists, .unknownColumn, .tooManyColumns,
            .tooManyPoints,
            .newerSchema, .corrupt, .failed:
            false
        }
    }
}
