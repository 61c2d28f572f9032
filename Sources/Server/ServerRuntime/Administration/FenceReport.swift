package import Geofencing
package import TrackModel
import TrackStore

/// A fence as an administrator is told of it.
package struct FenceReport: Sendable {
    let record: FenceRecord

    init(_ record: FenceRecord) {
        self.record = record
    }

    package var fence: Fence { record.fence }
    package var number: Int32 { record.fence.id }
    package var revision: Int32 { record.fence.revision }
    package var name: String { record.fence.definition.name }

    /// Since when it watches everyone.
    package var everyoneSince: Timestamp? { record.everyoneSince }
}
