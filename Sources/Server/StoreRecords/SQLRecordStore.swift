package import SQLDatabase
package import Synchronization
package import TrackStore

/// The half of a store that keeps records: services, keys, entities, devices, fences, alarms, messages, jobs. The methods of
/// these protocols are written once, over ``SQLConnection``: an engine brings transactions, tables and the points.
package protocol SQLRecordStore:
    ServiceStore, ServiceDeletionStore, DeviceStore, EnrolmentStore, HealthStore, ColumnStore, EntityStore,
    EntitySearchStore, PushStore, FenceStore, AlarmStore, ChangeStore, CallbackStore, DistrictStore, ExportStore,
    RouteJobStore
{
    var records: RecordState { get }

    /// Throws `.closed`.
    func checkOpen() throws(TrackStoreError)

    /// Runs on a reading connection, in one snapshot.
    func reading<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws(TrackStoreError) -> Value

    /// Runs on the writing connection, in one transaction that is undone when `body` throws. Returns when it is committed, and
    /// every later reading sees it.
    func writing<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws(TrackStoreError) -> Value
}

/// What the records of a store have in memory beside their tables.
package final class RecordState: Sendable {
    /// Rows by name. Filled after the commit of what made them.
    package let known = Mutex(RowCache())
    /// Pushes for which there was no room.
    package let leftOut = Mutex(0)
    package let secrets: SecretProtection

    package init(secrets: SecretProtection) {
        self.secrets = secrets
    }
}
