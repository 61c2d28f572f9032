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

package struct EntityRecord: Hashable, Sendable {
    package var name: String
    package var description: String
    package var created: Timestamp
    package var modified: Timestamp
    /// The stored point with the greatest time, or a newer one that was told ahead of its track.
    package var latest: StoredPoint?
    /// By entity column.
    package var values: [String: String]

    package init(
        name: String, description: String, created: Timestamp, modified: Timestamp, latest: StoredPoint?,
        values: [String: String] = [:]
    ) {
        self.name = name
        self.description = description
        self.created = created
        self.modified = modified
        self.latest = latest
        self.values = values
    }
}

package struct NewEntity: Hashable, Sendable {
    /// Must satisfy ``EntityName``; the caller has checked.
    package var name: String
    /// At most 128 bytes of UTF-8; empty means none.
    package var description: String
    /// By entity column; those that the service does not have are ignored.
    package var values: [String: String]

    package init(name: String, description: String = "", values: [String: String] = [:]) {
        self.name = name
        self.description = description
        self.values = values
    }
}

/// What to change of an entity. A part that is not given stays as it is.
package struct EntityChange: Hashable, Sendable {
    package var name: String
    /// Nil: stays.
    package var description: String?
    /// By entity column; those that the service does not have are ignored.
    package var values: [String: String]

    package init(name: String, description: String? = nil, values: [String: String] = [:]) {
        self.name = name
        self.description = description
        self.values = values
    }
}

/// Which entities to list; all conditions must hold.
package struct EntityFilter: Hashable, Sendable {
    /// Nil: any name. Unknown names match nothing. At most ``maximumNames`` different ones.
    package var names: [String]?
    /// Only those whose latest point is at or after this.
    package var activeSince: Timestamp?
    /// Only those whose latest point is before this, or that have none.
    package var inactiveSince: Timestamp?
    /// Only those that have exactly these values of entity columns. Unknown columns match nothing.
    package var values: [String: String]

    /// Most different names of a filter.
    package static let maximumNames = 30_000

    package init(
        names: [String]? = nil, activeSince: Timestamp? = nil, inactiveSince: Timestamp? = nil,
        values: [String: String] = [:]
    ) {
        self.names = names
        self.activeSince = activeSince
        self.inactiveSince = inactiveSince
        self.values = values
    }
}

/// A name as its bytes: Swift's `String` takes equivalent spellings for equal, the store and its clients do not.
package struct EntityKey: Hashable, Sendable {
    package let service: ServiceID
    package let name: String

    package init(service: ServiceID, name: String) {
        self.service = service
        self.name = name
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.service == right.service && left.name.utf8.elementsEqual(right.name.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(service)
        var name = name
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
