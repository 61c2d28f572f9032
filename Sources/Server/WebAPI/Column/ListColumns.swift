import JSON
import TrackModel
import TrackStore

extension ColumnEndpoints {
    /// `entity/listcolumn`, `track/listcolumn`
    static func list(_ kind: ColumnKind) -> Endpoint {
        Endpoint("\(kind.rawValue)/listcolumn", .get, []) { (call, store: any ColumnStore) in
            let columns = try await store.columns(of: kind, in: call.service)
            return Answer { answer in
                answer.array("columns") { list in
                    for column in columns { list.object { write(column, kind, call.clock, to: &$0) } }
                }
            }
        }
    }

    private static func write(
        _ column: ColumnRecord, _ kind: ColumnKind, _ clock: WallClock, to object: inout JSONWriter
    ) {
        object.member("column_key", column.key)
        object.member("column_desc", column.description)
        switch kind {
        case .track: object.member("column_type", column.type.number)
        case .entity: object.member("is_search", column.isSearchable ? 1 : 0)
        }
        guard let text = clock.text(column.created) else { return }
        object.member("create_time", text)
        // Nothing of a column changes once it is made.
        if kind == .entity { object.member("modify_time", text) }
    }
}

extension AttributeType {
    /// The published code.
    var number: Int {
        switch self {
        case .integer: 1
        case .double: 2
        case .string: 3
        }
    }
}
