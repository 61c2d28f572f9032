import Foundation
import Testing

/// The agent's half of docs/journal.md beside the log statements of the agent's sources.
@Suite struct AgentJournalTests {
    private struct Event: Hashable {
        var name: String
        var fields: Set<String>
    }

    /// The rows whose events come from the agent.
    private static func documented() throws -> [Event] {
        try Repository.text("docs/journal.md").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 4, ["both", "sakerd"].contains(cells[2]) else { return nil }
            let fields = cells.count > 4 ? cells[4].split(separator: ",") : []
            return Event(
                name: cells[0],
                fields: Set(fields.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }))
        }
    }

    /// The fields of each log statement, by the event that the statement names.
    private static func told() throws -> [String: [Set<String>]] {
        let folder = URL(filePath: Repository.root).appending(path: "Sources/Agent")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var told: [String: [Set<String>]] = [:]
        for case let file as URL in files ?? FileManager.DirectoryEnumerator() where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
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
        let (documented, told) = (try Self.documented(), try Self.told())
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
        let known = Set(try Self.documented().map(\.name))
        for name in try Self.told().keys { #expect(known.contains(name), "\(name)") }
    }
}
