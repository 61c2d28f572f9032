import TrackStore

extension EntityEndpoints {
    /// `entity/update`: only what is given changes.
    static let update = Endpoint(
        "entity/update", .post, ["entity_name", "entity_desc"], columns: .entity, about: \.namedEntity
    ) { (call, store: any EntityStore & ColumnStore) in
        let name = try call.entityName()
        let description = call.parameters["entity_desc"]
        if let description { try call.checkText(description, "entity_desc", maximumBytes: 128) }
        let values = try await values(call, store)
        try await store.updateEntity(
            EntityChange(name: name, description: description, values: values), in: call.service, at: call.now)
        return .done
    }
}
