import Foundation
import Testing

/// docs/journal.md beside the log statements of the sources.
@Suite struct JournalDocumentTests {
    @Test(arguments: JournalProgram.all) func everyEventIsTold(program: JournalProgram) throws {
        let (documented, told) = (try JournalDocument.events(of: program.name), try program.told())
        #expect(documented.count > 10, "the rows were not found")
        for event in documented {
            let statements = try #require(told[event.name], "no log statement of \(program) names \(event.name)")
            for fields in statements {
                let fields = fields.union(program.always[event.name] ?? [])
                #expect(event.fields.isSubset(of: fields), "\(event.name) is told with \(fields.sorted())")
            }
        }
    }

    @Test(arguments: JournalProgram.all) func everyEventThatIsToldIsDocumented(program: JournalProgram) throws {
        let known = Set(try JournalDocument.events(of: program.name).map(\.name))
        for name in try program.told().keys { #expect(known.contains(name), "\(name)") }
    }

    /// `journalctl -u` shows the message alone, with its reason and its details: two words in front of them tell nobody anything.
    @Test(arguments: JournalProgram.all) func everyMessageIsASentence(program: JournalProgram) throws {
        var count = 0
        for text in try JournalDocument.sources(below: program.folder) {
            for statement in text.matches(
                of: /[lL]og(?:ger)?\??\.(?:info|notice|warning|error|critical)\(\s*"([^"\\]{2,})"/)
            {
                count += 1
                let words = statement.1.split(separator: " ")
                #expect(words.count >= 3 || words.first == "saker-server", "\(statement.1)")
            }
        }
        #expect(count > 40, "the statements were not found")
    }
}

/// A program, and how its sources name an event of the journal.
struct JournalProgram: CustomTestStringConvertible, Sendable {
    let name: String
    let folder: String
    /// Fields that a statement takes from a variable or a function.
    let always: [String: Set<String>]
    private let statements: @Sendable (String) -> [(event: String, fields: Set<String>)]

    var testDescription: String { name }

    static let all = [agent, server]

    private static let agent = JournalProgram(
        name: "sakerd", folder: "Sources/Agent",
        always: ["alarmReceived": ["ENTITY", "TYPE", "NUMBER"], "hookFailed": ["REASON"]]
    ) { text in
        text.matches(of: /\.event\(\s*\.([a-zA-Z]+)(,\s*\[[^\]]*\])?/).map {
            (String($0.1), fields(in: $0.2 ?? ""))
        }
    }

    /// What the connection adds to each of its messages is in SessionJournal's `metadata`; RequestLog adds the service.
    private static let server = JournalProgram(
        name: "saker-server", folder: "Sources/Server",
        always: [
            "sessionRefused": ["ADDRESS"], "streamShared": ["ADDRESS", "ENTITY", "SERVICE", "SESSION"],
            "callbacksFailing": ["SERVICE"], "callbacksWorking": ["SERVICE"], "callbacksGivenUp": ["SERVICE"],
            "pointsUnreadable": ["SERVICE"],
        ]
    ) { text in
        text.matches(of: /"message_id": "\\\(MessageID\.([a-zA-Z]+)\)"/).map {
            (String($0.1), fields(in: literal(around: $0.range, in: text)))
        }
    }

    /// The fields of each log statement, by the event that the statement names.
    func told() throws -> [String: [Set<String>]] {
        var told: [String: [Set<String>]] = [:]
        for text in try JournalDocument.sources(below: folder) {
            for (event, fields) in statements(text) { told[event, default: []].append(fields) }
        }
        return told
    }

    /// The dictionary literal that a place is in.
    private static func literal(around place: Range<String.Index>, in text: String) -> Substring {
        let start = text[..<place.lowerBound].lastIndex(of: "[") ?? text.startIndex
        return text[start..<(text[place.upperBound...].firstIndex(of: "]") ?? text.endIndex)]
    }

    private static func fields(in text: Substring) -> Set<String> {
        Set(text.matches(of: /"([a-z_]+)":/).map { String($0.1).uppercased() })
    }
}

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
