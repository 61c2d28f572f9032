import SQLDatabase
import TrackModel
import TrackStore

/// The index of names and descriptions: the table `entity_text`.
///
/// Its words are *grams*: stretches of one, two and three neighbouring characters of a folded text, each with the number of
/// its service in front. So a search for a part of a text asks for the grams of the part, and reads nothing of other services.
/// The index only proposes entities: the texts themselves decide.
enum EntityTexts {
    /// A longer part is looked up by its first grams.
    private static let mostGrams = 16
    /// Of a gram.
    private static let mostCharacters = 3

    static func add(_ entity: Int64, _ key: EntityKey, description: String, _ database: any SQLConnection) throws {
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
