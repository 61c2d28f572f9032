package import TrackModel

/// Points of one entity on their way into the store.
package struct IngestBatch: Hashable, Sendable {
    package var service: ServiceID
    /// Must satisfy ``EntityName``. Made when a batch of no stream brings points and the service does not have it.
    package var entity: String
    /// Where the batch stands in its agent's stream; nil for custom points.
    package var position: StreamPosition?
    /// Of a batch without a position: store it only while this claim of its entity holds, and answer
    /// ``IngestOutcome/replaced`` otherwise. So nothing is stored by a session that found points missing, after the next
    /// session has looked for the same points. Nil: whoever claims the entity.
    package var heldClaim: HeldClaim?
    /// Not empty unless every point of a streamed batch was refused; in upload order. Times need not ascend.
    package var points: [TrackPoint]
    /// For a streamed batch: the sequence of each point, ascending, `points.count` of them. Refused points are missing.
    package var sequences: [UInt64]
    /// The points as a batch payload, byte for byte as received; nil when points were refused or there is none.
    package var payload: EncodedPoints?
    package var received: Timestamp
    /// A live hint: the entity's newest point, ahead of the track that it is part of, see ``PointStore/ingest(_:)``. Only in
    /// a batch without points and position.
    package var hint: TrackPoint?
    /// Store the batch only while the entity has this version; nil: whatever the version is. 0 is the version of an entity
    /// that nothing was stored for.
    package var expectedVersion: Int64?
    /// Store the batch only when the batches of the same entity before it in the same call were stored, from the last one on
    /// that named a version, and the last of them is the last that changed the entity; ``expectedVersion`` is nil then. So
    /// what several batches bring about can be worked out before the first of them is stored.
    package var followsBatch: Bool
    /// The entity's fence state after these points; nil: it stays as it is. The store does not look into it.
    package var fences: [UInt8]?
    /// The pushes that these points cause beside those of their alarms, which ``alarms`` has: stored with the points, or not at all.
    /// Queued at `received`.
    package var pushes: [CausedPush]
    /// The alarms that these points cause: stored with the points, or not at all. Received at `received`.
    package var alarms: [CausedAlarm]
    /// By which versions of the fences a vehicle judged the points, ascending in time; empty: by none. The store does not
    /// look at it.
    package var fencesUsed: [FencesUsed]

    package init(
        service: ServiceID, entity: String, position: StreamPosition?, points: [TrackPoint], sequences: [UInt64],
        payload: EncodedPoints?, received: Timestamp, hint: TrackPoint? = nil, expectedVersion: Int64? = nil,
        followsBatch: Bool = false, heldClaim: HeldClaim? = nil, fences: [UInt8]? = nil, pushes: [CausedPush] = [],
        alarms: [CausedAlarm] = [],
        fencesUsed: [FencesUsed] = []
    ) {
        self.service = service
        self.entity = entity
        self.position = position
        self.points = points
        self.sequences = sequences
        self.payload = payload
        self.received = received
        self.hint = hint
        self.expectedVersion = expectedVersion
        self.followsBatch = followsBatch
        self.heldClaim = heldClaim
        self.fences = fences
        self.pushes = pushes
        self.alarms = alarms
        self.fencesUsed = fencesUsed
    }
}

extension IngestBatch {
    /// Why one of its pushes cannot be queued, a sentence; nil when all can.
    package var pushProblem: String? {
        pushes.lazy.compactMap(\.push.problem).first
            ?? alarms.lazy.flatMap(\.pushes).compactMap(\.problem).first
    }
}

/// What became of one batch. Only `stored` changes anything.
package enum IngestOutcome: Equatable, Sendable {
    /// Committed. The stream is now stored through this sequence for the batch's entity (0 for a batch of no stream), and
    /// this is the entity's version, which ascends with every batch that brings points or a fence state.
    case stored(through: UInt64, version: Int64)
    /// All of it had been stored before.
    case duplicate(through: UInt64, version: Int64)
    /// The batch's claim does not hold any more: a newer login opened the stream, or the entity was deleted, whether or not
    /// it was made again. Nothing is ever stored by this claim; the session is over.
    case replaced
    /// The entity has another version than the batch expected. The effects of the batch must be computed again, from
    /// this fence state.
    case stale(version: Int64, fences: [UInt8]?)
    /// The store has less of the stream than the session believes: commits that were confirmed are lost. The agent must
    /// log in again and send the points that it still has.
    case rewound(through: UInt64)
    /// Why the batch could not be stored; ``TrackStoreError/isRetriable`` says whether the same batch may be tried
    /// again.
    case failed(TrackStoreError)

    /// True when everything of the batch is in the store.
    package var isKept: Bool {
        switch self {
        case .stored, .duplicate: true
        case .replaced, .stale, .rewound, .failed: false
        }
    }
}

/// A vehicle judged its points that are later than a time by a version of the fences, up to the next use.
package struct FencesUsed: Hashable, Sendable {
    /// See ``FenceStore/fences(watching:page:)``.
    package var version: Int64
    package var after: Timestamp
    /// The version that the vehicle had before; 0: none.
    package var base: Int64

    package init(version: Int64, after: Timestamp, base: Int64 = 0) {
        self.version = version
        self.after = after
        self.base = base
    }
}
