internal import AlarmLog
internal import Geofencing
internal import TrackModel
internal import TrackTestKit

/// What a history with fences has beside the others: the vehicle's route, fences that come, change and go, and the models of
/// what must come of it. Drawn from random numbers of its own: a history without fences stays as it is.
struct FenceWorld {
    var dice: DiskDice
    /// Nil: no fence has a floor, and nobody says on which one the vehicle is.
    var floors: DiskDice?
    let route: FencedRoute
    /// The vehicle has fences of its own.
    let hasOwn: Bool
    /// The operator has fences at the server.
    let hasServers: Bool
    /// Milliseconds between two changes of fences, on average.
    let pace: Int64
    var changes = 0
    let way = TrueWay()
    var own: OwnFenceModel
    var findings: FindingModel
    var serverFenceModel: ServerFenceModel
    /// What the journal of the process remembered of fences when it was opened.
    var states: [JournalFenceState] = []
    /// The disk has kept the vehicle from points that it gathered: from then on its places may be others than the server's.
    var mayDiffer = false
    /// The journal could not be read when the process began.
    var isUnread = false

    /// Nil for most seeds: of 100 as many as `share` says have fences, and of 100 of those as many as `floorShare` says floors.
    init?(seed: UInt64, share: Int, floorShare: Int, _ profile: inout Profile) {
        var dice = DiskDice(seed: seed &* 0x2545_F491_4F6C_DD1D ^ 0xFE9C_E5FE_9CE5)
        guard Int.random(in: 0..<100, using: &dice) < share else { return nil }
        profile.addFences()
        route = FencedRoute(seed: dice.next())
        (own, serverFenceModel) = (OwnFenceModel(way), ServerFenceModel(way))
        let kind = Int.random(in: 0..<5, using: &dice)
        (hasOwn, hasServers) = (kind < 3, kind > 1)
        pace = [20_000, 60_000, 300_000].randomElement(using: &dice) ?? 60_000
        findings = FindingModel(limit: profile.journalLimit, areHooksRun: profile.hasHooks)
        self.dice = dice
        var floors = DiskDice(seed: seed &* 0xD1B5_4A32_D192_ED03 ^ 0xF100_45F1_0045)
        if Int.random(in: 0..<100, using: &floors) < floorShare { self.floors = floors }
    }

    /// The same fence, which may now count on one floor only, or on each.
    mutating func onFloor(_ definition: FenceDefinition) -> FenceDefinition {
        Self.onFloor(definition, &floors)
    }

    static func onFloor(_ definition: FenceDefinition, _ floors: inout DiskDice?) -> FenceDefinition {
        guard var dice = floors else { return definition }
        defer { floors = dice }
        guard dice.one(in: 2) else { return definition }
        var changed = definition
        changed.floor = [nil, "1", "2", "02"].randomElement(using: &dice) ?? nil
        return changed
    }

    /// Bits of the ring have flipped: points may be gone, for the server and for the next process.
    mutating func flipped(at now: MonotonicTime) {
        mayDiffer = true
        own.ringChanged(at: now)
    }

    /// What was on the disk is gone with it: the vehicle begins anew.
    mutating func diskReplaced() {
        mayDiffer = true
        own = OwnFenceModel(way)
        findings.diskReplaced()
        states = []
    }

    /// Those whose fences there may be.
    static let most = 12
}
