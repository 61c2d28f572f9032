import JSON
import TrackModel
import TrackStore

/// The module `entity`: what is tracked.
enum EntityEndpoints {
    static let all = [add, update, delete, list] + searches + ColumnEndpoints.all(of: .entity)
}

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
