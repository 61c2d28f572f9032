package import TrackModel

/// One record as it was appended.
package struct CacheRecord: Hashable, Sendable {
    package let sequence: UInt64
    /// Milliseconds, whatever the caller counts from; the cache compares it with the ranges it is asked for, no more.
    package let time: Int64
    package let payload: [UInt8]

    package init(sequence: UInt64, time: Int64, payload: [UInt8]) {
        self.sequence = sequence
        self.time = time
        self.payload = payload
    }
}

/// Records of one entity with consecutive sequences, at least one.
package struct CacheBatch: Hashable, Sendable {
    /// Always the cache's `streamID` at the time of reading.
    package let stream: StreamID
    package let entity: String
    package let firstSequence: UInt64
    package let records: [CacheRecord]

    package var lastSequence: UInt64 { firstSequence + UInt64(records.count) - 1 }
}

/// What is waiting for one entity.
package struct EntityCacheInfo: Hashable, Sendable {
    package let entity: String
    package var count: UInt64
    /// Milliseconds, as appended.
    package var firstTime: Int64
    package var lastTime: Int64
    /// Payload bytes.
    package var bytes: UInt64

    package init(entity: String, count: UInt64, firstTime: Int64, lastTime: Int64, bytes: UInt64) {
        self.entity = entity
        self.count = count
        self.firstTime = firstTime
        self.lastTime = lastTime
        self.bytes = bytes
    }
}

/// What a clear removed.
package struct ClearedCount: Hashable, Sendable {
    package var records: UInt64
    /// False when the disk does not work: the clear holds for this process and is written when the disk returns.
    package var isDurable: Bool
}
