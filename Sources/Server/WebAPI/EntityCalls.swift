import TrackModel
import TrackStore

extension APICall {
    /// `entity/add`
    func addEntity() async throws(APIFailure) -> [JSON.Member] {
        let name = try entityName()
        if let problem = EntityName.problem(with: name) { throw APIFailure(.parameter, "entity_name: \(problem)") }
        let description = parameters["entity_desc"] ?? ""
        guard description.utf8.count <= 128 else {
            throw APIFailure(.parameter, "entity_desc has at most 128 bytes of UTF-8")
        }
        guard !description.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        else {
            throw APIFailure(.parameter, "entity_desc must not hold control characters")
        }
        do throws(TrackStoreError) {
            try await store.addEntity(NewEntity(name: name, description: description), in: caller.service, at: now)
        } catch {
            throw failure(error)
        }
        return []
    }

    /// `entity/list`
    func listEntities() async throws(APIFailure) -> [JSON.Member] {
        let filter = try EntityFilter(parsing: parameters["filter"])
        let writer = try pointJSON()
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
        if let latest = record.latest {
            members.append(JSON.Member("latest_location", .object(writer.members(latest.point))))
        }
        return .object(members)
    }
}
