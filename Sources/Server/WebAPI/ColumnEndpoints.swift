import JSON
import TrackModel
import TrackStore

/// The calls that manage a service's custom columns. Each module whose subjects have columns lists these calls among
/// its own.
enum ColumnEndpoints {
    static func all(of kind: ColumnKind) -> [Endpoint] { [add(kind), delete(kind), list(kind)] }
}

extension ColumnEndpoints {
    /// `entity/addcolumn`, `track/addcolumn`
    static func add(_ kind: ColumnKind) -> Endpoint {
        let own = kind == .track ? "column_type" : "is_search"
        return Endpoint("\(kind.rawValue)/addcolumn", .post, ["column_key", "column_desc", own]) {
            (call, store: any ColumnStore) in
            try await store.addColumn(try column(kind, call), of: kind, in: call.service)
            return .done
        }
    }

    private static func column(_ kind: ColumnKind, _ call: APICall) throws(APIFailure) -> ColumnRecord {
        let key = try call.parameters.required("column_key")
        switch ColumnKey.problem(with: key, kind) {
        case nil: break
        case .everyPointHasIt: throw APIFailure(.columnReserved, "\(key) needs no column: every point may carry it")
        case .reserved: throw APIFailure(.columnReserved)
        case .malformed(let rule): throw APIFailure(.parameter, "column_key: \(rule)")
        }
        let description = call.parameters["column_desc"] ?? ""
        try call.checkText(description, "column_desc", maximumBytes: 128)
        return ColumnRecord(
            key: key, type: kind == .track ? try type(call) : .string, description: description,
            isSearchable: kind == .entity ? try call.parameters.flag("is_search") : false, created: call.now)
    }

    private static func type(_ call: APICall) throws(APIFailure) -> AttributeType {
        let number = try call.parameters.requiredInteger("column_type")
        guard let type = AttributeType.allCases.first(where: { Int64($0.number) == number }) else {
            throw APIFailure(.parameter, "column_type must be 1 (int), 2 (double) or 3 (string)")
        }
        return type
    }

    /// `entity/deletecolumn`, `track/deletecolumn`
    static func delete(_ kind: ColumnKind) -> Endpoint {
        Endpoint("\(kind.rawValue)/deletecolumn", .post, ["column_key"]) { (call, store: any ColumnStore) in
            let key = try call.parameters.required("column_key")
            try await store.deleteColumn(named: key, of: kind, in: call.service)
            call.noteRemoval("a column is removed with its values", of: "\(kind.rawValue) \(key)")
            return .done
        }
    }

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
