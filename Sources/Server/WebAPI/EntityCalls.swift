import TrackModel
import TrackStore

extension APICall {
    /// `entity/add`
    func addEntity() async throws(APIFailure) -> [JSON.Member] {
        let name = try entityName()
        if let problem = EntityName.problem(with: name) { throw APIFailure(.parameter, "entity_name: \(problem)") }
        let description = parameters["entity_desc"] ?? ""
        try checkText(description, "entity_desc", maximumBytes: 128)
        let values = try await entityValues()
        do throws(TrackStoreError) {
            try await store.addEntity(
                NewEntity(name: name, description: description, values: values), in: caller.service, at: now)
        } catch {
            throw failure(error)
        }
        return []
    }

    /// `entity/update`: only what is given changes.
    func updateEntity() async throws(APIFailure) -> [JSON.Member] {
        let name = try entityName()
        let description = parameters["entity_desc"]
        if let description { try checkText(description, "entity_desc", maximumBytes: 128) }
        let values = try await entityValues()
        do throws(TrackStoreError) {
            try await store.updateEntity(
                EntityChange(name: name, description: description, values: values), in: caller.service, at: now)
        } catch {
            throw failure(error)
        }
        return []
    }

    /// The parameters that are entity columns of the service.
    private func entityValues() async throws(APIFailure) -> [String: String] {
        var values: [String: String] = [:]
        for column in try await columns(of: .entity) {
            guard let value = parameters[column.key] else { continue }
            try checkText(value, column.key, maximumBytes: AttributeValue.maximumStringBytes)
            values[column.key] = value
        }
        return values
    }

    /// `entity/list`
    func listEntities() async throws(APIFailure) -> [JSON.Member] {
        let searchable = try await columns(of: .entity).filter(\.isSearchable).map(\.key)
        let filter = try EntityFilter(parsing: parameters["filter"], searchable: Set(searchable))
        let writer = try await pointJSON()
        let page = parameters.page(defaultSize: 100, maximumSize: 1000)
        let found: (total: Int, entities: [EntityRecord])
        do throws(TrackStoreError) {
            found = try await store.entities(
                in: caller.service, matching: filter, page: Page(offset: (page.index - 1) * page.size, limit: page.size)
            )
        } catch {
            throw failure(error)
        }
        let members = [
            JSON.Member("total", .integer(found.total)),
            JSON.Member("size", .integer(found.entities.count)),
            JSON.Member("entities", .array(found.entities.map { entity($0, writer) })),
        ]
        // The published service answers so when nothing matches at all, and clients read it as an empty list.
        if found.total == 0, options.emptyListStatus == .notFound { throw APIFailure(.noEntity, members: members) }
        return members
    }

    private func entity(_ record: EntityRecord, _ writer: PointJSON) -> JSON {
        var members = [JSON.Member("entity_name", .string(record.name))]
        if !record.description.isEmpty { members.append(JSON.Member("entity_desc", .string(record.description))) }
        if let text = clock.text(record.created) { members.append(JSON.Member("create_time", .string(text))) }
        if let text = clock.text(record.modified) { members.append(JSON.Member("modify_time", .string(text))) }
        for (key, value) in record.values.sorted(by: { $0.key < $1.key }) {
            members.append(JSON.Member(key, .string(value)))
        }
        if let latest = record.latest {
            members.append(JSON.Member("latest_location", .object(writer.members(latest.point))))
        }
        return .object(members)
    }
}
