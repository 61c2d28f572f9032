internal import FenceDelivery
internal import Geodesy
internal import Geofencing
internal import TrackModel
internal import TrackStore

/// What the server must find: it judges the stored points once more, each by the fences that the vehicle had, as the batch
/// says, and by those that only the server had.
///
/// It has the fences of each version as the store told them when they were changed, and no part of the server's judging but
/// the judge of single fences.
struct ServerFenceModel {
    /// The fences that watch each entity, from one change to the next.
    struct Snapshot {
        let version: Int64
        let watched: [String: [Int32: SubjectFence]]
    }

    private struct Case {
        var fenceState = EntityFenceState()
        /// Fences of the server alone that changed while it judged: nobody knows which of both it took.
        var unsure: Set<Int32> = []
    }

    private var snapshots: [Snapshot] = []
    private var places: [Int64: Int] = [:]
    private var cases: [String: Case] = [:]
    private var judge = FenceJudge()
    /// The place of the newest snapshot that the server's judge has heard of.
    private var heard = 0
    /// Alarms in the server's history, with their entities.
    private(set) var history: [AlarmKey: String] = [:]
    /// Pushes that were queued, by entity.
    private(set) var pushes: [String: Set<UInt64>] = [:]
    private(set) var reported = 0
    /// The numbers that pushes of these alarms would have, by entity.
    private(set) var numbersOfPushes: [String: Set<UInt64>] = [:]
    /// Batches that were judged while fences changed: nobody knows which the judge knew.
    private(set) var unsure = 0

    private var truth: TruthModel
    /// Points of another vehicle come as the same entity: the way of one tells nothing of the alarms of both.
    var hasTwoWays = false

    init(_ way: TrueWay = TrueWay()) {
        truth = TruthModel(way)
    }

    static let entities = ["bus", "tram", "van"]

    // MARK: Fences

    mutating func took(_ snapshot: Snapshot) {
        guard snapshots.last?.version != snapshot.version else { return }
        places[snapshot.version] = snapshots.count
        snapshots.append(snapshot)
    }

    /// Whether a fence that watched the entity by name has come to watch everyone. A change from names to everyone begins anew at the
    /// server, so a vehicle that goes on can tell a crossing that the server does not confirm: docs/decisions/0018-server-fences.md.
    func hasBecomeEveryones(_ fence: Int32, for entity: String) -> Bool {
        let watches = snapshots.map { $0.watched[entity]?[fence]?.record.fence.definition.watch.isEveryone }
        return zip(watches, watches.dropFirst()).contains { $0 == false && $1 == true }
    }

    /// The judge asks what has changed.
    mutating func judgeHears() { heard = max(0, snapshots.count - 1) }

    /// Of the newest change of the fences.
    var version: Int64 { present.version }

    private var present: Snapshot { snapshots.last ?? Snapshot(version: 0, watched: [:]) }

    /// Fences that there are.
    var numbers: [Int32] { Set(present.watched.values.flatMap(\.keys)).sorted() }

    private func watched(_ entity: String, _ version: Int64) -> [Int32: SubjectFence]? {
        places[version].map { snapshots[$0].watched[entity] ?? [:] }
    }

    // MARK: Batches

    /// A batch is stored with these new points.
    mutating func stored(_ batch: IngestBatch, new points: [TrackPoint]) throws(Violation) {
        let alarms = batch.alarms.map(\.alarm)
        for alarm in alarms where alarm.isReported { note(alarm, of: batch.entity, isReported: true) }
        guard !points.isEmpty else { return }
        let expected = try judge(points, batch)
        let unsure = cases[batch.entity]?.unsure ?? []
        let found = alarms.filter { !$0.isReported && !unsure.contains($0.fence) }
        let due = expected.filter { !unsure.contains($0.alarm.fence) }
        for (key, alarm) in due where !found.contains(where: { $0.key == key }) {
            throw broken(
                "the server does not find the \(FenceAlarmText.text(alarm, of: batch.entity)); \(words(batch))")
        }
        for alarm in found where !due.contains(where: { $0.key == alarm.key }) {
            throw broken(
                "the server finds \(alarm.action.rawValue) of fence \(alarm.fence).\(alarm.revision) by \(batch.entity) at "
                    + "\(alarm.point.time.milliseconds), which no fence in force gives; \(words(batch))")
        }
        for alarm in alarms where !alarm.isReported { note(alarm, of: batch.entity, isReported: false) }
        try compareMemory(batch, hasRepeated: points.count < batch.points.count)
    }

    /// Whether a batch that reports alarms, and that was under way when the power went, is among what is left of the store.
    func isStored(_ batch: IngestBatch, among stored: Set<AlarmKey>) throws(Violation) -> Bool {
        let new = batch.alarms.map(\.alarm.key).filter { history[$0] == nil }
        let left = new.filter(stored.contains)
        guard left.isEmpty || left.count == new.count else {
            throw broken("after a power cut the store has \(left.count) of \(new.count) alarms of one report")
        }
        return !left.isEmpty
    }

    /// The server goes on from the same places.
    private mutating func compareMemory(_ batch: IngestBatch, hasRepeated: Bool) throws(Violation) {
        guard let bytes = batch.fences, bytes.count > 1, let this = cases[batch.entity], this.unsure.isEmpty,
            let fenceState = try? EntityFenceState(encoded: Array(bytes.dropFirst(2 + 16 * Int(bytes[1])))),
            fenceState != this.fenceState
        else { return }
        // The batch names fences for its repeated points. The server judges the new points as well then, and no fence is near them.
        if hasRepeated, [fenceState, this.fenceState].allSatisfy({ $0.pairs.isEmpty && $0.overspeed == nil }) {
            cases[batch.entity]?.fenceState = fenceState
            return
        }
        throw broken(
            "the server remembers \(fenceState) of \(batch.entity), and it is \(this.fenceState); \(words(batch))")
    }

    private func words(_ batch: IngestBatch) -> String {
        let uses = batch.fencesUsed.map { "\($0.version) after \($0.after.milliseconds) on \($0.base)" }
        let points = batch.points.map { "\($0.fix.time.milliseconds)" }
        return
            "the vehicle judged \(points.first ?? "") to \(points.last ?? "") by \(uses); there is \(present.version)"
    }

    private mutating func note(_ alarm: Alarm, of entity: String, isReported: Bool) {
        guard history.updateValue(entity, forKey: alarm.key) == nil else { return }
        numbersOfPushes[entity, default: []].insert(UInt64(alarm.key.pushID(to: entity)))
        if isReported {
            reported += 1
        } else {
            pushes[entity, default: []].insert(UInt64(alarm.key.pushID(to: entity)))
        }
    }

    private struct Sets {
        var after: Timestamp
        var fences: [(plan: FencePlan, draft: ShapeDraft)]
        var fresh: [Int32] = []
        var beginsAnew = false
    }

    private mutating func judge(
        _ points: [TrackPoint], _ batch: IngestBatch
    ) throws(Violation) -> [(key: AlarmKey, alarm: FenceAlarm)] {
        let entity = batch.entity
        let ordered = points.enumerated().sorted {
            ($0.element.fix.time, $0.offset) < ($1.element.fix.time, $1.offset)
        }.map(\.element)
        guard let first = ordered.first?.fix.time, let last = ordered.last?.fix.time else { return [] }
        let begin = batch.fencesUsed.lastIndex { $0.after < first } ?? 0
        let uses = batch.fencesUsed.dropFirst(begin).filter { $0.after < last }
        noteUnsure(entity, known: uses.reduce(into: []) { $0.formUnion((watched(entity, $1.version) ?? [:]).keys) })
        let sets = [presentSet(entity)] + uses.map { set(entity, $0) }
        guard sets.contains(where: { !$0.fences.isEmpty }) else {
            truth.forget(entity)
            return []
        }
        var this = cases[entity] ?? Case()
        var expected: [(key: AlarmKey, alarm: FenceAlarm)] = []
        let scope = AlarmScope(service: batch.service.rawValue, entity: entity, source: .server)
        for point in ordered {
            guard let set = sets.last(where: { $0.after < point.fix.time }) else { continue }
            if let newest = this.fenceState.lastTime, newest <= set.after {
                if set.beginsAnew {
                    this.fenceState.beginAnew()
                    truth.forget(entity)
                }
                for fence in set.fresh {
                    this.fenceState.forget(fence: fence)
                    truth.forget(fence, of: entity)
                    this.unsure.remove(fence)
                }
            }
            var alarms: [FenceAlarm] = []
            let (judged, plans) = (FencePoint(point), FenceSet(set.fences.map(\.plan)))
            if judge.judge(judged, of: &this.fenceState, by: plans, into: &alarms) == .judged {
                if !hasTwoWays { try truth.judged(judged, of: entity, by: set.fences, alarms[...]) }
            }
            expected += alarms.map { (AlarmKey($0, in: scope), $0) }
        }
        cases[entity] = this
        return expected
    }

    private func presentSet(_ entity: String) -> Sets {
        let fences = (present.watched[entity] ?? [:]).sorted { $0.key < $1.key }
        return Sets(
            after: Timestamp(milliseconds: .min),
            fences: fences.compactMap { fence in
                let delivered = DeliveredFence(fence.value.record.fence, since: fence.value.since, of: entity)
                return (try? delivered.plan()).map { ($0, fence.value.record.fence.definition.shape) }
            })
    }

    /// What the vehicle judged by, and beside it what it did not have.
    private func set(_ entity: String, _ used: FencesUsed) -> Sets {
        guard let known = watched(entity, used.version) else {
            var sets = presentSet(entity)
            (sets.after, sets.beginsAnew) = (used.after, used.base == 0)
            return sets
        }
        let base = used.base > 0 ? watched(entity, used.base) : nil
        var sets = Sets(after: used.after, fences: [], beginsAnew: used.base == 0)
        for (number, fence) in known.sorted(by: { $0.key < $1.key }) {
            let delivered = DeliveredFence(fence.record.fence, since: fence.since, of: entity)
            let draft = fence.record.fence.definition.shape
            guard let base else {
                if let plan = try? delivered.plan() { sets.fences.append((plan, draft)) }
                continue
            }
            let former = base[number].map { DeliveredFence($0.record.fence, since: $0.since, of: entity) }
            if former == nil { sets.fresh.append(number) }
            if let plan = try? delivered.plan(takenAfter: used.after, former: former) {
                sets.fences.append((plan, draft))
            }
        }
        let others = (present.watched[entity] ?? [:]).filter { known[$0.key] == nil }
        for (_, fence) in others.sorted(by: { $0.key < $1.key }) {
            guard var plan = try? DeliveredFence(fence.record.fence, since: fence.since, of: entity).plan() else {
                continue
            }
            (plan.group, plan.speedLimit) = (nil, nil)
            sets.fences.append((plan, fence.record.fence.definition.shape))
        }
        return sets
    }

    /// Fences that changed since the judge last asked: it may have seen them before and after. What the vehicle had is known
    /// all the same.
    private mutating func noteUnsure(_ entity: String, known: Set<Int32>) {
        guard heard < snapshots.count - 1 else { return }
        var changed: Set<Int32> = []
        for place in heard..<(snapshots.count - 1) {
            let (old, new) = (snapshots[place].watched[entity] ?? [:], snapshots[place + 1].watched[entity] ?? [:])
            for number in Set(old.keys).union(new.keys) where old[number] != new[number] { changed.insert(number) }
        }
        changed.subtract(known)
        guard !changed.isEmpty else { return }
        unsure += 1
        cases[entity, default: Case()].unsure.formUnion(changed)
    }

    // MARK: Pushes

    /// The store gives a session a push that is no message.
    func handedOut(_ push: PendingPush, to entity: String) throws(Violation) {
        guard numbersOfPushes[entity]?.contains(push.id) ?? false else {
            throw broken("the store hands \(entity) a push out that no alarm of it made: \(push.body)")
        }
    }

    // MARK: The end

    /// `stored`: the whole history as the store tells it.
    func compare(_ stored: [AlarmRecord]) throws(Violation) {
        var keys: Set<AlarmKey> = []
        for record in stored {
            guard keys.insert(record.alarm.key).inserted else {
                throw broken("the server's history has alarm \(record.alarm.key.text) twice")
            }
            guard history[record.alarm.key] == record.entity else {
                throw broken("the server's history has alarm \(record.alarm.key.text), which no batch brought")
            }
        }
        for (key, entity) in history where !keys.contains(key) {
            throw broken("the server's history has lost alarm \(key.text) of \(entity)")
        }
    }

    /// Pushes of an entity that its agent has not acknowledged.
    func waiting(for entity: String, without acknowledged: Set<UInt64>) -> [UInt64] {
        (pushes[entity] ?? []).subtracting(acknowledged).sorted()
    }

    private func broken(_ detail: String) -> Violation { Violation(guarantee: .fences, detail: detail) }
}
