import TrackStore

extension ColumnEndpoints {
    /// `entity/deletecolumn`, `track/deletecolumn`
    static func delete(_ kind: ColumnKind) -> Endpoint {
        Endpoint("\(kind.rawValue)/deletecolumn", .post, ["column_key"]) { (call, store: any ColumnStore) in
            let key = try call.parameters.required("column_key")
            try await store.deleteColumn(named: key, of: kind, in: call.service)
            call.noteRemoval("a column is removed with its values", of: "\(kind.rawValue) \(key)")
            return .done
        }
    }
}
