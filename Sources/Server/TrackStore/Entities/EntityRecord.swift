package import TrackModel

package struct EntityRecord: Hashable, Sendable {
    package var name: String
    package var description: String
    package var created: Timestamp
    package var modified: Timestamp
    /// The stored point with the greatest time, or a newer one that was told ahead of its track.
    package var latest: StoredPoint?
    /// By entity column.
    package var values: [String: String]

    package init(
        name: String, description: String, created: Timestamp, modified: Timestamp, latest: StoredPoint?,
        values: [String: String] = [:]
    ) {
        self.name = name
        self.description = description
        self.created = created
        self.modified = modified
        self.latest = latest
        self.values = values
    }
}
