internal import Geodesy
package import Geofencing
package import TrackModel

/// Chooses fences. A fence must match all conditions.
package struct LocalFenceFilter: Hashable, Sendable {
    package var fences: Set<Int32>?
    package var name: String?
    package var group: String?
    /// Watched by the fence.
    package var entity: String?
    /// The name of the file from which it was imported, and of the layer.
    package var file: String?
    package var layer: String?
    /// Only fences after this number.
    package var after: Int32 = 0
    package var limit = 100

    package static let limits = 1...1000

    package init() {}

    /// What the number alone says.
    func mayMatch(_ number: Int32) -> Bool { number > after && fences?.contains(number) ?? true }

    func matches(_ fence: Fence) -> Bool {
        let definition = fence.definition
        if let name, !name.utf8.elementsEqual(definition.name.utf8) { return false }
        if let group, definition.group.map({ group.utf8.elementsEqual($0.utf8) }) != true { return false }
        if let entity, !definition.watch.contains(entity) { return false }
        if let file, definition.origin?.file != file { return false }
        if let layer, definition.origin?.layer != layer { return false }
        return mayMatch(fence.id)
    }
}

/// Where an entity is with regard to one fence.
package struct LocalFenceStatus: Hashable, Sendable {
    package var fence: Int32
    package var name: String
    package var status: FenceStatus
}

extension FenceMachine {
    /// Why a fence is not judged; nil when it is.
    package func trouble(of fence: LocalFence) -> String? {
        do throws(FenceError) {
            _ = try fence.plan(for: "", table.zones)
            return nil
        } catch {
            return error.description
        }
    }

    /// How many fences watch an entity, and how many of them it is inside of.
    package func counts(of entity: String) -> (watching: Int, inside: Int) {
        let watching = table.fences.numbers.count { table.fences.watch(of: $0)?.contains(entity) ?? false }
        return (watching, fenceState(of: entity)?.pairs.count { $0.place == .in } ?? 0)
    }

    /// The fences that match, in the order of their numbers, and whether more do.
    package func list(_ filter: LocalFenceFilter) -> (fences: [LocalFence], isCut: Bool) {
        var found: [LocalFence] = []
        for number in table.fences.numbers where filter.mayMatch(number) {
            guard let fence = table.fences[number], filter.matches(fence.fence) else { continue }
            guard found.count < filter.limit else { return (found, true) }
            found.append(fence)
        }
        return (found, false)
    }

    /// Where an entity is with regard to the fences that match and watch it, as its alarms told it. A place that was never
    /// judged is unknown.
    package func status(of entity: String, _ filter: LocalFenceFilter = LocalFenceFilter()) -> [LocalFenceStatus] {
        let fenceState = fenceState(of: entity) ?? EntityFenceState()
        return plans(of: entity, filter).map { plan, name in
            LocalFenceStatus(fence: plan.id, name: name, status: fenceState.status(of: plan))
        }
    }

    /// Where an assumed place is: pure geometry, without margins. It changes nothing.
    package func status(
        of entity: String, at place: Coordinate, _ filter: LocalFenceFilter = LocalFenceFilter()
    ) -> [LocalFenceStatus] {
        plans(of: entity, filter).map { plan, name in
            LocalFenceStatus(fence: plan.id, name: name, status: FenceStatus(of: plan, at: place))
        }
    }

    private func plans(of entity: String, _ filter: LocalFenceFilter) -> [(FencePlan, String)] {
        list(filter).fences.compactMap { fence in
            guard fence.fence.definition.watch.contains(entity),
                let plan = try? fence.plan(for: entity, table.zones)
            else { return nil }
            return (plan, fence.fence.definition.name)
        }
    }
}

extension ServerFenceMachine {
    /// The fences that match, in the order of their numbers, and whether more do.
    package func list(_ filter: LocalFenceFilter) -> (fences: [ServerFence], isCut: Bool) {
        var found: [ServerFence] = []
        for number in set.fences.numbers {
            guard let fence = set.fences[number], filter.matches(fence.fence) else { continue }
            guard found.count < filter.limit else { return (found, true) }
            found.append(fence)
        }
        return (found, false)
    }

    /// How many fences the entity is inside of.
    package var insideCount: Int { fenceState?.pairs.count { $0.place == .in } ?? 0 }

    /// Where the entity is with regard to the fences that match, as its alarms told it; with `place`, where an assumed place
    /// is. Another entity has no fences here.
    package func status(
        of entity: String, at place: Coordinate? = nil, _ filter: LocalFenceFilter
    ) -> [LocalFenceStatus] {
        guard ExactName(entity) == ExactName(set.entity) else { return [] }
        let fenceState = fenceState ?? EntityFenceState()
        return list(filter).fences.compactMap { fence in
            guard let plan = try? set.plan(of: fence) else { return nil }
            return LocalFenceStatus(
                fence: plan.id, name: fence.fence.definition.name,
                status: place.map { FenceStatus(of: plan, at: $0) } ?? fenceState.status(of: plan))
        }
    }
}
