import Testing

/// The agent's half of docs/journal.md beside the log statements of the agent's sources.
@Suite struct AgentJournalTests {
    /// The fields of each log statement, by the event that the statement names.
    private static func told() throws -> [String: [Set<String>]] {
        var told: [String: [Set<String>]] = [:]
        for text in try JournalDocument.sources(below: "Sources/Agent") {
            for match in text.matches(of: /\.event\(\s*\.([a-zA-Z]+)(,\s*\[[^\]]*\])?/) {
                let fields = match.2?.matches(of: /"([a-z_]+)":/).map { String($0.1).uppercased() } ?? []
                told[String(match.1), default: []].append(Set(fields))
            }
        }
        return told
    }

    /// The fields that a statement takes from a variable, see HookShell.
    private static let always: [String: Set<String>] = ["hookFailed": ["REASON"]]

    @Test func everyEventOfTheAgentIsTold() throws {
        let (documented, told) = (try JournalDocument.events(of: "sakerd"), try Self.told())
        #expect(documented.count > 20, "the rows were not found")
        for event in documented {
            guard let statements = told[event.name] else {
                Issue.record("no log statement of the agent names \(event.name)")
                continue
            }
            for fields in statements {
                let fields = fields.union(Self.always[event.name] ?? [])
                #expect(event.fields.isSubset(of: fields), "\(event.name) is told with \(fields.sorted())")
            }
        }
    }

    @Test func everyEventThatTheAgentTellsIsDocumented() throws {
        let known = Set(try JournalDocument.events(of: "sakerd").map(\.name))
        for name in try Self.told().keys { #expect(known.contains(name), "\(name)") }
    }
}
