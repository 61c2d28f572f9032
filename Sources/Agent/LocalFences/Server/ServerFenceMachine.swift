package import AgentLogic
internal import FenceDelivery
internal import Geodesy
package import Geofencing
package import TrackModel

/// The server's fences on the box: which set there is, which points it judges, and what is told.
///
/// Every gathered point of the entity is judged, in the order of gathering and exactly as the server will get it, so that box
/// and server find the same alarms with the same keys. A new set judges the points after the newest one that was judged; it is
/// used when it is on the disk, or when the disk does not take it. Until then later points wait here. Knows no disk, no link
/// and no clock. Every `mutating func` is an event; do the actions in their order.
package struct ServerFenceMachine {
    package enum Action: Hashable, Sendable {
        case judging(JudgingAction)
        /// `write` asks for ``ServerFenceMachine/content`` as it is then.
        case saving(DurableStateMachine.Action)
        /// The version and the uses that the link tells are others now.
        case usesChanged
        /// A set judges from here on. `isRemembered`: it is on the disk.
        case applied(version: UInt64, fences: Int, isRemembered: Bool)
        /// Call `timedOut` once after this time.
        case setTimeout(milliseconds: Int64)
        /// The entity is about to leave the reach of the set: ask the server for the fences around this place.
        case request(Coordinate)
    }

    package struct Limits: Hashable, Sendable {
        package var judging = FenceMachine.Limits()
        package var set = ServerFenceSet.Limits()
        /// Milliseconds that a new set waits for the disk.
        package var timeout: Int64 = 2000
        /// Milliseconds of the points' time between two requests, when the server answers none.
        package var requestInterval: Int64 = 600_000

        package init() {}
    }

    /// A point that waits for the set that judges it.
    private struct Held: Hashable {
        let point: FencePoint
        let cause: PointCause?
        let isLive: Bool
    }

    let limits: Limits
    /// What judges.
    package private(set) var set: ServerFenceSet
    /// On its way to the disk: judges the points that wait.
    private var pending: (set: ServerFenceSet, plans: ServerFencePlans)?
    private var held: [Held] = []
    private var plans = ServerFencePlans()
    /// Grows when the fences become others than those for which a delivery is worked out.
    private(set) var changes: UInt64 = 0
    private var judge: EntityJudge
    package private(set) var saving = DurableStateMachine()
    /// Fence states of the journal, until their entity runs.
    private var recalled: [(service: Int64, entity: String, fenceState: EntityFenceState)]
    private var isRunning = false
    /// What came last could not be used: the server is to send everything.
    private var mustAskAnew = false
    private var lastRequest: Timestamp?
    private var hasAskedForZones = false

    /// `found`: the set of the file; nil when there was none. `fenceStates`: of the journal.
    package init(
        found: ServerFenceSet? = nil,
        fenceStates: [(service: Int64, entity: String, fenceState: EntityFenceState)] = [],
        limits: Limits = Limits(), outbox: AlarmOutbox.Limits = .init()
    ) {
        self.limits = limits
        set = found ?? ServerFenceSet(service: 0, entity: "")
        recalled = fenceStates
        judge = EntityJudge(.server, fenceStates: [], limits: limits.judging, outbox: outbox)
    }

    package var outbox: AlarmOutbox { judge.outbox }
    package var counters: FenceMachine.Counters { judge.counters }

    /// What the link tells: of the set that judges every later point.
    package var newest: ServerFenceSet { pending?.set ?? set }
    /// For the login.
    package var toldVersion: UInt64 { mustAskAnew ? 0 : newest.version }
    /// What the file is to have; nil when there is no set, and the file stays as it is.
    package var content: ServerFenceSet? { newest.version == 0 ? nil : newest }
    /// Fences of the set that are not judged here, with the reason.
    package var notJudged: [Int32: String] { plans.notJudged }

    // MARK: Who is judged

    /// Points of this entity follow, for a login at this service. Another entity or service begins with no set.
    package mutating func runs(as entity: String, service: Int64) -> [Action] {
        guard !isRunning || !newest.isOf(entity, service) else { return [] }
        var actions: [Action] = []
        if isRunning { actions += leave() }
        isRunning = true
        changes &+= 1
        if !set.isOf(entity, service) { set = ServerFenceSet(service: service, entity: entity) }
        judge.service = service
        let name = ExactName(entity)
        let journaled = recalled.last { $0.service == service && ExactName($0.entity) == name }?.fenceState
        judge.recall(entity, Self.newer(journaled, set.version > 0 ? set.fenceState : nil))
        let fences = set.fences
        judge.forget { !fences.contains($0) }
        return actions + [.usesChanged] + use(ServerFencePlans(of: set))
    }

    private mutating func leave() -> [Action] {
        // What waits for the disk waits for nobody now.
        var actions = apply(isRemembered: false)
        actions += judge.note(of: set.entity, isForced: true).map(Action.judging)
        if let fenceState = judge.fenceState(of: set.entity) {
            recalled.removeAll { set.isOf($0.entity, $0.service) }
            recalled.append((set.service, set.entity, fenceState))
            recalled = recalled.suffix(limits.judging.entities)
        }
        mustAskAnew = false
        lastRequest = nil
        return actions
    }

    private static func newer(_ journaled: EntityFenceState?, _ stored: EntityFenceState?) -> EntityFenceState? {
        guard let journaled, let stored else { return journaled ?? stored }
        guard let last = stored.lastTime else { return journaled }
        return (journaled.lastTime ?? Timestamp(milliseconds: .min)) >= last ? journaled : stored
    }

    /// The agent stops: what nobody has noted is noted, and alarms that the disk refused are tried once more.
    package mutating func closing() -> [Action] {
        let noted =
            isRunning ? apply(isRemembered: false) + judge.note(of: set.entity, isForced: true).map(Action.judging) : []
        return noted + judge.outbox.closing().map { .judging(.alarms($0)) }
    }

    // MARK: Points

    /// A point of the entity is in the ring. `isLive`: this process has gathered it.
    package mutating func gathered(_ point: FencePoint, cause: PointCause?, isLive: Bool = true) -> [Action] {
        guard isRunning else { return [] }
        guard pending == nil else {
            held.append(Held(point: point, cause: cause, isLive: isLive))
            return []
        }
        return take(Held(point: point, cause: cause, isLive: isLive))
    }

    /// From here on points that the server has may be gone from the ring, so the fence state of them must last: the process after
    /// this one goes on where the server does.
    package mutating func ringLetsGo() -> [Action] {
        isRunning ? judge.secure(set.entity).map(Action.judging) : []
    }

    private mutating func take(_ this: Held) -> [Action] {
        var actions: [Action] = []
        if this.isLive, let last = judge.fenceState(of: set.entity)?.lastTime,
            last.milliseconds(since: this.point.time) > limits.judging.largestStepBack
        {
            actions += timeBeganAnew(at: this.point.time)
        }
        let set = set
        let near = plans.field.near(this.point, judge.fenceState(of: set.entity) ?? EntityFenceState()) { number in
            guard let fence = set.fences[number] else { return nil }
            return try? set.plan(of: fence)
        }
        actions += judge.judge(
            this.point,
            in: .init(
                entity: set.entity, service: set.service, set: near, cause: this.cause,
                isReported: saving.standing != .durable)
        ) { number in
            set.fences[number]?.fence.definition
        }.map(Action.judging)
        return actions + request(from: this.point)
    }

    /// A later date was wrong. What was told with it stays told.
    private mutating func timeBeganAnew(at time: Timestamp) -> [Action] {
        judge.timeRestarted(of: set.entity)
        guard set.version > 0 else { return [] }
        changes &+= 1
        set.timeBeganAnew(at: time, fenceState: judge.fenceState(of: set.entity))
        plans.field.begin(by: time)
        return [.usesChanged] + saving.changed().map(Action.saving)
    }

    private mutating func request(from point: FencePoint) -> [Action] {
        guard let reach = set.reach else { return [] }
        if let lastRequest, point.time.milliseconds(since: lastRequest).magnitude < limits.requestInterval { return [] }
        let distance = SurfaceDistance.between(reach.center, point.place)
        guard distance > 0.8 * Double(reach.metres) else { return [] }
        lastRequest = point.time
        return [.request(point.place)]
    }

    private mutating func use(_ new: ServerFencePlans) -> [Action] {
        plans = new
        judge.isNoting = plans.notJudged.count < set.fences.count
        return plans.notJudged.sorted { $0.key < $1.key }.map {
            .judging(.notJudged(fence: $0.key, reason: $0.value))
        }
    }

    // MARK: Sets

    /// Fences have come from the server, for the entity that runs.
    mutating func take(_ arrival: ServerFenceArrival, _ plans: ServerFencePlans) -> [Action] {
        guard isRunning else { return [] }
        var (fenceState, plans) = (judge.fenceState(of: set.entity) ?? EntityFenceState(), plans)
        var new = newest.taking(arrival, fenceState: fenceState)
        // Points of the meantime were judged without these fences.
        if let newest = arrival.newestTime(after: fenceState.lastTime) { plans.field.changed(at: newest) }
        for pair in fenceState.pairs where !new.fences.contains(pair.fence) { fenceState.forget(fence: pair.fence) }
        new.remember(fenceState)
        pending = (new, plans)
        changes &+= 1
        mustAskAnew = false
        lastRequest = nil
        let timeout = Action.setTimeout(milliseconds: limits.timeout)
        return [timeout, .usesChanged] + save { $0.changed() }
    }

    /// A login succeeded: what was asked for before may not have arrived. A set of a server that sent no time zones stays
    /// without them until the server sends everything: that is asked for once.
    package mutating func loggedIn() -> [Action] {
        lastRequest = nil
        guard isRunning, !hasAskedForZones, newest.lacksZones,
            let place = fenceState?.points.first?.place ?? newest.reach?.center
                ?? Coordinate(latitudeE7: 0, longitudeE7: 0)
        else { return [] }
        hasAskedForZones = true
        return [.request(place)]
    }

    /// A delivery could not be read, or not be used. The set stays, and the next login asks for everything.
    package mutating func deliveryFailed() -> [Action] {
        mustAskAnew = true
        return [.usesChanged]
    }

    /// The new set waits no longer for the disk.
    package mutating func timedOut() -> [Action] { apply(isRemembered: false) }

    /// An event of the file: `written`, `failed` or `timerFired`.
    package mutating func saving(_ event: (inout DurableStateMachine) -> [DurableStateMachine.Action]) -> [Action] {
        save(event)
    }

    private mutating func save(_ event: (inout DurableStateMachine) -> [DurableStateMachine.Action]) -> [Action] {
        let actions = event(&saving).map(Action.saving)
        switch saving.standing {
        case .durable: return actions + apply(isRemembered: true)
        case .failing: return actions + apply(isRemembered: false)
        case .writing: return actions
        }
    }

    private mutating func apply(isRemembered: Bool) -> [Action] {
        guard let new = pending else { return [] }
        pending = nil
        set = new.set
        judge.remember(set.entity, set.fenceState)
        var actions: [Action] = [
            .applied(version: set.version, fences: set.fences.count, isRemembered: isRemembered)
        ]
        actions += use(new.plans)
        let points = held
        held = []
        for point in points { actions += take(point) }
        return actions
    }

    /// The oldest point of the entity that the server does not have yet is of this time; nil: the ring has none.
    package mutating func ringBegins(at oldest: Timestamp?) -> [Action] {
        guard pending == nil, set.forgetUses(before: oldest) else { return [] }
        return [.usesChanged]
    }

    /// The server's push has told the alarm of this number.
    package mutating func heard(push id: UInt64) { judge.outbox.heard(push: id) }

    // MARK: What the journal says

    /// An event of the outbox: `written`, `refused` or `timerFired`.
    package mutating func alarms(_ event: (inout AlarmOutbox) -> [AlarmOutbox.Action]) -> [Action] {
        event(&judge.outbox).map { .judging(.alarms($0)) }
    }

    // MARK: Questions

    /// Whether points of this entity are judged, for this service.
    package func runs(_ entity: String, _ service: Int64) -> Bool { isRunning && newest.isOf(entity, service) }

    /// What is remembered of the entity that runs; nil when it was never judged.
    package var fenceState: EntityFenceState? { isRunning ? judge.fenceState(of: set.entity) : nil }
}
