import TrackModel
import TrackStore

extension EntityEndpoints {
    /// `entity/add`
    static let add = Endpoint(
        "entity/add", .post, ["entity_name", "entity_desc"], columns: .entity, about: \.namedEntity
    ) { (call, store: any EntityStore & ColumnStore) in
        let name = try call.entityName()
        if let problem = EntityName.problem(withNew: name) { throw APIFailure(.parameter, "entity_name: \(problem)") }
        let description = call.parameters["entity_desc"] ?? ""
        try call.checkText(description, "entity_desc", maximumBytes: 128)
        let values = try await values(call, store)
        try await store.addEntity(
            NewEntity(name: name, description: description, values: values), in: call.service, at: call.now)
        return .done
    }

    /// The parameters that are entity columns of the service.
    static func values(_ call: APICall, _ store: any ColumnStore) async throws -> [String: String] {
        var values: [String: String] = [:]
        for column in try await store.columns(of: .entity, in: call.service) {
            guard let value = call.parameters[column.key] else { continue }
            try call.checkText(value, column.key, maximumBytes: AttributeValue.maximumStringBytes)
            values[column.key] = value
        }
        return values
    }
}
