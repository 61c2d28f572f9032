package import TrackModel

/// The entities of services: what is tracked.
package protocol EntityStore: Sendable {
    /// Throws `.entityExists`, `.unknownService`.
    func addEntity(
        _ entity: NewEntity, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError)
    /// Changes the parts that are given, and the time of modification. Throws `.unknownEntity`, `.unknownService`.
    func updateEntity(
        _ change: EntityChange, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError)
    /// Deletes the entity with its track, its latest position, its values, its fence state and what is known of its streams.
    /// Throws `.unknownEntity`, `.unknownService`.
    ///
    /// Every claim on a stream of the entity ends. Batches that a session still sends by such a claim are answered with
    /// ``IngestOutcome/replaced``, also when an entity of this name was made again. Pushes that nobody has acknowledged
    /// are withdrawn; they stay in the history as long as all others do.
    func deleteEntity(named name: String, in service: ServiceID, at now: Timestamp) async throws(TrackStoreError)
    func entity(named name: String, in service: ServiceID) async throws(TrackStoreError) -> EntityRecord?
    /// Matches in the order of their names (bytes of UTF-8), and how many there are without the page's bounds. Throws
    /// `.tooManyNames` beyond ``EntityFilter/maximumNames``.
    func entities(
        in service: ServiceID, matching filter: EntityFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, entities: [EntityRecord])
}

extension EntityStore {
    /// Nil when the service has an entity of this name, or may get one; otherwise a sentence that names the rule. Entities that
    /// were made before a rule go on with their names.
    package func problem(withName name: String, in service: ServiceID) async throws(TrackStoreError) -> String? {
        guard let problem = EntityName.problem(withNew: name) else { return nil }
        return try await entity(named: name, in: service) == nil ? problem : nil
    }
}

extension StoreDecorator {
    package func addEntity(
        _ entity: NewEntity, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.addEntity(entity, in: service, at: now)
        }
    }

    package func updateEntity(
        _ change: EntityChange, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.updateEntity(change, in: service, at: now)
        }
    }

    package func deleteEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.deleteEntity(named: name, in: service, at: now)
        }
    }

    package func entity(named name: String, in service: ServiceID) async throws(TrackStoreError) -> EntityRecord? {
        try await passing { store async throws(TrackStoreError) in
            try await store.entity(named: name, in: service)
        }
    }

    package func entities(
        in service: ServiceID, matching filter: EntityFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, entities: [EntityRecord]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.entities(in: service, matching: filter, page: page)
        }
    }
}
