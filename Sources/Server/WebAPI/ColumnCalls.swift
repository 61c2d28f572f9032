import TrackModel
import TrackStore

// The calls that manage a service's custom columns.
extension APICall {
    /// `track/addcolumn`, `entity/addcolumn`
    func addColumn(_ kind: ColumnKind) async throws(APIFailure) -> [JSON.Member] {
        let key = try parameters.required("column_key")
        switch ColumnKey.problem(with: key) {
        case nil: break
        case .reserved: throw APIFailure(.columnReserved)
        case .malformed(let rule): throw APIFailure(.parameter, "column_key: \(rule)")
        }
        let description = parameters["column_desc"] ?? ""
        try checkText(description, "column_desc", maximumBytes: 128)
        let column = ColumnRecord(
            key: key, type: kind == .track ? try columnType() : .string, description: description,
            isSearchable: kind == .entity ? try parameters.flag("is_search") : false, created: now)
        do throws(TrackStoreError) {
            try await store.addColumn(column, of: kind, in: caller.service)
        } catch {
            throw failure(error, kind)
        }
        return []
    }

    /// `track/deletecolumn`, `entity/deletecolumn`
    func deleteColumn(_ kind: ColumnKind) async throws(APIFailure) -> [JSON.Member] {
        let key = try parameters.required("column_key")
        do throws(TrackStoreError) {
            try await store.deleteColumn(named: key, of: kind, in: caller.service)
        } catch {
            throw failure(error, kind)
        }
        return []
    }

    /// `track/listcolumn`, `entity/listcolumn`
    func listColumns(_ kind: ColumnKind) async throws(APIFailure) -> [JSON.Member] {
        let columns = try await columns(of: kind).map { column in
            var members = [
                JSON.Member("column_key", .string(column.key)), JSON.Member("column_desc", .string(column.description)),
            ]
            switch kind {
            case .track: members.append(JSON.Member("column_type", .integer(column.type.number)))
            case .entity: members.append(JSON.Member("is_search", .integer(column.isSearchable ? 1 : 0)))
            }
            if let text = clock.text(column.created) {
                members.append(JSON.Member("create_time", .string(text)))
                // Nothing of a column changes once it is made.
                if kind == .entity { members.append(JSON.Member("modify_time", .string(text))) }
            }
            return JSON.object(members)
        }
        return [JSON.Member("columns", .array(columns))]
    }

    private func columnType() throws(APIFailure) -> AttributeType {
        let number = try parameters.requiredInteger("column_type")
        guard let type = AttributeType.allCases.first(where: { Int64($0.number) == number }) else {
            throw APIFailure(.parameter, "column_type must be 1 (int), 2 (double) or 3 (string)")
        }
        return type
    }

    private func failure(_ error: TrackStoreError, _ kind: ColumnKind) -> APIFailure {
        switch (error.code, kind) {
        case (.columnExists, .entity): APIFailure(.entityColumnExists)
        // There is no published code for these two.
        case (.tooManyColumns, .entity):
            APIFailure(.parameter, "a service has at most \(ColumnRecord.maximumCount) entity columns")
        case (.unknownColumn, .track): APIFailure(.parameter, "column_key: the service has no such track column")
        default: failure(error)
        }
    }

    /// Text for people.
    func checkText(_ text: String, _ name: String, maximumBytes: Int) throws(APIFailure) {
        guard text.utf8.count <= maximumBytes else {
            throw APIFailure(.parameter, "\(name) has at most \(maximumBytes) bytes of UTF-8")
        }
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) else {
            throw APIFailure(.parameter, "\(name) must not hold control characters")
        }
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
