package import TrackModel

/// Which entities to list; all conditions must hold.
package struct EntityFilter: Hashable, Sendable {
    /// Nil: any name. Unknown names match nothing. At most ``maximumNames`` different ones.
    package var names: [String]?
    /// Only those whose latest point is at or after this.
    package var activeSince: Timestamp?
    /// Only those whose latest point is before this, or that have none.
    package var inactiveSince: Timestamp?
    /// Only those that have exactly these values of entity columns. Unknown columns match nothing.
    package var values: [String: String]

    /// Most different names of a filter.
    package static let maximumNames = 30_000

    package init(
        names: [String]? = nil, activeSince: Timestamp? = nil, inactiveSince: Timestamp? = nil,
        values: [String: String] = [:]
    ) {
        self.names = names
        self.activeSince = activeSince
        self.inactiveSince = inactiveSince
        self.values = values
    }
}
