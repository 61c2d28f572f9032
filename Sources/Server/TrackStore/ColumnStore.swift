package import TrackModel

/// The custom columns of services.
package protocol ColumnStore: Sendable {
    /// Throws `.columnExists`, `.tooManyColumns` beyond ``ColumnRecord/maximumCount``, `.unknownService`.
    func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError)
    /// Deletes a column, of entities with all its values; points keep theirs. Throws `.unknownColumn`.
    func deleteColumn(
        named key: String, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError)
    /// In the order of their keys (bytes of UTF-8); empty for an unknown service.
    func columns(of kind: ColumnKind, in service: ServiceID) async throws(TrackStoreError) -> [ColumnRecord]
}

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

/// The name of a custom column: the rule, and the names that mean something else already.
package enum ColumnKey {
    package enum Problem: Error, Hashable, Sendable {
        /// A sentence that names the rule.
        case malformed(String)
        /// The name has a meaning in the Web API.
        case reserved
        /// Every point may carry this value, without a column.
        case everyPointHasIt
    }

    /// Every name that a request or an answer uses for something else. Names with a leading underscore are the system's.
    private static let reserved: Set<String> = [
        "ak", "callback", "column_desc", "column_key", "column_type", "coord_type", "coord_type_input",
        "coord_type_output", "create_time", "direction", "distance", "end_time", "entity_desc", "entity_name", "error",
        "filter", "floor", "height", "is_search", "latest_location", "latitude", "loc_time", "locate_mode", "longitude",
        "mcode", "modify_time", "object_name", "page_index", "page_size", "point_list", "process_option", "query",
        "radius", "road_grade", "road_name", "service_id", "sn", "sortby", "speed", "start_time", "timestamp",
        "transport_mode", "active_time", "inactive_time", "entity_names", "parked", "clock_time",
    ]

    /// Nil when a column may be named so: ASCII letters, digits, `_` and `-`, 1 to 128 of them.
    package static func problem(with key: String, _ kind: ColumnKind) -> Problem? {
        let isPlain = key.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "_-".utf8.contains(byte)
        }
        guard isPlain, (1...AttributeValue.maximumKeyBytes).contains(key.utf8.count) else {
            return .malformed(
                "a column key has 1 to \(AttributeValue.maximumKeyBytes) ASCII letters, digits, '_' and '-'")
        }
        if kind == .track, key == FloorAttribute.key { return .everyPointHasIt }
        return key.hasPrefix("_") || reserved.contains(key) ? .reserved : nil
    }
}

/// Whether custom columns belong to points or to entities.
package enum ColumnKind: String, Hashable, Sendable, CaseIterable {
    case track, entity
}
