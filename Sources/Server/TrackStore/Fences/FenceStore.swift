package import Geofencing
package import TrackModel

/// The fences of services.
///
/// A fence names entities, it does not hold them: when an entity is deleted, the fences that name it stay as they are, and
/// watch the next entity of this name.
package protocol FenceStore: Sendable {
    /// Makes a fence with the next number of its service: no number is ever used again. `maker`: the vehicle whose session
    /// makes it; nil: the operator.
    ///
    /// Throws `.unknownService`; `.unknownEntity` when the fence names an entity that the service does not have;
    /// `.refusedFence` for a definition that breaks a rule; `.tooManyFences` beyond ``FenceRules/mostPublic`` and
    /// ``FenceRules/mostNaming``.
    func createFence(
        _ definition: FenceDefinition, by maker: String?, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> FenceRecord
    /// Puts another definition in the place of a fence's present one, as ``Fence/update(_:at:)`` says. Who was watched
    /// before is watched since then, and who is new since `now`. When nothing changes, the version stays.
    ///
    /// `version`: of the record that the caller has read. Throws `.fenceChanged` when the fence has another version by now;
    /// `.unknownFence`; `.unknownEntity` when the fence begins to name an entity that the service does not have; and
    /// otherwise as ``createFence(_:by:in:at:)``.
    func updateFence(
        _ fence: Int32, to definition: FenceDefinition, expecting version: Int64, in service: ServiceID,
        at now: Timestamp
    ) async throws(TrackStoreError) -> FenceRecord
    /// Deletes the fences that match, in one transaction; their alarms stay in the history. Returns their numbers, in their
    /// order. Throws `.unknownService`, `.tooManyNames` beyond ``FenceRules/mostNumbers``.
    func deleteFences(
        matching filter: FenceFilter, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> [Int32]
    /// Matches in the order of their numbers, and how many there are without the page's bounds; none of an unknown service.
    /// Throws `.tooManyNames` beyond ``FenceRules/mostNumbers``, and `.corrupt` when one of the page cannot be read.
    func fences(
        in service: ServiceID, matching filter: FenceFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, fences: [FenceRecord])
    /// As ``fences(in:matching:page:)``, and a fence that cannot be read hides no other one.
    func readableFences(
        in service: ServiceID, matching filter: FenceFilter, page: Page
    ) async throws(TrackStoreError) -> ReadableFences
    /// The fences that watch each of some entities by name. An entity need not exist. A fence that cannot be read hides no
    /// other one.
    func fences(naming entities: [EntityKey]) async throws(TrackStoreError) -> NamingFences
    /// Since when each of the fences that name an entity has watched it, by the number of the fence. Reads no fence: for a caller that has
    /// them, it costs half of ``fences(naming:)``.
    func watchTimes(of entity: EntityKey) async throws(TrackStoreError) -> [Int32: Timestamp]
    /// What the points of some entities are judged from: one an entity.
    func fenceStates(of entities: [EntityKey]) async throws(TrackStoreError) -> [FenceState]
    /// How the fences that watch an entity have changed since a version, which ``fences(watching:page:)`` or this method told.
    /// 0 is no version. A fence that cannot be read hides no other one.
    func fenceDifference(
        of entity: EntityKey, since version: Int64
    ) async throws(TrackStoreError) -> FenceDifference
    /// The fences that watch an entity, by name or as everyone, in the order of their numbers, and the version that they have
    /// together: the number of the last change of any fence. A later version has a greater number, also when the store was
    /// restored from a backup meanwhile, as far as the clock is right.
    func fences(
        watching entity: EntityKey, page: Page
    ) async throws(TrackStoreError) -> (version: Int64, fences: [SubjectFence])
    /// Forgets what changed before a time, and how the fences were before these changes, at most about `limit` changes;
    /// returns how many. 0: there are no more.
    func removeFenceNotices(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int
}

extension FenceStore {
    /// Makes a fence of the operator's.
    package func createFence(
        _ definition: FenceDefinition, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> FenceRecord {
        try await createFence(definition, by: nil, in: service, at: now)
    }

    /// The fence with this number; nil when there is none.
    package func fence(_ fence: Int32, in service: ServiceID) async throws(TrackStoreError) -> FenceRecord? {
        try await fences(in: service, matching: FenceFilter(fences: [fence]), page: Page(offset: 0, limit: 1))
            .fences.first
    }

    /// Changes a fence however often somebody else changes it meanwhile; `change` makes the new definition of the present
    /// one, and may refuse.
    ///
    /// Throws `.unknownFence` and as ``updateFence(_:to:expecting:in:at:)``.
    package func editFence(
        _ fence: Int32, in service: ServiceID, at now: Timestamp,
        _ change: (FenceDefinition) throws(TrackStoreError) -> FenceDefinition
    ) async throws(TrackStoreError) -> FenceRecord {
        while true {
            guard let record = try await self.fence(fence, in: service) else {
                throw TrackStoreError(.unknownFence, "the service has no fence \(fence)")
            }
            let changed = try change(record.fence.definition)
            do throws(TrackStoreError) {
                return try await updateFence(fence, to: changed, expecting: record.version, in: service, at: now)
            } catch {
                guard error.code == .fenceChanged else { throw error }
            }
        }
    }
}
