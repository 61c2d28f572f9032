import Geofencing
import TrackModel
import TrackStore

/// An alarm as an administrator is told of it.
package struct AlarmLine: Sendable {
    private let record: AlarmRecord

    init(_ record: AlarmRecord) {
        self.record = record
    }

    package var received: String { TimeText.universal(record.received) }
    /// When the point was made that proved it.
    package var happened: String { TimeText.universal(record.alarm.point.time) }
    package var entity: String { record.entity }
    /// Its number and its revision. A fence of a vehicle's own bears the vehicle's number.
    package var fence: String {
        (record.alarm.source == .server ? "" : "own ") + "\(record.alarm.fence) rev. \(record.alarm.revision)"
    }
    package var action: String { record.alarm.action.rawValue }
    package var name: String { record.alarm.name }
    /// Judged by a fence that had been replaced; told by the vehicle alone.
    package var state: String {
        [record.alarm.isStale ? "stale" : nil, record.alarm.isReported ? "reported" : nil].compactMap(\.self)
            .joined(separator: ", ")
    }
}
