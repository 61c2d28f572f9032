internal import Geodesy
internal import Geofencing
internal import TrackModel

/// What one process of the agent must find by the vehicle's own fences, if it has seen exactly the fixes that it is told here:
/// no disk, no journal, no queue.
struct OwnFenceCourse {
    /// An alarm that must be told, once.
    struct Expected {
        let id: UInt64
        let entity: String
        let text: String
        /// Of the fix that causes it, milliseconds since 1970.
        let pointTime: Int64
        let foundAt: MonotonicTime
        /// The journal had it already when it was found: nobody needs to hear of it.
        let isKnown: Bool
        var isTold = false
        /// It has stood in the journal. That it leaves the journal only by the bound is another model's check.
        var wasKept = false
    }

    private(set) var fences: [Int32: OwnFence]
    private(set) var fenceStates: [String: EntityFenceState]
    private(set) var expected: [Expected] = []
    /// Alarms that were told before their fix was told here, with their names and since when: the end of gathering gives the
    /// fix that the agent held, and the agent speaks first.
    private var ahead: [UInt64: (name: String, since: MonotonicTime)] = [:]
    private var entity: String?
    /// No live fix was judged since the entity began.
    private var isFirst = true
    private var set = FenceSet()
    private var judge = FenceJudge()
    private var plans: [(plan: FencePlan, draft: ShapeDraft)] = []
    private var truth: TruthModel
    /// What a fix made that the true way contradicts.
    private(set) var untrue: Violation?

    private static let largestStepBack: Int64 = 30_000

    init(fences: [Int32: OwnFence], fenceStates: [String: EntityFenceState], _ way: TrueWay) {
        (self.fences, self.fenceStates) = (fences, fenceStates)
        truth = TruthModel(way)
    }

    // MARK: Fixes

    mutating func started(_ name: String) {
        if entity != name { (entity, isFirst) = (name, true) }
        buildSet()
    }

    mutating func stopped() { entity = nil }

    /// `known`: alarms that the journal has.
    mutating func take(_ point: FencePoint, isLive: Bool, at now: MonotonicTime, known: Set<UInt64>) {
        guard let entity else { return }
        var fenceState = fenceStates[entity] ?? EntityFenceState()
        if isLive, let last = fenceState.lastTime {
            let back = last.milliseconds(since: point.time)
            if back > Self.largestStepBack || isFirst && back >= 0 {
                fenceState.timeRestarted()
                truth.forget(entity)
                begin(by: point.time)
            }
        }
        if isLive, isFirst {
            isFirst = false
            begin(by: point.time)
        }
        var alarms: [FenceAlarm] = []
        if judge.judge(point, of: &fenceState, by: set, into: &alarms) == .judged { compare(point, alarms) }
        fenceStates[entity] = fenceState
        let scope = AlarmScope(service: History.serviceID, entity: entity, source: .local)
        for alarm in alarms {
            let id = UInt64(AlarmKey(alarm, in: scope).pushID(to: entity))
            expected.append(
                Expected(
                    id: id, entity: entity, text: FenceAlarmText.text(alarm, of: entity),
                    pointTime: point.time.milliseconds, foundAt: now, isKnown: known.contains(id),
                    isTold: ahead.removeValue(forKey: id) != nil))
        }
    }

    private mutating func compare(_ point: FencePoint, _ alarms: [FenceAlarm]) {
        guard let entity, untrue == nil else { return }
        do throws(Violation) { try truth.judged(point, of: entity, by: plans, alarms[...]) } catch { untrue = error }
    }

    private mutating func begin(by time: Timestamp) {
        for number in fences.keys { fences[number]?.begin(by: time) }
        buildSet()
    }

    private mutating func buildSet() {
        guard let entity else { return }
        plans = fences.values.sorted { $0.fence.id < $1.fence.id }.compactMap { own in
            own.plan(for: entity).map { ($0, own.fence.definition.shape) }
        }
        set = FenceSet(plans.map(\.plan))
    }

    // MARK: Fences

    /// Fixes from here on are judged by what changes now.
    private var next: Timestamp {
        let newest = entity.flatMap { fenceStates[$0]?.lastTime } ?? fenceStates.values.compactMap(\.lastTime).max()
        return newest?.adding(milliseconds: 1) ?? Timestamp(milliseconds: .min)
    }

    mutating func create(_ number: Int32, _ definition: FenceDefinition) {
        guard let fence = try? Fence(id: number, definition, at: Timestamp(milliseconds: 0)) else { return }
        fences[number] = OwnFence(fence, since: next)
        buildSet()
    }

    mutating func update(_ number: Int32, _ definition: FenceDefinition) {
        guard var own = fences[number] else { return }
        let old = own.fence.definition.watch
        if (try? own.fence.update(definition, at: Timestamp(milliseconds: 0))) == .area { own.revised = next }
        for (entity, fenceState) in fenceStates where old.contains(entity) != definition.watch.contains(entity) {
            fenceStates[entity]?.forget(fence: number)
            truth.forget(number, of: entity)
            guard definition.watch.contains(entity), let last = fenceState.lastTime else { continue }
            own.joined[entity] = last.adding(milliseconds: 1)
        }
        fences[number] = own
        buildSet()
    }

    mutating func delete(_ number: Int32) {
        fences[number] = nil
        for entity in fenceStates.keys {
            fenceStates[entity]?.forget(fence: number)
            truth.forget(number, of: entity)
        }
        buildSet()
    }

    // MARK: What the agent does

    /// Programs hear of an alarm. Nil: it is right.
    mutating func told(_ id: UInt64, _ name: String, at now: MonotonicTime) -> String? {
        guard let index = expected.firstIndex(where: { $0.id == id }) else {
            guard ahead.updateValue((name, now), forKey: id) == nil else { return Self.unexplained }
            return nil
        }
        guard !expected[index].isTold else { return "\(expected[index].text) is told twice in one process" }
        expected[index].isTold = true
        return nil
    }

    private static let unexplained = "no fix explains it"

    /// Nil: every alarm that was told before this moment has its fix.
    func unexplained(before now: MonotonicTime) -> String? {
        ahead.values.first { $0.since < now }.map { "\($0.name) is told: \(Self.unexplained)" }
    }

    /// Nil: every alarm was told within a time.
    func overdue(at now: MonotonicTime, after timeout: Int64) -> String? {
        expected.first { !$0.isTold && !$0.isKnown && now - $0.foundAt > timeout }.map {
            "\($0.text) was due \((now - $0.foundAt) / 1000) s ago and nobody was told"
        }
    }

    /// The journal has these alarms and traces.
    mutating func stand(_ journal: Set<UInt64>) {
        for index in expected.indices where journal.contains(expected[index].id) { expected[index].wasKept = true }
    }

    /// The journal remembers the entity as points up to a time left it: it has, or had, the alarms of these points too.
    func missing(entity: String, through time: Int64) -> String? {
        expected.first { $0.entity == entity && $0.pointTime <= time && !$0.wasKept }.map {
            "the journal remembers \(entity) after \($0.text), and does not have this alarm"
        }
    }
}

/// Alarms of fences in words.
enum FenceAlarmText {
    static func text(_ alarm: FenceAlarm, of entity: String) -> String {
        "\(alarm.action.rawValue) of fence \(alarm.fence).\(alarm.revision)\(alarm.group == nil ? "" : " (group)") by "
            + "\(entity) at \(alarm.point.time.milliseconds)"
    }
}
