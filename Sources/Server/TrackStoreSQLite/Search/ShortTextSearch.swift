import SQLDatabase
import TrackModel
import TrackStore

/// A search for one to three characters in the order of names, without another condition: what a person asks who types.
///
/// Very many entities may match. But one word of the index tells such a part exactly, so it counts the matches without their
/// rows. The page then comes from the index of names, which is read only until the page is full.
struct ShortTextSearch {
    private let word: String
    private let isDescending: Bool

    /// Entries of the index of names that may be read for each match. Reading one of them takes about a third of the time
    /// that the row of a match takes.
    private static let entriesPerMatch = 3
    /// Entries after which it is guessed how many the page will need.
    private static let sample = 512

    /// Nil for a search of another kind.
    init?(_ search: EntitySearch, _ service: ServiceID) {
        guard search.area == nil, search.filter == EntityFilter(), search.order.key == .name,
            let word = EntityTexts.exactWord(SearchText.folded(search.keyword), in: service)
        else { return nil }
        self.word = word
        isDescending = search.order.isDescending
    }

    /// The number of all matches, and the numbers of a page's rows in their order. Nil when the page is so far behind, or
    /// the matches are so few, that reading the rows of all matches is faster.
    func page(
        _ page: Page, in service: ServiceID, _ database: any SQLConnection
    ) throws -> (total: Int, entities: [Int64])? {
        let matching = try database.statement("SELECT rowid FROM entity_text WHERE entity_text MATCH ?")
        // In the order of the numbers.
        let matches = try matching.values(Int64.self, [word])
        let first = min(max(0, page.offset), matches.count)
        let wanted = min(max(0, page.limit), matches.count - first)
        guard wanted > 0 else { return (matches.count, []) }
        let names = try database.statement(
            "SELECT id FROM entity WHERE service = ? ORDER BY name\(isDescending ? " DESC" : "")")
        let most = Self.entriesPerMatch * matches.count
        var (read, met) = (0, 0)
        var found: [Int64] = []
        found.reserveCapacity(wanted)
        try names.run([service.rawValue]) { row in
            let entity: Int64 = try row[0]
            if Self.contains(matches, entity) {
                if met >= first { found.append(entity) }
                met += 1
                if found.count == wanted { return false }
            }
            read += 1
            // The guess may be wrong by a factor, because names that match may stand together.
            let isHopeless = read == Self.sample && (first + wanted) * read > 4 * most * (met + 1)
            return read < most && !isHopeless
        }
        // Fewer also when the index has an entity that is not there: the rows decide.
        return found.count == wanted ? (matches.count, found) : nil
    }

    private static func contains(_ sorted: [Int64], _ number: Int64) -> Bool {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < sorted.count && sorted[low] == number
    }
}
