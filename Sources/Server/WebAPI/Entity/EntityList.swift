import JSON
import TrackModel
import TrackStore

/// The answer of the calls that list or find entities.
struct EntityList {
    let call: APICall
    let points: PointWriter

    init(_ call: APICall, _ store: any ColumnStore) async throws {
        self.call = call
        points = try await call.pointWriter(store)
    }

    /// The page that the client asked for.
    var page: Page {
        let page = call.parameters.page(defaultSize: 100, maximumSize: 1000)
        return Page(offset: (page.index - 1) * page.size, limit: page.size)
    }

    func answer(_ found: EntityFindings) -> Answer {
        answer(total: found.total, size: found.entities.count) { list in
            for entity in found.entities { list.object { write(entity, to: &$0) } }
        }
    }

    /// Without the entities themselves.
    func answer(total: Int) -> Answer { answer(total: total, size: 0) { _ in } }

    private func answer(total: Int, size: Int, _ write: (inout JSONWriter) -> Void) -> Answer {
        // The published service answers so when nothing matches at all, and clients read it as an empty list.
        let isNotFound = total == 0 && call.options.emptyListStatus == .notFound
        return Answer(isNotFound ? .noEntity : .success) { answer in
            answer.member("total", total)
            answer.member("size", size)
            answer.array("entities", write)
        }
    }

    private func write(_ found: FoundEntity, to object: inout JSONWriter) {
        let entity = found.record
        object.member("entity_name", entity.name)
        if !entity.description.isEmpty { object.member("entity_desc", entity.description) }
        if let text = points.clock.text(entity.created) { object.member("create_time", text) }
        if let text = points.clock.text(entity.modified) { object.member("modify_time", text) }
        for (key, value) in entity.values.sorted(by: { $0.key < $1.key }) { object.member(key, value) }
        object.object("latest_location") { location in
            guard let latest = entity.latest else { return PointWriter.writeNothing(to: &location) }
            points.write(latest.point, to: &location)
            guard let distance = found.distance else { return }
            location.name("distance")
            location.rounded(distance, digits: 3)
        }
    }
}
