internal import Geodesy
internal import Geofencing
package import TrackModel

extension ServerFenceMachine {
    /// The fences that match, in the order of their numbers, and whether more do.
    package func list(_ filter: FenceFilter) -> (fences: [ServerFence], isCut: Bool) {
        var found: [ServerFence] = []
        for number in set.fences.numbers {
            guard let fence = set.fences[number], filter.matches(fence.fence) else { continue }
            guard found.count < filter.limit else { return (found, true) }
            found.append(fence)
        }
        return (found, false)
    }

    /// How many fences the entity is inside of.
    package var insideCount: Int { memory?.pairs.count { $0.place == .in } ?? 0 }

    /// Where the entity is with regard to the fences that match, as its alarms told it; with `place`, where an assumed place
    /// is. Another entity has no fences here.
    package func status(
        of entity: String, at place: Coordinate? = nil, _ filter: FenceFilter
    ) -> [LocalFenceStatus] {
        guard ExactName(entity) == ExactName(set.entity) else { return [] }
        let memory = memory ?? EntityMemory()
        return list(filter).fences.compactMap { fence in
            guard let plan = try? set.plan(of: fence) else { return nil }
            return LocalFenceStatus(
                fence: plan.id, name: fence.fence.definition.name,
                status: place.map { FenceStatus(of: plan, at: $0) } ?? memory.status(of: plan))
        }
    }
}
