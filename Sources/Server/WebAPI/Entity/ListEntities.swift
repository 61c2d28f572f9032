import TrackStore

extension EntityEndpoints {
    /// `entity/list`
    static let list = Endpoint(
        "entity/list", .get, ["filter", "coord_type_output", "page_index", "page_size"],
        reading: { call, store in try await EntityFilter(call, store) }, about: \.subject
    ) { (filter, call, store: any EntityStore & ColumnStore) in
        let list = try await EntityList(call, store)
        let found = try await store.entities(in: call.service, matching: filter, page: list.page)
        return list.answer(
            EntityFindings(total: found.total, entities: found.entities.map { FoundEntity($0, in: nil) }))
    }
}
