import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLRecordStore {
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
            var sieve = EntityCandidateFilter(search, condition, service)
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
            EntityContent.selection + " WHERE e.id IN \(database.dialect.numbers())")
        var contents: [Int64: EntityContent] = [:]
        contents.reserveCapacity(entities.count)
        try select.forEach([list]) { row in
            let content = try EntityContent(row)
            contents[content.number] = content
        }
        return contents
    }
}

/// Where an entity that was found stands in the order of a search.
struct EntityRank {
    /// A text whose first bytes decide most comparisons at once.
    struct Text: Comparable {
        private let head: UInt64
        private let rest: UInt64
        private let text: String

        init(_ text: String) {
            self.text = text
            var (head, rest): (UInt64, UInt64) = (0, 0)
            for (index, byte) in text.utf8.prefix(16).enumerated() {
                if index < 8 {
                    head |= UInt64(byte) << (56 - 8 * index)
                } else {
                    rest |= UInt64(byte) << (120 - 8 * index)
                }
            }
            (self.head, self.rest) = (head, rest)
        }

        static func == (left: Self, right: Self) -> Bool {
            left.head == right.head && left.rest == right.rest && left.text.utf8.elementsEqual(right.text.utf8)
        }

        static func < (left: Self, right: Self) -> Bool {
            if left.head != right.head { return left.head < right.head }
            if left.rest != right.rest { return left.rest < right.rest }
            return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
        }
    }

    enum Key: Comparable {
        case number(Double)
        case text(Text)

        /// Nil for an empty text: it is no value.
        init?(_ text: String) {
            guard !text.isEmpty else { return nil }
            self = .text(Text(text))
        }
    }

    let entity: Int64
    /// Nil: sorted by the name alone, or the entity has no value and comes after those that have one.
    let key: Key?
    let name: Text

    func precedes(_ other: Self, isDescending: Bool) -> Bool {
        switch (key, other.key) {
        case (let key?, let other?) where key != other: isDescending ? key > other : key < other
        case (_?, nil): true
        case (nil, _?): false
        default: name < other.name
        }
    }
}
