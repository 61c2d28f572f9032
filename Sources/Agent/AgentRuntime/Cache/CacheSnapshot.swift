internal import AgentControl
package import DiskRing
internal import MetricsText
internal import TrackModel

/// The state of the disk ring after its last operation. Status, uplink and control read it and never wait for the disk.
package struct CacheSnapshot: Sendable {
    let stream: StreamID
    let firstSequence: UInt64
    let nextSequence: UInt64
    let acknowledged: UInt64
    let points: UInt64
    let usage: DiskRingUsage
    let state: DiskRingState
    let counters: DiskRingCounters
    let recovery: DiskRingRecovery
    let entities: [EntityCacheInfo]
    /// When the ring wants to be asked again, by the monotonic clock; nil: not.
    let nextMaintenance: MonotonicTime?

    package init(_ cache: DiskRing) {
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

/// Where the disk ring begins and ends, and in which stream its sequence numbers count.
struct RingEnds: Hashable {
    let stream: StreamID
    let first: UInt64
    let next: UInt64
    /// The server has said that it owns everything through this sequence.
    let acknowledged: UInt64
}

extension CacheSnapshot {
    var ends: RingEnds {
        RingEnds(stream: stream, first: firstSequence, next: nextSequence, acknowledged: acknowledged)
    }
}

/// What became of the points that this process has given to the cache, beside what the ring counts itself.
package struct Tally: Hashable {
    /// Points that the disk's queue took.
    package internal(set) var gathered: UInt64 = 0
    /// Points that were not taken because the disk hung and its queue was full.
    package internal(set) var lostBusyDisk: UInt64 = 0
    /// Records that no reader of this program understands.
    var undecodable: UInt64 = 0
}

// The ring's part of the metrics and of the vehicle's health.
extension CacheShell {
    /// Points that the server has acknowledged since the start.
    var acknowledged: UInt64 { snapshot.counters.acknowledged }

    /// Points lost by reason, with the reasons for which none is lost.
    var losses: [String: UInt64] {
        var lost = snapshot.everyLoss
        lost["disk_hangs"] = tally.lostBusyDisk
        lost["undecodable"] = tally.undecodable
        return lost
    }

    func count(in counters: inout AgentCounters) {
        counters.gathered = Int64(clamping: tally.gathered)
        counters.acknowledged = Int64(clamping: acknowledged)
        counters.lost = losses.filter { $0.value > 0 }.mapValues { Int64(clamping: $0) }
        counters.lastLossTime = lastLoss?.milliseconds
    }

    /// The part of the ring in the vehicle's health.
    var health: HealthReport {
        var lost: [HealthReport.LossReason: UInt64] = [:]
        for (name, count) in losses { lost[HealthReport.LossReason(counted: name), default: 0] &+= count }
        return HealthReport(
            backlog: snapshot.points, losses: lost, lossAge: lossSeen.map { max(0, (context.now - $0) / 1000) },
            disk: HealthReport.Disk(snapshot.state))
    }

    /// `status` as ``status(unacknowledged:)`` gave it.
    func addMetrics(of cache: CacheStatus, to page: inout MetricsPage) {
        let counters = snapshot.counters
        page.add(AgentMetrics.gathered, tally.gathered)
        for (reason, count) in losses.sorted(by: { $0.key < $1.key }) { page.add(AgentMetrics.lost, count, reason) }
        page.add(AgentMetrics.acknowledged, acknowledged)
        page.add(AgentMetrics.cachePoints, cache.points)
        page.add(AgentMetrics.unacknowledged, cache.unacknowledged)
        page.add(AgentMetrics.cacheBytes, cache.bytes)
        page.add(AgentMetrics.cacheLimit, ifKnown: cache.limit)
        page.add(AgentMetrics.cacheTimeToFull, ifKnown: cache.timeToFull.seconds)
        page.add(AgentMetrics.cacheOldest, ifKnown: cache.firstTime.seconds)
        page.add(AgentMetrics.cacheInMemory, cache.state == .memory)
        page.add(AgentMetrics.memoryFallbacks, counters.memoryFallbacks)
        page.add(AgentMetrics.diskErrors, counters.diskErrors.values.reduce(0, &+))
        page.add(AgentMetrics.appendedBytes, counters.appendedBytes)
        page.add(AgentMetrics.writtenBytes, counters.bytesWritten)
        page.add(AgentMetrics.syncs, counters.syncs)
        page.add(AgentMetrics.cleared, counters.cleared)
    }
}
