package import Geofencing
import TrackModel
package import TrackStore

/// Where an entity is with regard to its fences, as its alarms told it.
package struct FenceStatuses: Sendable {
    private let state: JudgedState
    private let since: [Int32: Timestamp]
    private let zones: ZoneTable

    /// Reads what is remembered of an entity; of one that does not exist nothing is.
    package init(
        of entity: EntityKey, in store: some FenceStore, zones: @escaping ZoneTable = { _ in nil }
    ) async throws(TrackStoreError) {
        self.zones = zones
        since = try await store.watchTimes(of: entity)
        let bytes = try await store.fenceStates(of: [entity]).first?.fences
        state = bytes.flatMap { try? JudgedState(encoded: $0) } ?? JudgedState()
    }

    /// Nil when the fence does not watch the entity, or cannot be judged because its time zone is not known. Unknown when the
    /// server has received no point since the fence watches the entity, also when the last one is dated later.
    package func place(of record: FenceRecord) -> FencePair.Place? {
        guard let (plan, isKnown) = plan(of: record) else { return nil }
        return isKnown ? state.memory.place(of: plan) : .unknown
    }

    /// The same with its time and the distance, which costs more.
    package func status(of record: FenceRecord) -> FenceStatus? {
        guard let (plan, isKnown) = plan(of: record) else { return nil }
        return isKnown ? state.memory.status(of: plan) : .unknown
    }

    private func plan(of record: FenceRecord) -> (plan: FencePlan, isKnown: Bool)? {
        guard let time = since[record.fence.id] ?? record.everyoneSince,
            let plan = record.fence.plan(watchedSince: time, zones)
        else { return nil }
        return (plan, state.newestReceived.map { $0 >= time } ?? true)
    }
}
