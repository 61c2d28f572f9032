package enum IngestOutcome: Equatable, Sendable {
    /// Committed; for a streamed batch the stream is now stored through this sequence (0 for custom points).
    case stored(through: UInt64)
    /// All of it had been stored before; nothing was changed.
    case duplicate(through: UInt64)
    /// Not stored; the others of the transaction are.
    case failed(TrackStoreError)
}
