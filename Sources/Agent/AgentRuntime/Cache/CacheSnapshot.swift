package import TrackCache
internal import TrackModel

/// The state of the disk ring after its last operation. Status, uplink and control read it and never wait for the disk.
package struct CacheSnapshot: Sendable {
    let stream: StreamID
    let firstSequence: UInt64
    let nextSequence: UInt64
    let acknowledged: UInt64
    let points: UInt64
    let usage: TrackCacheUsage
    let state: TrackCacheState
    let counters: TrackCacheCounters
    let recovery: TrackCacheRecovery
    let entities: [EntityCacheInfo]
    /// When the ring wants to be asked again, by the monotonic clock; nil: not.
    let nextMaintenance: MonotonicTime?

    package init(_ cache: TrackCache) {
        stream = cache.streamID
        firstSequence = cache.firstSequence
        nextSequence = cache.nextSequence
        acknowledged = cache.acknowledgedThrough
        points = cache.count
        usage = cache.usage
        state = cache.state
        counters = cache.counters
        recovery = cache.recovery
        entities = cache.info()
        nextMaintenance = cache.nextMaintenance
    }

    /// Every record that is gone without the server having it, by reason; nobody cleared these.
    var losses: [String: UInt64] { everyLoss.filter { $0.value > 0 } }

    /// The same, with the reasons for which no record is gone.
    var everyLoss: [String: UInt64] {
        [
            "bound": counters.droppedByBound, "memory_full": counters.droppedInMemory, "refused": counters.refused,
            "checksum": counters.corruptRecords, "unreadable": counters.unreadableRecords,
            "wrong_date": counters.disproved, "stream_conflict": counters.lostToConflict,
        ]
    }

    /// How many files of the ring this process has begun.
    var filesBegun: UInt64 { counters.segmentsCreated }

    /// When an entity's oldest point was made that the server does not have; nil: there is none. While the disk does not
    /// work, nobody knows, and it may be of any time.
    func firstTime(of entity: String) -> Timestamp? {
        if isInMemory { return Timestamp(milliseconds: .min) }
        let name = ExactName(entity)
        return entities.first { ExactName($0.entity) == name }.map { Timestamp(milliseconds: $0.firstTime) }
    }

    /// When an entity's newest point was made that the server does not have; nil: there is none.
    func lastTime(of entity: String) -> Timestamp? {
        let name = ExactName(entity)
        return entities.first { ExactName($0.entity) == name }.map { Timestamp(milliseconds: $0.lastTime) }
    }

    var isInMemory: Bool {
        if case .memory = state { return true }
        return false
    }
}
