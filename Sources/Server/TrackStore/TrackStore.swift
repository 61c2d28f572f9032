/// What every store of the fleet's tracks must do: one small protocol a subject.
///
/// All methods may be called from any task at any time. Reads see every commit that finished before they began. The
/// suite of each protocol is in TrackTestKit and runs against every implementation.
///
/// A room that needs one subject asks for that protocol alone.
package protocol TrackStore: ServiceStore, ColumnStore, EntityStore, PointStore, PushStore, StoreUpkeep {}
