package import Geofencing
import TrackModel
package import TrackStore

/// The fences of a service that watch everyone. A value: a batch is judged by one state of the fences.
package struct ServiceFences: Sendable {
    private(set) var set: FenceSet
    private(set) var labels: FenceLabels
    /// Fences that are not judged, because nobody here knows their time zone.
    package private(set) var unjudged: Set<Int32> = []
    private let zones: ZoneTable

    package init(_ records: [FenceRecord] = [], zones: @escaping ZoneTable) {
        self.zones = zones
        var (plans, labels) = ([FencePlan](), [Int32: FenceLabel]())
        for record in records {
            guard let since = record.everyoneSince else { continue }
            guard let plan = record.fence.plan(watchedSince: since, zones) else {
                unjudged.insert(record.fence.id)
                continue
            }
            plans.append(plan)
            labels[record.fence.id] = FenceLabel(record.fence)
        }
        set = FenceSet(plans)
        self.labels = FenceLabels(labels)
    }

    package var isEmpty: Bool { labels.count == 0 }

    package func contains(_ fence: Int32) -> Bool { labels[fence] != nil }

    /// So much has changed that judging is slow: see ``rebuilt()``.
    package var isWorn: Bool { self.set.isOverlayFull }

    /// The same fences in a new index.
    package func rebuilt() -> ServiceFences {
        var fences = self
        (fences.set, fences.labels) = (set.rebuilt(), labels.rebuilt())
        return fences
    }

    /// These fences in an index that was built from them as they were; `changed`: which have changed since.
    package func packed(as packed: ServiceFences, changed: Set<Int32>) -> ServiceFences {
        var fences = packed
        fences.unjudged = unjudged
        for fence in changed {
            if let label = labels[fence], let plan = set.plan(of: fence) {
                fences.put(plan, label)
            } else {
                fences.remove(fence)
            }
        }
        return fences
    }

    /// The fences without some of them.
    package func without(_ fences: Set<Int32>) -> ServiceFences {
        var others = self
        for fence in fences { others.remove(fence) }
        return others
    }

    /// A fence was made, changed or deleted; nil: it is not there any more.
    package mutating func change(_ fence: Int32, to record: FenceRecord?) {
        unjudged.remove(fence)
        guard let record, let since = record.everyoneSince else { return remove(fence) }
        guard let plan = record.fence.plan(watchedSince: since, zones) else {
            remove(fence)
            unjudged.insert(fence)
            return
        }
        put(plan, FenceLabel(record.fence))
    }

    private mutating func put(_ plan: FencePlan, _ label: FenceLabel) {
        set.put(plan)
        labels[plan.id] = label
    }

    private mutating func remove(_ fence: Int32) {
        guard labels[fence] != nil else { return }
        labels[fence] = nil
        set.remove(fence)
    }
}

/// The fences of one entity: those that watch it by its name, and those that it had in another revision.
package struct OwnFences: Sendable {
    let set: FenceSet
    let labels: [Int32: FenceLabel]

    /// Nil when there are none.
    package init?(_ fences: [SubjectFence], zones: @escaping ZoneTable) {
        self.init(fences.map { (fence: $0, former: .unchanged) }, zones: zones)
    }

    /// What a vehicle had before it got a fence.
    enum Former: Sendable {
        /// The same, or nobody asks.
        case unchanged
        /// The vehicle does not have the fence yet, so the server alone judges it. What is judged from several fences at once,
        /// groups and speed limits, must not depend on it: the vehicle would find other alarms.
        case unknown
        /// The fence is new to the vehicle, which had judged the points up to a time.
        case none(Timestamp)
        case some(Fence, since: Timestamp, Timestamp)
    }

    /// Nil when there are none.
    init?(_ fences: [(fence: SubjectFence, former: Former)], zones: @escaping ZoneTable) {
        var plans: [FencePlan] = []
        var labels: [Int32: FenceLabel] = [:]
        for (watched, former) in fences {
            guard var plan = watched.record.fence.plan(watchedSince: watched.since, zones) else { continue }
            switch former {
            case .unchanged: break
            case .unknown: (plan.group, plan.speedLimit) = (nil, nil)
            case .none(let time): plan.taken(after: time, former: nil)
            case .some(let fence, let since, let time): plan.taken(after: time, former: (fence, since))
            }
            plans.append(plan)
            labels[plan.id] = FenceLabel(watched.record.fence)
        }
        guard !plans.isEmpty else { return nil }
        set = FenceSet(plans)
        self.labels = labels
    }
}

/// What an alarm tells of its fence beside the verdict.
struct FenceLabel: Hashable, Sendable {
    let name: String
    let group: String?
    let reactions: [FenceReaction]
    /// Kept only for those that are told remotely.
    let watch: FenceSubjects

    init(_ fence: Fence) {
        name = fence.definition.name
        group = fence.definition.group
        reactions = fence.definition.reactions
        watch = reactions.contains(where: \.isRemote) ? fence.definition.watch : .nobody
    }
}

/// What a named time zone stands for; nil when the name is not known here.
package typealias ZoneTable = @Sendable (String) -> ZoneOffsets?

extension Fence {
    /// Nil when the fence's time zone is not known: then it cannot be judged.
    func plan(watchedSince time: Timestamp, _ zones: ZoneTable) -> FencePlan? {
        var zone: ZoneOffsets?
        if case .named(let name)? = definition.validity?.zone { zone = zones(name) }
        return try? plan(from: time, zone: zone)
    }
}

/// The labels of the fences of a service. A change costs no copy of all of them, also while others hold the labels as they
/// were before.
struct FenceLabels: Sendable {
    /// It changes only when all of them are put together anew.
    private let packed: [Int32: FenceLabel]
    /// Nil: the fence is not there any more.
    private var changed: [Int32: FenceLabel?] = [:]
    private(set) var count: Int

    init(_ labels: [Int32: FenceLabel] = [:]) {
        packed = labels
        count = labels.count
    }

    subscript(fence: Int32) -> FenceLabel? {
        get {
            if let change = changed[fence] { return change }
            return packed[fence]
        }
        set {
            count += (newValue == nil ? 0 : 1) - (self[fence] == nil ? 0 : 1)
            changed[fence] = .some(newValue)
        }
    }

    /// The same labels, without a list of changes.
    func rebuilt() -> FenceLabels {
        var labels = packed
        for (fence, label) in changed { labels[fence] = label }
        return FenceLabels(labels)
    }
}
