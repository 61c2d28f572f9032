internal import TrackModel

/// What reading a directory brought: a value, of which nothing is in force until the cache adopts it.
struct RecoveredDirectory {
    /// The stream to go on with; nil when no segment tells of one.
    var stream: StreamID?
    /// Of this stream, ascending.
    var segments: [Segment] = []
    var tombstones: [Tombstone] = []
    /// As far as the ledger tells.
    var acknowledged: UInt64 = 0
    /// 0 when the ledger could not be read.
    var ledgerGeneration: UInt64 = 0
    /// Highest sequence that anything gave evidence of.
    var highestSeen: UInt64 = 0
    /// Highest first sequence that a file name tells, of whatever stream.
    var highestName: UInt64 = 0
    /// What an interrupted beginning of a segment left.
    var temporaries: [String] = []
    /// Files that the disk refused, in whole or in part, and how many records that wait may stand there.
    var unreadFiles = 0
    var unreadRecords: UInt64 = 0
    /// The disk refused the header of a segment.
    var hasMetDiskError = false
    /// For the journal; `segments` and `records` are counted when the cache adopts.
    var report = TrackCacheRecovery()

    /// A record that fails in one segment is written to one more, and the next attempt replaces that one: what a killed
    /// process could not synchronise stands at the ends of the newest two.
    var sight: DirectoryState.Sight {
        stream == nil && hasMetDiskError ? .blind : .clear(newest: segments.suffix(2).map(\.first))
    }
}
