package import Geofencing
import TrackModel
package import TrackStore

/// Where an entity is with regard to its fences, as its alarms told it.
package struct FenceStatuses: Sendable {
    private let memory: EntityMemory
    private let since: [Int32: Timestamp]
    private let zones: ZoneTable

    /// Reads what is remembered of an entity; of one that does not exist nothing is.
    package init(
        of entity: EntityKey, in store: some FenceStore, zones: @escaping ZoneTable = { _ in nil }
    ) async throws(TrackStoreError) {
        self.zones = zones
        since = try await store.watchTimes(of: entity)
        let bytes = try await store.fenceStates(of: [entity]).first?.fences
        memory = bytes.flatMap { try? JudgedState(encoded: $0) }?.memory ?? EntityMemory()
    }

    /// Nil when the fence does not watch the entity, or cannot be judged because its time zone is not known.
    package func place(of record: FenceRecord) -> FencePair.Place? {
        guard let time = since[record.fence.id] ?? record.everyoneSince else { return nil }
        return record.fence.plan(watchedSince: time, zones).map { memory.place(of: $0) }
    }
}
