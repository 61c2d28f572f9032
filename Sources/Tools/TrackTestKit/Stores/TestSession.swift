package import TrackModel
package import TrackStore

/// A session of an agent as tests play it: it opens its stream for each entity it stores for, and says what it believes.
package struct TestSession: Sendable {
    package let service: ServiceID
    package let stream: StreamID
    private var positions: [EntityKey: (epoch: Int64, previous: UInt64)] = [:]

    package init(_ service: ServiceID, _ stream: StreamID) {
        self.service = service
        self.stream = stream
    }

    /// What the session believes to be stored for an entity; nil when it has no claim on it.
    package func previous(of entity: String) -> UInt64? {
        positions[EntityKey(service: service, name: entity)]?.previous
    }

    @discardableResult
    package mutating func open(
        _ entity: String, in store: some PointStore, at now: Timestamp = .at(0)
    ) async throws(TrackStoreError) -> StreamClaim {
        let claim = try await store.openStream(stream, of: entity, in: service, at: now)
        positions[EntityKey(service: service, name: entity)] = (claim.epoch, claim.storedThrough)
        return claim
    }

    /// The batch with the session's claim; one without a claim gets an epoch that no claim has.
    package func claimed(_ batch: IngestBatch) -> IngestBatch {
        var batch = batch
        let position = positions[EntityKey(service: service, name: batch.entity)]
        batch.position?.epoch = position?.epoch ?? -1
        batch.position?.previous = position?.previous ?? 0
        return batch
    }

    /// The session goes on behind a batch that it has sent.
    package mutating func sent(_ batch: IngestBatch) {
        guard let position = batch.position, position.count > 0 else { return }
        let (last, overflow) = position.first.addingReportingOverflow(UInt64(position.count) - 1)
        let key = EntityKey(service: service, name: batch.entity)
        guard !overflow, let former = positions[key] else { return }
        positions[key]?.previous = max(former.previous, last)
    }
}

extension PointStore {
    /// Stores batches as sessions would that begin with this call: a session a stream. The outcomes have no versions.
    package func upload(_ batches: [IngestBatch]) async throws(TrackStoreError) -> [IngestOutcome] {
        var sessions: [ServiceID: [StreamID: TestSession]] = [:]
        var claimed: [IngestBatch] = []
        for batch in batches {
            guard let position = batch.position else {
                claimed.append(batch)
                continue
            }
            var session =
                sessions[batch.service]?[position.stream] ?? TestSession(batch.service, position.stream)
            if session.previous(of: batch.entity) == nil {
                do throws(TrackStoreError) {
                    try await session.open(batch.entity, in: self, at: batch.received)
                } catch {
                    // The batch is to fail with its own reason.
                    guard error.code == .unknownService else { throw error }
                }
            }
            let next = session.claimed(batch)
            session.sent(next)
            claimed.append(next)
            sessions[batch.service, default: [:]][position.stream] = session
        }
        return await ingest(claimed).map(\.withoutVersion)
    }

    /// What a new session is told of a stream. It ends every earlier session, and makes the entity.
    package func storedThrough(
        _ stream: StreamID, of entity: String = "truck", in service: ServiceID
    ) async throws(TrackStoreError) -> UInt64 {
        try await openStream(stream, of: entity, in: service, at: .at(0)).storedThrough
    }
}

extension IngestOutcome {
    /// As an outcome without its version is written: see ``withoutVersion``.
    package static func stored(through sequence: UInt64) -> Self { .stored(through: sequence, version: 0) }
    package static func duplicate(through sequence: UInt64) -> Self { .duplicate(through: sequence, version: 0) }

    /// Versions differ from store to store: they ascend, by however much.
    package var withoutVersion: Self {
        switch self {
        case .stored(let through, _): .stored(through: through, version: 0)
        case .duplicate(let through, _): .duplicate(through: through, version: 0)
        case .stale(_, let fences): .stale(version: 0, fences: fences)
        case .replaced, .rewound, .failed: self
        }
    }

    /// Of an outcome that names one.
    package var version: Int64? {
        switch self {
        case .stored(_, let version), .duplicate(_, let version), .stale(let version, _): version
        case .replaced, .rewound, .failed: nil
        }
    }
}
