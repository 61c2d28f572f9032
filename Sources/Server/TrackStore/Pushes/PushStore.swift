package import TrackModel

/// Messages from the server to the agents, and what becomes of them.
package protocol PushStore: Sendable {
    /// Queues a message, in one transaction for all its targets.
    ///
    /// Throws `.unknownService`, `.unknownEntity` when it names one that the service does not have, and `.failed` when it
    /// breaks a rule; then nothing is queued.
    func queuePush(
        _ push: NewPush, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> QueuedPush
    /// Word of the messages after a mark, in their order, at most `limit`, whoever queued them; nil: none. `through` is the
    /// mark to ask after next. A store may tell of a message twice and forgets none. Throws `.failed` for a mark that
    /// another store made.
    func pushNews(
        after mark: PushMark?, limit: Int
    ) async throws(TrackStoreError) -> (through: PushMark, news: [PushNews])
    /// What an entity has not acknowledged of the messages after a mark and whose lifetime has not ended, at most `limit`; nil: of
    /// all messages. The operator's messages come first (``PushRules/isFirst(_:)``), then the others, both in their order. Fewer than `limit`: there are no more now. `through` is the mark to ask after
    /// next. A store may tell of a push twice and forgets none. Throws `.failed` for a mark that another store made.
    func pendingPushes(
        of entity: String, in service: ServiceID, after mark: PushMark?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> (through: PushMark, pushes: [PendingPush])
    /// How many pushes were not queued since the store was opened, because too many waited for their targets: see
    /// ``NewPush/about``.
    func pushesLeftOut() async -> Int
    /// Notes all settlements in one transaction. The first acknowledgement of a push counts. A push that the store does
    /// not have is passed over.
    func settlePushes(_ settlements: [PushSettlement]) async throws(TrackStoreError)
    /// The newest message first, of one message in the order of the entities' names; and how many match in all.
    func pushes(
        in service: ServiceID, matching filter: PushFilter, at now: Timestamp, page: Page
    ) async throws(TrackStoreError) -> (total: Int, pushes: [PushRecord])
    /// Removes pushes queued before a time, at most about `limit`; returns how many. 0: there are no more.
    func removePushes(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int
}

extension StoreDecorator {
    package func queuePush(
        _ push: NewPush, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> QueuedPush {
        try await passing { store async throws(TrackStoreError) in
            try await store.queuePush(push, in: service, at: now)
        }
    }

    package func pushNews(
        after mark: PushMark?, limit: Int
    ) async throws(TrackStoreError) -> (through: PushMark, news: [PushNews]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.pushNews(after: mark, limit: limit)
        }
    }

    package func pendingPushes(
        of entity: String, in service: ServiceID, after mark: PushMark?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> (through: PushMark, pushes: [PendingPush]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.pendingPushes(of: entity, in: service, after: mark, at: now, limit: limit)
        }
    }

    package func pushesLeftOut() async -> Int {
        await (try? passing { store async throws(TrackStoreError) in await store.pushesLeftOut() }) ?? 0
    }

    package func settlePushes(_ settlements: [PushSettlement]) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.settlePushes(settlements)
        }
    }

    package func pushes(
        in service: ServiceID, matching filter: PushFilter, at now: Timestamp, page: Page
    ) async throws(TrackStoreError) -> (total: Int, pushes: [PushRecord]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.pushes(in: service, matching: filter, at: now, page: page)
        }
    }

    package func removePushes(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.removePushes(before: time, limit: limit)
        }
    }
}
