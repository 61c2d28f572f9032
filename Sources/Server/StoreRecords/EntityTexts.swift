package import SQLDatabase
import TrackModel
package import TrackStore

/// The index of names and descriptions: the table `entity_text`.
///
/// Its words are *grams*: stretches of one, two and three neighbouring characters of a folded text, each with the number of
/// its service in front. So a search for a part of a text asks for the grams of the part, and reads nothing of other services.
/// The index only proposes entities: the texts themselves decide.
package enum EntityTexts {
    /// The entities that the index proposes, as `e`, when ``matches`` holds.
    static let joinedEntities = "entity_text t CROSS JOIN entity e ON e.id = t.rowid"
    /// The parameter is what ``query(_:in:)`` or ``exactWord(_:in:)`` gives.
    static let matches = "entity_text MATCH ?"

    /// Makes the index.
    package static let creation = """
        CREATE VIRTUAL TABLE entity_text USING fts5 (
            grams, content = '', detail = none, tokenize = 'ascii'
        )
        """

    /// A longer part is looked up by its first grams.
    private static let mostGrams = 16
    /// Of a gram.
    private static let mostCharacters = 3

    package static func add(
        _ entity: Int64, _ key: EntityKey, description: String, _ database: any SQLConnection
    ) throws {
        let insertion = try database.statement("INSERT INTO entity_text (rowid, grams) VALUES (?, ?)")
        try insertion.execute([entity, grams(key, description: description)])
    }

    /// The texts must be those with which the entity was added.
    static func remove(_ entity: Int64, _ key: EntityKey, description: String, _ database: any SQLConnection) throws {
        let removal = try database.statement(
            "INSERT INTO entity_text (entity_text, rowid, grams) VALUES ('delete', ?, ?)")
        try removal.execute([entity, grams(key, description: description)])
    }

    /// What the index must match when a text holds a folded part, which is not empty.
    static func query(_ part: [UInt8], in service: ServiceID) -> String {
        let characters = characters(part)
        let length = min(characters.count, mostCharacters)
        var words: [String] = []
        for start in 0...(characters.count - length) where words.count < mostGrams {
            let word = String(decoding: prefix(service) + characters[start..<(start + length)].joined(), as: UTF8.self)
            if !words.contains(word) { words.append(word) }
        }
        return words.joined(separator: " AND ")
    }

    /// The one word that exactly those texts have in which a folded part is; nil for a part that is empty, or too long for one.
    static func exactWord(_ part: [UInt8], in service: ServiceID) -> String? {
        (1...mostCharacters).contains(characters(part).count) ? query(part, in: service) : nil
    }

    private static func grams(_ key: EntityKey, description: String) -> String {
        let prefix = prefix(key.service)
        // The index passes over repeats of a word.
        var words: [UInt8] = []
        for text in [key.name, description] {
            let characters = characters(SearchText.folded(text))
            for start in characters.indices {
                for end in (start + 1)...(start + mostCharacters) where end <= characters.count {
                    words += prefix
                    for character in characters[start..<end] { words += character }
                    words.append(UInt8(ascii: " "))
                }
            }
        }
        return String(decoding: words, as: UTF8.self)
    }

    // Letters and digits alone: the index takes everything else for the space between words.

    private static func prefix(_ service: ServiceID) -> [UInt8] { Array(String(service.rawValue, radix: 16).utf8) }

    private static func characters(_ text: [UInt8]) -> [[UInt8]] {
        String(decoding: text, as: UTF8.self).unicodeScalars.map { Array("z\(String($0.value, radix: 16))".utf8) }
    }
}

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
        let matching = try database.statement("SELECT rowid FROM entity_text WHERE \(EntityTexts.matches)")
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
