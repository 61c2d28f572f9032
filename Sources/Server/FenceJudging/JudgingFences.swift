import Geofencing
package import TrackModel
package import TrackStore

/// What judges the points of an entity that are later than a time.
package struct JudgingFences: Sendable {
    package let after: Timestamp
    let everyones: ServiceFences
    let own: OwnFences?
    /// Fences that a vehicle had in a revision that the server has replaced or deleted since, with the time of this change.
    let replaced: [Int32: Timestamp]
    /// Fences that the vehicle got at ``after``. What the server alone found in them before does not count: the vehicle does
    /// not know it.
    let fresh: [Int32]
    /// The vehicle had no fences before: it remembers nothing, so the server must not either.
    let beginsAnew: Bool

    /// `everyones`: the fences that watch everyone, without those that `own` has.
    package init(
        after: Timestamp = Timestamp(milliseconds: .min), _ everyones: ServiceFences, own: OwnFences?,
        replaced: [Int32: Timestamp] = [:], fresh: [Int32] = [], beginsAnew: Bool = false
    ) {
        self.after = after
        self.everyones = everyones
        self.own = own
        self.replaced = replaced
        self.fresh = fresh
        self.beginsAnew = beginsAnew
    }

    package var isEmpty: Bool { own == nil && everyones.isEmpty }

    /// The same fences for the points that a vehicle judged by them.
    package func used(_ used: FencesUsed) -> Self {
        Self(after: used.after, everyones, own: own, beginsAnew: used.base == 0)
    }

    func label(of fence: Int32) -> FenceLabel? { own?.labels[fence] ?? everyones.labels[fence] }

    func isStale(_ alarm: FenceAlarm) -> Bool { replaced[alarm.fence].map { $0 <= alarm.point.time } ?? false }
}

/// The fences by which a vehicle judged, worked out from the present ones and from what has changed since.
package struct VehicleFences: Sendable {
    /// Fences in another revision than the present one, and fences that were new to the vehicle or moved: with those that
    /// watch the entity by name, they are its own.
    private var own: [(fence: SubjectFence, former: OwnFences.Former)] = []
    private var replaced: [Int32: Timestamp] = [:]
    private let used: FencesUsed

    /// `named`: the present fences that watch the entity by name. `changes`: since the version that was used. `taken`: since
    /// the version that the vehicle had before it; nil when it had none.
    package init(
        _ used: FencesUsed, named: [SubjectFence], changes: [FenceDifference.Change], taken: [FenceDifference.Change]?
    ) {
        self.used = used
        let formers = Dictionary((taken ?? []).map { ($0.fence, $0) }, uniquingKeysWith: { first, _ in first })
        let changed = Set(changes.map(\.fence))
        for change in changes {
            if let former = change.former {
                let record = FenceRecord(fence: former.fence, version: used.version, everyoneSince: nil)
                // One that watches the entity neither before nor now is no change; between the two it was new.
                let isNew = taken != nil && formers[change.fence] == nil
                let before = isNew ? .init(fence: change.fence, former: nil, present: nil) : formers[change.fence]
                add(SubjectFence(record: record, since: former.since), before)
                if change.present?.record.fence.revision != former.fence.revision {
                    replaced[change.fence] = former.replaced
                }
            } else if let present = change.present {
                own.append((present, .unknown))
            }
        }
        for change in taken ?? [] where !changed.contains(change.fence) {
            if let present = change.present { add(present, change) }
        }
        for fence in named where !changed.contains(fence.record.fence.id) && formers[fence.record.fence.id] == nil {
            own.append((fence, .unchanged))
        }
    }

    private mutating func add(_ fence: SubjectFence, _ taken: FenceDifference.Change?) {
        let former: OwnFences.Former =
            switch taken {
            case nil: .unchanged
            case let change?:
                change.former.map { .some($0.fence, since: $0.since, used.after) } ?? .none(used.after)
            }
        own.append((fence, former))
    }

    /// Which of the fences over everyone the entity has in another form.
    package func hidden(in everyones: ServiceFences) -> Set<Int32> {
        Set(own.map(\.fence.record.fence.id).filter(everyones.contains))
    }

    /// `others`: the fences over everyone without those that are ``hidden(in:)``.
    package func judging(beside others: ServiceFences, zones: @escaping ZoneTable) -> JudgingFences {
        let fresh = own.compactMap { fence, former -> Int32? in
            if case .none = former { fence.record.fence.id } else { nil }
        }
        return JudgingFences(
            after: used.after, others, own: OwnFences(own, zones: zones), replaced: replaced, fresh: fresh,
            beginsAnew: used.base == 0)
    }
}
