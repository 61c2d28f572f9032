package import Geodesy
package import Geofencing
package import TrackModel
package import TrackStore

// Messages, fences, alarms, jobs, upkeep.
extension StoreDecorator {
    // MARK: PushStore

    package func queuePush(
        _ push: NewPush, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> QueuedPush {
        try await passing { store async throws(TrackStoreError) in
            try await store.queuePush(push, in: service, at: now)
        }
    }

    package func pendingPushes(
        of entity: String, in service: ServiceID, after cursor: StoreCursor?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> (through: StoreCursor, pushes: [PendingPush]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.pendingPushes(of: entity, in: service, after: cursor, at: now, limit: limit)
        }
    }

    package func pushesLeftOut() async -> Int {
        await (try? passing { store async throws(TrackStoreError) in await store.pushesLeftOut() }) ?? 0
    }

    package func settlePushes(_ settlements: [PushSettlement]) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.settlePushes(settlements)
        }
    }

    package func pushes(
        in service: ServiceID, matching filter: PushFilter, at now: Timestamp, page: Page
    ) async throws(TrackStoreError) -> (total: Int, pushes: [PushRecord]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.pushes(in: service, matching: filter, at: now, page: page)
        }
    }

    package func removePushes(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.removePushes(before: time, limit: limit)
        }
    }

    // MARK: FenceStore

    package func createFence(
        _ definition: FenceDefinition, by maker: String?, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> FenceRecord {
        try await passing { store async throws(TrackStoreError) in
            try await store.createFence(definition, by: maker, in: service, at: now)
        }
    }

    package func updateFence(
        _ fence: Int32, to definition: FenceDefinition, expecting version: Int64, in service: ServiceID,
        at now: Timestamp
    ) async throws(TrackStoreError) -> FenceRecord {
        try await passing { store async throws(TrackStoreError) in
            try await store.updateFence(fence, to: definition, expecting: version, in: service, at: now)
        }
    }

    package func deleteFences(
        matching filter: FenceFilter, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> [Int32] {
        try await passing { store async throws(TrackStoreError) in
            try await store.deleteFences(matching: filter, in: service, at: now)
        }
    }

    package func fences(
        in service: ServiceID, matching filter: FenceFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, fences: [FenceRecord]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.fences(in: service, matching: filter, page: page)
        }
    }

    package func readableFences(
        in service: ServiceID, matching filter: FenceFilter, page: Page
    ) async throws(TrackStoreError) -> ReadableFences {
        try await passing { store async throws(TrackStoreError) in
            try await store.readableFences(in: service, matching: filter, page: page)
        }
    }

    package func fences(naming entities: [EntityKey]) async throws(TrackStoreError) -> NamingFences {
        try await passing { store async throws(TrackStoreError) in
            try await store.fences(naming: entities)
        }
    }

    package func watchTimes(of entity: EntityKey) async throws(TrackStoreError) -> [Int32: Timestamp] {
        try await passing { store async throws(TrackStoreError) in
            try await store.watchTimes(of: entity)
        }
    }

    package func fenceStates(of entities: [EntityKey]) async throws(TrackStoreError) -> [FenceState] {
        try await passing { store async throws(TrackStoreError) in
            try await store.fenceStates(of: entities)
        }
    }

    package func changes(
        of kinds: Set<StoreChange.Kind>, after cursor: StoreCursor?, at now: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> StoreChanges {
        try await passing { store async throws(TrackStoreError) in
            try await store.changes(of: kinds, after: cursor, at: now, limit: limit)
        }
    }

    package func fenceDifference(
        of entity: EntityKey, since version: Int64
    ) async throws(TrackStoreError) -> FenceDifference {
        try await passing { store async throws(TrackStoreError) in
            try await store.fenceDifference(of: entity, since: version)
        }
    }

    package func fences(
        watching entity: EntityKey, page: Page
    ) async throws(TrackStoreError) -> (version: Int64, fences: [SubjectFence]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.fences(watching: entity, page: page)
        }
    }

    package func removeFenceNotices(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.removeFenceNotices(before: time, limit: limit)
        }
    }

    // MARK: AlarmStore

    package func alarms(
        in service: ServiceID, matching filter: AlarmFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, alarms: [AlarmRecord]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.alarms(in: service, matching: filter, page: page)
        }
    }

    package func removeAlarms(before time: Timestamp, limit: Int) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.removeAlarms(before: time, limit: limit)
        }
    }

    // MARK: CallbackStore

    package func setCallback(_ target: CallbackTarget?, of service: ServiceID) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.setCallback(target, of: service)
        }
    }

    package func callback(of service: ServiceID) async throws(TrackStoreError) -> CallbackTarget? {
        try await passing { store async throws(TrackStoreError) in
            try await store.callback(of: service)
        }
    }

    package func dueCallbacks(at now: Timestamp, limit: Int) async throws(TrackStoreError) -> [ServiceID] {
        try await passing { store async throws(TrackStoreError) in
            try await store.dueCallbacks(at: now, limit: limit)
        }
    }

    package func claimCallbacks(
        of service: ServiceID, by sender: Int64, at now: Timestamp, through end: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> CallbackClaim? {
        try await passing { store async throws(TrackStoreError) in
            try await store.claimCallbacks(of: service, by: sender, at: now, through: end, limit: limit)
        }
    }

    package func settleCallbacks(
        _ settlement: CallbackSettlement, by sender: Int64
    ) async throws(TrackStoreError) -> Bool {
        try await passing { store async throws(TrackStoreError) in
            try await store.settleCallbacks(settlement, by: sender)
        }
    }

    // MARK: DistrictStore

    package func replaceDistricts(
        of source: String, with districts: [NewDistrict]
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.replaceDistricts(of: source, with: districts)
        }
    }

    package func districts(
        unless known: Int64?
    ) async throws(TrackStoreError) -> (version: Int64, entries: [DistrictEntry]?) {
        try await passing { store async throws(TrackStoreError) in
            try await store.districts(unless: known)
        }
    }

    package func districtShape(_ id: Int64) async throws(TrackStoreError) -> ShapeDraft? {
        try await passing { store async throws(TrackStoreError) in
            try await store.districtShape(id)
        }
    }

    // MARK: ExportStore

    package func addExport(
        _ order: ExportOrder, token: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> ExportRecord {
        try await passing { store async throws(TrackStoreError) in
            try await store.addExport(order, token: token, in: service, at: now)
        }
    }

    package func exports(
        in service: ServiceID, doneSince: Timestamp
    ) async throws(TrackStoreError) -> [ExportRecord] {
        try await passing { store async throws(TrackStoreError) in
            try await store.exports(in: service, doneSince: doneSince)
        }
    }

    package func export(token: String) async throws(TrackStoreError) -> ExportRecord? {
        try await passing { store async throws(TrackStoreError) in try await store.export(token: token) }
    }

    package func deleteExport(_ number: Int64, in service: ServiceID) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.deleteExport(number, in: service)
        }
    }

    package func claimExport(
        by worker: Int64, at now: Timestamp, through end: Timestamp
    ) async throws(TrackStoreError) -> ExportRecord? {
        try await passing { store async throws(TrackStoreError) in
            try await store.claimExport(by: worker, at: now, through: end)
        }
    }

    package func keepExport(
        _ number: Int64, by worker: Int64, through end: Timestamp
    ) async throws(TrackStoreError) -> Bool {
        try await passing { store async throws(TrackStoreError) in
            try await store.keepExport(number, by: worker, through: end)
        }
    }

    package func settleExport(
        _ number: Int64, by worker: Int64, _ result: ExportResult?, at now: Timestamp
    ) async throws(TrackStoreError) -> Bool {
        try await passing { store async throws(TrackStoreError) in
            try await store.settleExport(number, by: worker, result, at: now)
        }
    }

    package func removeExports(doneBefore: Timestamp) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.removeExports(doneBefore: doneBefore)
        }
    }

    package func exportTokens() async throws(TrackStoreError) -> Set<String> {
        try await passing { store async throws(TrackStoreError) in try await store.exportTokens() }
    }

    package func exportUses() async throws(TrackStoreError) -> [ServiceID: ExportUse] {
        try await passing { store async throws(TrackStoreError) in try await store.exportUses() }
    }

    package func exportCounts() async throws(TrackStoreError) -> [ExportRecord.State: Int] {
        try await passing { store async throws(TrackStoreError) in try await store.exportCounts() }
    }

    package func exportedEntities(
        in service: ServiceID, from: Timestamp, through: Timestamp, after: Int64, limit: Int
    ) async throws(TrackStoreError) -> [ExportedEntity] {
        try await passing { store async throws(TrackStoreError) in
            try await store.exportedEntities(in: service, from: from, through: through, after: after, limit: limit)
        }
    }

    // MARK: RouteJobStore

    package func addRouteJob(
        _ order: RouteJobOrder, in service: ServiceID, at now: Timestamp, renewing: Timestamp
    ) async throws(TrackStoreError) -> RouteJobRecord {
        try await passing { store async throws(TrackStoreError) in
            try await store.addRouteJob(order, in: service, at: now, renewing: renewing)
        }
    }

    package func routeJob(
        _ order: RouteJobOrder, in service: ServiceID
    ) async throws(TrackStoreError) -> RouteJobRecord? {
        try await passing { store async throws(TrackStoreError) in try await store.routeJob(order, in: service) }
    }

    package func claimRouteJob(
        by worker: Int64, at now: Timestamp, through end: Timestamp
    ) async throws(TrackStoreError) -> RouteJobRecord? {
        try await passing { store async throws(TrackStoreError) in
            try await store.claimRouteJob(by: worker, at: now, through: end)
        }
    }

    package func keepRouteJob(
        _ number: Int64, by worker: Int64, through end: Timestamp
    ) async throws(TrackStoreError) -> Bool {
        try await passing { store async throws(TrackStoreError) in
            try await store.keepRouteJob(number, by: worker, through: end)
        }
    }

    package func settleRouteJob(
        _ number: Int64, by worker: Int64, _ result: RouteJobResult?, at now: Timestamp
    ) async throws(TrackStoreError) -> Bool {
        try await passing { store async throws(TrackStoreError) in
            try await store.settleRouteJob(number, by: worker, result, at: now)
        }
    }

    package func removeRouteJobs(doneBefore: Timestamp) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.removeRouteJobs(doneBefore: doneBefore)
        }
    }

    // MARK: StoreMaintenance

    package func mergeChunks(limit: Int, at now: Timestamp) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.mergeChunks(limit: limit, at: now)
        }
    }

    package func removePoints(
        of service: ServiceID, before time: Timestamp, after cursor: RemovalCursor?, limit: Int
    ) async throws(TrackStoreError) -> PointRemoval {
        try await passing { store async throws(TrackStoreError) in
            try await store.removePoints(of: service, before: time, after: cursor, limit: limit)
        }
    }

    package func checkIntegrity() async throws(TrackStoreError) -> [String] {
        try await passing { store async throws(TrackStoreError) in
            try await store.checkIntegrity()
        }
    }

    package func counts() async throws(TrackStoreError) -> StoreCounts {
        try await passing { store async throws(TrackStoreError) in
            try await store.counts()
        }
    }

    package func size() async throws(TrackStoreError) -> StoreSize {
        try await passing { store async throws(TrackStoreError) in
            try await store.size()
        }
    }

    package func probe() async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.probe()
        }
    }

    package func close() async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.close()
        }
    }
}
