package import Geofencing
package import TrackModel

/// A fence of a service, as a store has it. Whom it watches is in its definition.
package struct FenceRecord: Hashable, Sendable {
    package var fence: Fence
    /// The number of the fence's last change. Each change of a fence of a service has a greater number than every change
    /// before.
    package var version: Int64
    /// Since when the fence watches every entity; nil when it does not.
    package var everyoneSince: Timestamp?

    package init(fence: Fence, version: Int64, everyoneSince: Timestamp?) {
        self.fence = fence
        self.version = version
        self.everyoneSince = everyoneSince
    }
}

/// A fence that watches an entity by its name.
package struct WatchedFence: Hashable, Sendable {
    package var record: FenceRecord
    /// Since when the fence watches the entity: earlier points are not judged by the fence.
    package var since: Timestamp

    package init(record: FenceRecord, since: Timestamp) {
        self.record = record
        self.since = since
    }
}
