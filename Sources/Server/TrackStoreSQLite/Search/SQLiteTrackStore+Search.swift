import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func search(
        _ search: EntitySearch, in service: ServiceID, page: Page
    ) async throws(TrackStoreError) -> EntityFindings {
        let condition = try EntityCondition(search.filter, in: service)
        return try await reading { database in
            guard search.area != nil || !search.keyword.isEmpty else {
                let found = try Self.entities(meeting: condition, sortedBy: search.order, page, database)
                return EntityFindings(total: found.total, entities: found.entities.map { FoundEntity($0, in: nil) })
            }
            if let short = ShortTextSearch(search, service),
                let (total, wanted) = try short.page(page, in: service, database)
            {
                return try Self.findings(total, wanted, search, database)
            }
            var sieve = EntitySieve(search, condition, service)
            try sieve.run(database)
            let wanted = sieve.page(page)
            return try Self.findings(sieve.found.count, wanted, read: sieve.contents, search, database)
        }
    }

    /// `wanted`: the numbers of the rows of the page. `read`: those rows, if they were read before.
    private static func findings(
        _ total: Int, _ wanted: [Int64], read: [Int64: EntityContent]? = nil, _ search: EntitySearch,
        _ database: any SQLConnection
    ) throws -> EntityFindings {
        let contents = try read ?? contents(of: wanted, database)
        let records = try records(wanted.compactMap { contents[$0] }, database)
        return EntityFindings(total: total, entities: records.map { FoundEntity($0, in: search.area) })
    }

    /// By the numbers of their rows.
    private static func contents(of entities: [Int64], _ database: any SQLConnection) throws -> [Int64: EntityContent] {
        let list = "[" + entities.map(String.init).joined(separator: ",") + "]"
        let select = try database.statement(
            selectEntities + " WHERE e.id IN (SELECT value FROM json_each(?))")
        var contents: [Int64: EntityContent] = [:]
        contents.reserveCapacity(entities.count)
        try select.forEach([list]) { row in
            let content = try EntityContent(row)
            contents[content.number] = content
        }
        return contents
    }
}
