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
