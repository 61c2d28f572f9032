import Geofencing
import TrackModel
package import TrackStore

/// The fences of a service that watch everyone. A value: a batch is judged by one state of the fences.
package struct ServiceFences: Sendable {
    private(set) var set: FenceSet
    private(set) var labels: [Int32: FenceLabel] = [:]
    /// Fences that are not judged, because nobody here knows their time zone.
    package private(set) var unjudged: Set<Int32> = []
    private let zones: ZoneTable

    package init(_ records: [FenceRecord] = [], zones: @escaping ZoneTable) {
        self.zones = zones
        var plans: [FencePlan] = []
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
    }

    package var isEmpty: Bool { labels.isEmpty }

    /// So much has changed that judging is slow: see ``rebuilt()``.
    package var isWorn: Bool { self.set.isOverlayFull }

    /// The same fences in a new index.
    package func rebuilt() -> ServiceFences {
        var fences = self
        fences.set = set.rebuilt()
        return fences
    }

    /// A fence was made, changed or deleted; nil: it is not there any more.
    package mutating func change(_ fence: Int32, to record: FenceRecord?) {
        unjudged.remove(fence)
        guard let record, let since = record.everyoneSince else {
            if labels.removeValue(forKey: fence) != nil { set.remove(fence) }
            return
        }
        guard let plan = record.fence.plan(watchedSince: since, zones) else {
            if labels.removeValue(forKey: fence) != nil { set.remove(fence) }
            unjudged.insert(fence)
            return
        }
        set.put(plan)
        labels[fence] = FenceLabel(record.fence)
    }
}

/// The fences that watch one entity by its name.
package struct OwnFences: Sendable {
    let set: FenceSet
    let labels: [Int32: FenceLabel]

    /// Nil when there are none.
    package init?(_ fences: [WatchedFence], zones: @escaping ZoneTable) {
        var plans: [FencePlan] = []
        var labels: [Int32: FenceLabel] = [:]
        for watched in fences {
            guard let plan = watched.record.fence.plan(watchedSince: watched.since, zones) else { continue }
            plans.append(plan)
            labels[plan.id] = FenceLabel(watched.record.fence)
        }
        guard !plans.isEmpty else { return nil }
        set = FenceSet(plans)
        self.labels = labels
    }
}
