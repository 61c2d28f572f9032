package import TrackModel

/// The offsets of a time zone from UTC, as far as they are known: the agent has no time zone data of its own.
package struct ZoneOffsets: Hashable, Sendable {
    /// Seconds east of UTC before the first change.
    package let first: Int32
    /// Changes in the order of their times: from `time` on the offset is `seconds`.
    package let changes: [Change]

    package struct Change: Hashable, Sendable {
        package let time: Timestamp
        package let seconds: Int32

        package init(time: Timestamp, seconds: Int32) {
            self.time = time
            self.seconds = seconds
        }
    }

    /// Changes come in any order.
    package init(first: Int32, changes: [Change] = []) {
        self.first = first
        self.changes = changes.sorted { $0.time < $1.time }
    }

    package static let utc = Self(first: 0)

    func offset(at time: Timestamp) -> Int32 {
        changes.last { $0.time <= time }?.seconds ?? first
    }
}
