import JSON
import TrackModel
import TrackStore

extension EntityEndpoints {
    /// `entity/list`
    static let list = Endpoint(
        "entity/list", .get, ["filter", "coord_type_output", "page_index", "page_size"],
        reading: { call, store in try await EntityFilter(call, store) }, about: \.subject
    ) { (filter, call, store: any EntityStore & ColumnStore) in
        let points = try await call.pointWriter(store)
        let page = call.parameters.page(defaultSize: 100, maximumSize: 1000)
        let found = try await store.entities(
            in: call.service, matching: filter, page: Page(offset: (page.index - 1) * page.size, limit: page.size))
        // The published service answers so when nothing matches at all, and clients read it as an empty list.
        let isNotFound = found.total == 0 && call.options.emptyListStatus == .notFound
        return Answer(isNotFound ? .noEntity : .success) { answer in
            answer.member("total", found.total)
            answer.member("size", found.entities.count)
            answer.array("entities") { list in
                for entity in found.entities { list.object { write(entity, points, to: &$0) } }
            }
        }
    }

    private static func write(_ entity: EntityRecord, _ points: PointWriter, to object: inout JSONWriter) {
        object.member("entity_name", entity.name)
        if !entity.description.isEmpty { object.member("entity_desc", entity.description) }
        if let text = points.clock.text(entity.created) { object.member("create_time", text) }
        if let text = points.clock.text(entity.modified) { object.member("modify_time", text) }
        for (key, value) in entity.values.sorted(by: { $0.key < $1.key }) { object.member(key, value) }
        if let latest = entity.latest { object.object("latest_location") { points.write(latest.point, to: &$0) } }
    }
}
