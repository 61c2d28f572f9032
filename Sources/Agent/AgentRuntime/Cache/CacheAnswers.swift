internal import AgentLogic
internal import TrackModel

// What the link and the disk ring tell each other.

/// The answer to a confirmation of what the server has.
enum CacheConfirmation {
    /// `stream`: the one whose number was to be confirmed.
    case done(stream: StreamID?)
    case diskHangs
}

/// What reading a batch has brought.
enum BatchReading {
    case batch(PreparedUpload)
    case nothing
    /// The disk does not answer now.
    case postponed
}

/// The batch that is to be read.
struct BatchLimits {
    let after: UInt64
    let maximumPoints: Int
    let maximumBytes: Int
    /// The highest batch payload format that the server reads.
    let format: Int
}
