package import TrackModel

/// A custom column of a service.
package struct ColumnRecord: Hashable, Sendable {
    /// Must satisfy ``ColumnKey``; the caller has checked.
    package var key: String
    /// Always `string` for an entity column.
    package var type: AttributeType
    /// For people; at most 128 bytes of UTF-8, empty means none.
    package var description: String
    /// An entity column by whose values entities are selected.
    package var isSearchable: Bool
    package var created: Timestamp

    package init(
        key: String, type: AttributeType, description: String = "", isSearchable: Bool = false, created: Timestamp
    ) {
        self.key = key
        self.type = type
        self.description = description
        self.isSearchable = isSearchable
        self.created = created
    }

    /// Columns of one kind that a service may have: what a point may carry.
    package static let maximumCount = AttributeValue.maximumCount
}

extension [ColumnRecord] {
    /// What points keep with these track columns.
    package var schema: AttributeSchema {
        AttributeSchema(lazy.map { AttributeColumn(key: $0.key, type: $0.type) })
    }
}
