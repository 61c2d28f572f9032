/// Which points `ClearCache` removes: those that match every condition. Without a condition it removes all points.
package struct CacheSelection: Hashable, Sendable {
    /// Nil for all entities.
    package var entities: [String]?
    /// Milliseconds since 1970, included; nil for open.
    package var from: Int64?
    package var through: Int64?

    package init(entities: [String]? = nil, from: Int64? = nil, through: Int64? = nil) {
        self.entities = entities
        self.from = from
        self.through = through
    }
}
