/// What every store of the fleet's tracks must do: one small protocol for each subject.
///
/// All methods may be called from any task at any time. Reads see every commit that finished before they began. The
/// suite of each protocol is in TrackTestKit and runs against every implementation.
///
/// A room that needs one subject asks for the protocol of this subject alone.
package protocol TrackStore:
    ServiceStore, ServiceDeletionStore, DeviceStore, EnrolmentStore, HealthStore, ColumnStore, EntityStore,
    EntitySearchStore, PointStore,
    PushStore,
    FenceStore,
    AlarmStore,
    CallbackStore, DistrictStore, ExportStore, RouteJobStore, StoreUpkeep
{}
