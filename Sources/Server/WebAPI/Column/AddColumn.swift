import TrackModel
import TrackStore

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
}
