import Foundation

/// docs/journal.md, and the sources that it is compared with.
enum JournalDocument {
    struct Event: Hashable {
        var name: String
        var fields: Set<String>
    }

    /// The rows whose events come from a program.
    static func events(of program: String) throws -> [Event] {
        try Repository.text("docs/journal.md").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 4, ["both", program].contains(cells[2]) else { return nil }
            let fields = cells.count > 4 ? cells[4].split(separator: ",") : []
            return Event(
                name: cells[0],
                fields: Set(fields.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }))
        }
    }

    /// The text of every Swift file below a folder of the repository.
    static func sources(below folder: String) throws -> [String] {
        let files = FileManager.default.enumerator(
            at: URL(filePath: Repository.root).appending(path: folder), includingPropertiesForKeys: nil)
        return try (files?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }
}
