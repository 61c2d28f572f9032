package import TrackModel

package struct ServiceRecord: Hashable, Sendable {
    package var id: ServiceID
    package var name: String
    package var created: Timestamp

    package init(id: ServiceID, name: String, created: Timestamp) {
        self.id = id
        self.name = name
        self.created = created
    }
}

/// A key's right to one service.
package struct AccessKeyRecord: Sendable {
    package var hash: AccessKeyHash
    package var service: ServiceID
    /// The `sk` of a key whose requests must be signed; kept readable because verifying needs it.
    package var secret: String?
    package var isDisabled: Bool

    package init(hash: AccessKeyHash, service: ServiceID, secret: String?, isDisabled: Bool) {
        self.hash = hash
        self.service = service
        self.secret = secret
        self.isDisabled = isDisabled
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

/// What to change of an entity; nothing named stays as it is.
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

/// Which entities to list; all conditions must hold.
package struct EntityFilter: Hashable, Sendable {
    /// Nil: any name. Unknown names match nothing.
    package var names: [String]?
    /// Only those whose latest point is at or after this.
    package var activeSince: Timestamp?
    /// Only those whose latest point is before this, or that have none.
    package var inactiveSince: Timestamp?
    /// Only those that have exactly these values of entity columns. Unknown columns match nothing.
    package var values: [String: String]

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

package struct Page: Hashable, Sendable {
    /// From 0.
    package var offset: Int
    package var limit: Int

    package init(offset: Int, limit: Int) {
        self.offset = offset
        self.limit = limit
    }
}

/// A point with the time at which the server received it.
package struct StoredPoint: Hashable, Sendable {
    package var point: TrackPoint
    package var received: Timestamp

    package init(_ point: TrackPoint, received: Timestamp) {
        self.point = point
        self.received = received
    }
}

/// Points of one entity on their way into the store.
package struct IngestBatch: Sendable {
    package var service: ServiceID
    /// Made when the service does not have it. Must satisfy ``EntityName``.
    package var entity: String
    /// Where the batch stands in its agent's stream; nil for custom points.
    package var position: StreamPosition?
    /// Not empty unless every point of a streamed batch was refused; in upload order. Times need not ascend.
    package var points: [TrackPoint]
    /// For a streamed batch: the sequence of each point, ascending, `points.count` of them. Refused points are missing.
    package var sequences: [UInt64]
    /// The points as a batch payload, byte for byte as received; nil when points were refused or there is none.
    package var payload: EncodedPoints?
    package var received: Timestamp
    /// The entity's newest point, told ahead of the track that it is part of: see ``TrackStore/ingest(_:)``. Only in a batch
    /// without points and position.
    package var hint: TrackPoint?
    /// What these points bring about: stored with them, or not at all. Queued at `received`.
    package var pushes: [CausedPush]

    package init(
        service: ServiceID, entity: String, position: StreamPosition?, points: [TrackPoint], sequences: [UInt64],
        payload: EncodedPoints?, received: Timestamp, hint: TrackPoint? = nil, pushes: [CausedPush] = []
    ) {
        self.service = service
        self.entity = entity
        self.position = position
        self.points = points
        self.sequences = sequences
        self.payload = payload
        self.received = received
        self.hint = hint
        self.pushes = pushes
    }
}

package struct StreamPosition: Hashable, Sendable {
    package var stream: StreamID
    /// Sequence of the first point the agent sent in this batch, refused ones counted.
    package var first: UInt64
    /// How many the agent sent, refused ones counted; at least 1, and `first + count` does not overflow.
    package var count: UInt32

    package init(stream: StreamID, first: UInt64, count: UInt32) {
        self.stream = stream
        self.first = first
        self.count = count
    }

    package var last: UInt64 { first + UInt64(count) - 1 }
}

/// A batch payload of any format that this program reads, see docs/formats/batch-payload.md.
package struct EncodedPoints: Hashable, Sendable {
    package var isCompressed: Bool
    package var bytes: [UInt8]

    package init(isCompressed: Bool, bytes: [UInt8]) {
        self.isCompressed = isCompressed
        self.bytes = bytes
    }
}

package enum IngestOutcome: Equatable, Sendable {
    /// Committed; for a streamed batch the stream is now stored through this sequence (0 for custom points).
    case stored(through: UInt64)
    /// All of it had been stored before; nothing was changed.
    case duplicate(through: UInt64)
    /// Not stored; the others of the transaction are.
    case failed(TrackStoreError)
}

package struct StoreCounts: Hashable, Sendable {
    package var services: Int
    package var entities: Int
    package var chunks: Int
    /// Points held, those counted that a later one of the same time has superseded and no merging has removed yet.
    package var points: Int

    package init(services: Int, entities: Int, chunks: Int, points: Int) {
        self.services = services
        self.entities = entities
        self.chunks = chunks
        self.points = points
    }
}
