import Testing

/// The server's half of docs/journal.md beside the log statements of the server's sources.
@Suite struct ServerJournalTests {
    /// The metadata keys of each log statement, by the event that the statement names.
    private static func told() throws -> [String: [Set<String>]] {
        var told: [String: [Set<String>]] = [:]
        for text in try JournalDocument.sources(below: "Sources/Server") {
            for match in text.matches(of: /"message_id": "\\\(MessageID\.([a-zA-Z]+)\)"/) {
                told[String(match.1), default: []].append(keys(around: match.range, in: text))
            }
        }
        return told
    }

    /// The keys of the dictionary literal that a place is in, as fields of the journal.
    private static func keys(around place: Range<String.Index>, in text: String) -> Set<String> {
        var start = place.lowerBound
        while start > text.startIndex, text[start] != "[" { start = text.index(before: start) }
        let end = text[place.upperBound...].firstIndex(of: "]") ?? text.endIndex
        return Set(text[start..<end].matches(of: /"([a-z_]+)":/).map { String($0.1).uppercased() })
    }

    /// What the connection adds to each of its messages, see SessionJournal's `metadata`.
    private static let always: [String: Set<String>] = [
        "sessionRefused": ["ADDRESS"], "streamShared": ["ADDRESS", "ENTITY", "SERVICE", "SESSION"],
    ]

    @Test func everyEventOfTheServerIsTold() throws {
        let (documented, told) = (try JournalDocument.events(of: "saker-server"), try Self.told())
        #expect(documented.count > 10, "the rows were not found")
        for event in documented {
            let statements = try #require(told[event.name], "no log statement of the server names \(event.name)")
            for keys in statements {
                let keys = keys.union(Self.always[event.name] ?? [])
                #expect(event.fields.isSubset(of: keys), "\(event.name) is told with \(keys.sorted())")
            }
        }
    }

    @Test func everyEventThatTheServerTellsIsDocumented() throws {
        let known = Set(try JournalDocument.events(of: "saker-server").map(\.name))
        for name in try Self.told().keys { #expect(known.contains(name), "\(name)") }
    }
}
