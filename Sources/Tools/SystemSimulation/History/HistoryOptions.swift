internal import TrackTestKit

/// What a run of histories is told from outside; everything else comes from the seed.
package struct HistoryOptions: Sendable {
    /// Virtual hours before the world heals.
    package var hours: Double
    /// Of 100 seeds in so many the server's machine loses power, and what its store had not synchronised.
    package var storePowerShare: Int
    /// Of 100 seeds so many have pushes, alarms and hooks.
    package var pushShare: Int
    package static let usualPushShare = 40
    /// Of 100 seeds so many have fences. Those of a smaller share are among those of a larger one.
    package var fenceShare: Int
    /// What `saker-simulate` takes.
    package static let usualFenceShare = 30
    /// Of 100 histories with fences so many have an older agent or server, for all of their time or a part of it.
    package var olderShare: Int
    package static let usualOlderShare = 20
    /// Of 100 histories with server fences, without messages, and whose store keeps its power, so many have a backup that is put back.
    package var restoreShare: Int
    package static let usualRestoreShare = 20
    /// Of 100 histories without an older program and without a backup so many have a second box that logs in as the same
    /// entity for a while.
    package var twinShare: Int
    package static let usualTwinShare = 10
    /// Of 100 histories with fences so many have floors: of fences, and of the vehicle. None with an older program has.
    package var floorShare: Int
    /// For database files.
    package var directory: String
    /// Called with every line of the trace.
    package var follow: (@Sendable (String) -> Void)?

    package init(
        hours: Double = 4, storePowerShare: Int = 0, pushShare: Int = usualPushShare, fenceShare: Int = 0,
        olderShare: Int = usualOlderShare, restoreShare: Int = usualRestoreShare,
        twinShare: Int = usualTwinShare, floorShare: Int = 0, directory: String = "/dev/shm",
        follow: (@Sendable (String) -> Void)? = nil
    ) {
        self.hours = hours
        self.storePowerShare = storePowerShare
        self.pushShare = pushShare
        self.fenceShare = fenceShare
        self.olderShare = olderShare
        self.restoreShare = restoreShare
        self.twinShare = twinShare
        self.floorShare = floorShare
        self.directory = directory
        self.follow = follow
    }

    /// Options drawn from `seed`, so that one run of many seeds meets kinds of histories that nobody put together: half of
    /// them last four hours. `directory` and `follow` stay.
    package func mixed(seed: UInt64) -> HistoryOptions {
        var dice = DiskDice(seed: seed &* 0xA076_1D64_78BD_642F ^ 0x31C5_31C5_31C5)
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &dice)] }
        var mixed = self
        mixed.hours = pick([4, 4, 4, 2, 1, 0.5])
        mixed.storePowerShare = pick([0, 5, 10, 100])
        mixed.pushShare = pick([0, 40, 90])
        mixed.fenceShare = pick([0, 30, 60, 100])
        mixed.olderShare = pick([0, 20, 60])
        mixed.restoreShare = pick([0, 20, 60])
        mixed.twinShare = pick([0, 10, 50])
        mixed.floorShare = pick([0, 10, 50])
        return mixed
    }

    /// What `saker-simulate` is told to repeat a history with these options.
    package var arguments: String {
        "--hours \(hours) --store-power \(storePowerShare) --pushes \(pushShare) --fences \(fenceShare) --older \(olderShare) "
            + "--restores \(restoreShare) --twins \(twinShare) --floors \(floorShare)"
    }
}

/// What happened in a history.
package struct HistorySummary: Hashable, Sendable {
    package var virtualMilliseconds: Int64 = 0
    package var points = 0
    /// Of these, made while parked.
    package var parked = 0
    package var stored = 0
    package var agentCuts = 0
    package var agentKills = 0
    package var agentStops = 0
    package var serverCuts = 0
    /// Power cuts under SQLite's files, and of these while the store was at batches that were committed all the same.
    package var storeCuts = 0
    package var storeCutsAfterCommit = 0
    package var serverRestarts = 0
    package var chunksMerged = 0
    /// Calls that the store had done, and answered with an error.
    package var answersLost = 0
    package var linksCut = 0
    /// Alarms that the journal took, and of these dropped by its bound.
    package var pushes = 0
    package var pushesDropped = 0
    package var hookRuns = 0
    /// Histories with fences, changes of fences, and alarms: of the vehicle's own fences, of those told before the disk had
    /// them; of server fences told early, told by a push; in the server's history, of those reported by the vehicle.
    package var fenced = 0
    /// Of these with floors, and points that were stored with one.
    package var floored = 0
    package var pointsOnFloors = 0
    package var fenceChanges = 0
    package var ownAlarms = 0
    package var alarmsBeforeDisk = 0
    package var earlyAlarms = 0
    package var alarmsByPush = 0
    package var serverAlarms = 0
    package var alarmsReported = 0
    /// Histories with an older agent or server.
    package var olderPrograms = 0
    /// Backups of the server that were put back, and points that the server lacked then.
    package var restores = 0
    package var restoredAway = 0
    /// Histories with a second box, and points of it that the store took.
    package var twins = 0
    package var twinPoints = 0
    package var connections = 0
    package var bytesLost = 0
    package var batchesSent = 0
    package var batchesTwice = 0
    package var cleared = 0
    package var droppedByBound = 0
    /// Gaps of tracks, by reason.
    package var gaps: [String: Int] = [:]
    package var droppedInMemory = 0
    package var lostWithPower = 0
    package var diskFaults = 0
    package var commands = 0
    /// Changes that were in force before they were on the disk.
    package var slowReplies = 0
    /// Changes that were in force, and that the disk refused.
    package var refusedStates = 0
    /// Histories that ended with a check that does not hold for some points, by cause; and how many points these are.
    package var weakened: [Weakness: Weakened] = [:]
    package var weakenedHistories = 0
    /// Two runs of a seed have it in common.
    package var traceHash: UInt64 = 0

    package init() {}

    package mutating func add(_ other: HistorySummary) {
        virtualMilliseconds += other.virtualMilliseconds
        points += other.points
        parked += other.parked
        stored += other.stored
        agentCuts += other.agentCuts
        agentKills += other.agentKills
        agentStops += other.agentStops
        serverCuts += other.serverCuts
        storeCuts += other.storeCuts
        storeCutsAfterCommit += other.storeCutsAfterCommit
        serverRestarts += other.serverRestarts
        chunksMerged += other.chunksMerged
        answersLost += other.answersLost
        linksCut += other.linksCut
        pushes += other.pushes
        pushesDropped += other.pushesDropped
        hookRuns += other.hookRuns
        fenced += other.fenced
        floored += other.floored
        pointsOnFloors += other.pointsOnFloors
        fenceChanges += other.fenceChanges
        ownAlarms += other.ownAlarms
        alarmsBeforeDisk += other.alarmsBeforeDisk
        earlyAlarms += other.earlyAlarms
        alarmsByPush += other.alarmsByPush
        serverAlarms += other.serverAlarms
        alarmsReported += other.alarmsReported
        olderPrograms += other.olderPrograms
        restores += other.restores
        restoredAway += other.restoredAway
        twins += other.twins
        twinPoints += other.twinPoints
        connections += other.connections
        bytesLost += other.bytesLost
        batchesSent += other.batchesSent
        batchesTwice += other.batchesTwice
        cleared += other.cleared
        droppedByBound += other.droppedByBound
        gaps.merge(other.gaps, uniquingKeysWith: +)
        droppedInMemory += other.droppedInMemory
        lostWithPower += other.lostWithPower
        diskFaults += other.diskFaults
        commands += other.commands
        slowReplies += other.slowReplies
        refusedStates += other.refusedStates
        for (weakness, other) in other.weakened {
            weakened[weakness, default: Weakened()].histories += other.histories
            weakened[weakness, default: Weakened()].points += other.points
        }
        weakenedHistories += other.weakenedHistories
        traceHash ^= other.traceHash
    }
}

/// How a history ended.
package struct HistoryOutcome: Sendable {
    package var seed: UInt64
    package var options: HistoryOptions
    package var summary: HistorySummary
    package var violation: Violation?
    /// The last lines of the trace, when a guarantee was broken.
    package var trace: [String] = []
}
