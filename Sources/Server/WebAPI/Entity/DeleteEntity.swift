import TrackStore

extension EntityEndpoints {
    /// `entity/delete`: the entity goes with its track. A vehicle may not delete even itself, unless the policy lets it ask
    /// about the whole service.
    static let delete = Endpoint("entity/delete", .post, ["entity_name"]) { (call, store: any EntityStore) in
        try await store.deleteEntity(named: try call.entityName(), in: call.service, at: call.now)
        return .done
    }
}
