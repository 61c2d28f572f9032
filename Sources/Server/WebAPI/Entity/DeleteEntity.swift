import TrackStore

extension EntityEndpoints {
    /// `entity/delete`: the entity goes with its track. A vehicle may not delete even itself, unless the policy lets it ask
    /// about the whole service.
    static let delete = Endpoint("entity/delete", .post, ["entity_name"]) {
        (call, store: any EntityStore & ServiceStore) in
        let name = try call.entityName()
        do throws(TrackStoreError) {
            try await store.deleteEntity(named: name, in: call.service, at: call.now)
            call.noteRemoval("an entity is removed with its track", of: name)
        } catch {
            // Some clients delete twice, and expect that the second time does no harm.
            guard error.code == .unknownEntity else { throw error }
            let wanted = try await store.answers(of: call.service).unknownEntity ?? call.options.unknownEntity
            guard wanted == .success else { throw error }
        }
        return .done
    }
}
