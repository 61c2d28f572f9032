internal import TrackTestKit

/// What a history is like, drawn from its seed: most worlds have a few troubles, some have all.
struct Profile {
    /// Milliseconds between receiver epochs.
    let epochInterval: Int64
    let gather: Int64
    let pack: Int64
    /// Seconds the ring may stay unsynchronised.
    let syncInterval: Double
    /// Bytes of the ring at the start; nil: unlimited.
    let ringLimit: Int?
    let segmentBytes: Int
    let memoryLimit: Int
    let losesStorePower: Bool
    let bootsWithoutClock: Bool
    let hasIncompleteReports: Bool
    let keepsFeedOpen: Bool
    /// No way to the server for nearly all of it: the ring fills.
    let isOffline: Bool
    /// Seconds; 0: off.
    let parkingDelay: Int
    let parkingInterval: Int
    /// Seconds between two troubles, on average.
    let pace: Int64
    /// How often each kind of trouble comes, as weights.
    private(set) var weights: [(trouble: Trouble, weight: Int)]
    /// What the server allows an agent.
    let batchPoints: Int
    let windowBatches: Int
    let windowBytes: Int
    /// Memory for batches that wait for the store; nil: as much as a server has.
    let waitingBytes: Int?
    /// Each point carries so much that a segment is full in minutes.
    let isVerbose: Bool
    /// The fleet's people and its points send messages to the vehicle.
    let hasPushes: Bool
    let hasHooks: Bool
    /// Hooks run for other events than alarms, too.
    let hooksHearMore: Bool
    /// Bytes of the alarm journal.
    private(set) var journalLimit: Int
    /// Milliseconds: the longest life of a push.
    private(set) var pushLife: Int64
    /// Milliseconds for which alarms are kept: longer than the server can send a push.
    private(set) var alarmRetention: Int64
    /// Bits of the disk flip.
    let hasRot: Bool
    /// The disk refuses calls when the agent comes online with more than one segment.
    let hasBacklogErrors: Bool

    enum Trouble: CaseIterable {
        case networkDown, networkBlackHole, linkReset, linkSilent, linkCutAtByte, slowNetwork, tornNetwork
        case serverRestart, serverKill, serverCut, storeFails, storeHangs, answersLost
        case agentCut, agentCutInOperation, agentKill, agentStop
        case diskReplaced, diskFailsAtBoot, diskFailsAndCut, syncFailsAndKill
        case diskFull, diskError, diskReadOnly, diskSlow, diskStalls, diskShort, rot
        case tunnel, noFix, receiverBack, receiverRollover, receiverLeaps, gpsdGone
        case clockStep, clockDrift
        case startService, stopService, startGather, stopGather, clear, limit, intervals, location, reset, reconnect
        case attributes, merge
        case memoryFails
        case push
    }

    init(_ dice: inout DiskDice, storePowerShare: Int, pushShare: Int) {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &dice)] }
        epochInterval = pick([1000, 1000, 1000, 1000, 200, 100])
        isOffline = dice.one(in: 8)
        gather = isOffline ? 2 : pick([2, 2, 5, 5, 5, 10, 30])
        pack = gather * pick([1, 2, 6, 6, 10])
        syncInterval = pick([0, 0, 0, 5, 60])
        ringLimit = (isOffline ? 3 : pick([nil, nil, 2, 4])).map { $0 * 80 * 1024 }
        segmentBytes = isOffline ? 80 * 1024 : pick([80 * 1024, 80 * 1024, 256 * 1024])
        memoryLimit = pick([4096, 20_000, 1 << 20])
        losesStorePower = Int.random(in: 0..<100, using: &dice) < storePowerShare
        bootsWithoutClock = dice.one(in: 5)
        hasIncompleteReports = dice.one(in: 2)
        keepsFeedOpen = dice.one(in: 3)
        pace = pick([20, 60, 120, 300, 900])
        hasRot = dice.one(in: 16)
        hasBacklogErrors = dice.one(in: 3)
        isVerbose = dice.one(in: 4)
        // Many large batches and a small window: some batches do not fit beside those under way.
        batchPoints = pick([5, 50, 1000, 1000])
        windowBatches = pick([2, 4, 16, 16])
        windowBytes = pick([3000, 4096, 32 * 1024, 256 * 1024])
        waitingBytes = pick([nil, nil, 3000])
        parkingDelay = pick([0, 0, 60, 60, 120, 300])
        parkingInterval = pick([10, 30, 240])
        hasPushes = Int.random(in: 0..<100, using: &dice) < pushShare
        hasHooks = !dice.one(in: 4)
        hooksHearMore = dice.one(in: 3)
        journalLimit = pick([65_536, 65_536, 131_072, 1 << 20])
        pushLife = pick([7 * 86_400_000, 1_800_000])
        // Ten minutes of a session that begins in the last moment, and the time on its way.
        alarmRetention = pushLife + 900_000
        // Some troubles are left out, so that each is also met without the others.
        let spares = dice.one(in: 2)
        var weights: [(trouble: Trouble, weight: Int)] = []
        for trouble in Trouble.allCases {
            if trouble == .rot, !hasRot { continue }
            if trouble == .push, !hasPushes { continue }
            if spares, dice.one(in: 2) { continue }
            weights.append((trouble, Int.random(in: 1...4, using: &dice) * Self.frequency(of: trouble)))
        }
        self.weights = weights.isEmpty ? [(.linkReset, 1)] : weights
    }

    /// A history with fences. Pushes of fences live for seven days, and the journal keeps alarms for longer: so messages do
    /// here. The receiver tells the true time and place: other ones make alarms that no rule decides on.
    mutating func addFences() {
        (pushLife, alarmRetention) = (7 * 86_400_000, 8 * 86_400_000)
        if !hasPushes { journalLimit = 1 << 20 }
        let others: Set<Trouble> = [.receiverBack, .receiverRollover, .receiverLeaps]
        weights.removeAll { others.contains($0.trouble) }
        if weights.isEmpty { weights = [(.linkReset, 1)] }
    }

    /// For the agent's configuration.
    var alarmConfiguration: String {
        let events = hooksHearMore ? "[\"alarm\", \"connection\", \"gather\"]" : "[\"alarm\"]"
        return "[alarms]\njournal_limit = \(journalLimit)\n"
            + (hasHooks ? "[hooks]\ndirectory = \"/etc/saker/hooks.d\"\nevents = \(events)\n" : "")
    }

    /// For the trace.
    var text: String {
        let troubles = weights.map { "\($0.trouble) \($0.weight)" }.joined(separator: ", ")
        return "epoch \(epochInterval) ms, gather \(gather) s, pack \(pack) s, sync \(syncInterval) s, "
            + "ring \(ringLimit.map(String.init) ?? "unlimited"), memory \(memoryLimit), store loses power \(losesStorePower), "
            + "rot \(hasRot), parked after \(parkingDelay) s: a point each \(parkingInterval) s, a trouble each \(pace) s: \(troubles)"
    }

    private static func frequency(of trouble: Trouble) -> Int {
        switch trouble {
        case .agentCut, .agentCutInOperation, .linkReset, .linkSilent, .linkCutAtByte, .serverKill, .serverCut, .clear:
            4
        case .diskReplaced: 1
        case .push: 6
        case .networkDown, .networkBlackHole, .tunnel, .startService, .startGather, .rot: 3
        case .stopService, .stopGather, .receiverRollover, .receiverBack, .memoryFails, .limit: 1
        default: 2
        }
    }

    func draw(_ dice: inout DiskDice) -> Trouble {
        var rest = Int.random(in: 0..<weights.reduce(0) { $0 + $1.weight }, using: &dice)
        for (trouble, weight) in weights {
            if rest < weight { return trouble }
            rest -= weight
        }
        return .linkReset
    }
}
