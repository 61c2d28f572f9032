/// What a cache did since it was opened. Every record that is given up is in exactly one of the loss counters.
package struct DiskRingCounters: Hashable, Sendable {
    /// Records accepted.
    package var appended: UInt64 = 0
    /// Their bytes in a segment, headers included.
    package var appendedBytes: UInt64 = 0
    /// Records refused because entity or payload break their size limits.
    package var refused: UInt64 = 0
    /// Records that left because the server owns them now.
    package var acknowledged: UInt64 = 0
    /// Records that a person cleared.
    package var cleared: UInt64 = 0

    // MARK: Losses

    /// Records in the segments that the bound dropped.
    package var droppedByBound: UInt64 = 0
    /// Records whose date turned out to be wrong.
    package var disproved: UInt64 = 0
    /// Records dropped because the disk did not work and memory was full.
    package var droppedInMemory: UInt64 = 0
    /// Records that fail their checksum, as far as sequence numbers tell how many there were.
    package var corruptRecords: UInt64 = 0
    /// Records of segments that could be listed but not be read, each tried several times. Of what no opening could read
    /// as many as may stand there.
    package var unreadableRecords: UInt64 = 0
    /// Records that the server took for duplicates because somebody else uses this stream (a copied disk).
    package var lostToConflict: UInt64 = 0

    // MARK: Events

    /// Segment ends that a power cut left unfinished: at most the records not yet synchronised.
    package var tornTails: UInt64 = 0
    /// Records that stood twice and were taken once.
    package var duplicateRecords: UInt64 = 0
    package var segmentsCreated: UInt64 = 0
    /// Segments dropped by the bound.
    package var segmentsDropped: UInt64 = 0
    package var streamConflicts: UInt64 = 0
    /// Times the cache went on in memory.
    package var memoryFallbacks: UInt64 = 0
    package var memoryReturns: UInt64 = 0

    // MARK: Work

    package var syncs: UInt64 = 0
    /// Everything written: records, preallocation, headers, ledger.
    package var bytesWritten: UInt64 = 0
    /// Failed calls by `errno`.
    package var diskErrors: [Int32: UInt64] = [:]

    package init() {}
}

/// What opening found; for the journal.
package struct DiskRingRecovery: Hashable, Sendable {
    package var segments = 0
    /// Records found that are neither acknowledged, as far as the ledger tells, nor cleared.
    package var records: UInt64 = 0
    package var corruptRecords: UInt64 = 0
    package var tornTails = 0
    package var duplicateRecords: UInt64 = 0
    /// Segments whose header is damaged twice, or of a newer format: left alone.
    package var damagedSegments = 0
    /// Segments of another stream: left alone.
    package var foreignSegments = 0
    /// Segments that could not be opened or read: left alone.
    package var unreadableSegments = 0
    /// Anything else in the directory: left alone.
    package var foreignFiles = 0
    /// The last point that stands and is not cleared, acknowledged or not; nil when there is none.
    package var newest: NewestPoint?

    package init() {}
}

/// Whose point it is, and its time in milliseconds, as appended.
package struct NewestPoint: Hashable, Sendable {
    package let entity: String
    package let time: Int64

    package init(entity: String, time: Int64) {
        self.entity = entity
        self.time = time
    }
}

/// How full a cache is.
package struct DiskRingUsage: Hashable, Sendable {
    package let segments: Int
    package let diskBytes: Int
    /// Nil: unlimited.
    package let diskLimit: Int?
    package let memoryBytes: Int
    package let memoryLimit: Int

    /// 0...1 of the bound that applies; nil when unlimited.
    package var fill: Double? {
        diskLimit.map { $0 > 0 ? min(1, Double(diskBytes) / Double($0)) : 1 }
    }
}
