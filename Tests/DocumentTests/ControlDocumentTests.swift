import AgentControl
import Foundation
import Testing

/// docs/control.md beside the interface that the agent describes and the commands that there are.
@Suite struct ControlDocumentTests {
    private struct Method {
        var parameters: [String] = []
        var reply: [String] = []
    }

    /// Of the interface's own text, which clients are given.
    private static func methods() -> [String: Method] {
        func members(_ list: Substring) -> [String] {
            list.matches(of: /(\w+):/).map { String($0.1) }
        }
        var methods: [String: Method] = [:]
        for match in AgentInterface.description.matches(of: /method (\w+)\(([^)]*)\) -> \(([^)]*)\)/) {
            methods[String(match.1)] = Method(parameters: members(match.2), reply: members(match.3))
        }
        return methods
    }

    /// The table of methods: name, parameters, reply, command.
    private static func rows() throws -> [[String]] {
        let section = try Repository.text("docs/control.md").split(separator: "\n## ").first { $0.hasPrefix("Methods") }
        return try #require(section).split(separator: "\n").filter { $0.hasPrefix("| `") && $0.contains("saker ") }
            .map { $0.dropFirst().split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    private static func names(in cell: String) -> [String] {
        cell.matches(of: /`([a-z_]+)(\?|: true)?`/).map { String($0.1) }
    }

    @Test func theTableHasEveryMethodWithItsParametersAndItsReply() throws {
        let methods = Self.methods()
        #expect(Set(methods.keys) == Set(AgentMethod.allCases.map(\.rawValue)))
        var told: Set<String> = []
        for row in try Self.rows() {
            let name = try #require(row[0].firstMatch(of: /`(\w+)`/).map { String($0.1) })
            told.insert(name)
            guard let method = methods[name] else {
                Issue.record("docs/control.md tells of \(name), which there is not")
                continue
            }
            #expect(Self.names(in: row[1]) == method.parameters, "the parameters of \(name)")
            #expect(Self.names(in: row[2]) == method.reply, "the reply of \(name)")
        }
        #expect(told == Set(methods.keys))
    }

    @Test func theCommandsOfTheTableExist() throws {
        let paths = Set(try Command.of("saker").all().map(\.path))
        for row in try Self.rows() {
            for command in row[3].matches(of: /`(saker [^`]+)`/) {
                let words = command.1.split(separator: " ").prefix { $0.wholeMatch(of: /[a-z-]+/) != nil }
                let isKnown = (2...max(words.count, 2)).contains {
                    paths.contains(words.prefix($0).joined(separator: " "))
                }
                #expect(isKnown, "there is no command \(command.1)")
            }
        }
    }

    @Test func theReadingMethodsAreTold() throws {
        let document = try Repository.text("docs/control.md")
        let row = try #require(document.firstMatch(of: /\| call a reading method: ([^|]*)\|/))
        #expect(
            Set(row.1.matches(of: /`(\w+)`/).map { String($0.1) })
                == Set(AgentMethod.allCases.filter(\.onlyReads).map(\.rawValue)))
    }

    @Test(arguments: AgentSetting.all) func everySettingIsTold(setting: AgentSetting) throws {
        let document = try Repository.text("docs/control.md")
        #expect(document.contains("`\(setting.key)`") || document.contains("\"\(setting.key)\""), "\(setting.key)")
    }

    /// Each part of the status that has states, with all of them.
    private static let states: [String: [String]] = [
        "service": ServiceStatus.State.allCases.map(\.rawValue), "gather": GatherStatus.State.allCases.map(\.rawValue),
        "feed": FeedStatus.State.allCases.map(\.rawValue), "link": LinkStatus.State.allCases.map(\.rawValue),
        "remembered": DurableStateStatus.State.allCases.map(\.rawValue),
        "cache": CacheStatus.State.allCases.map(\.rawValue),
    ]

    @Test(arguments: states.keys.sorted()) func everyStateIsTold(part: String) throws {
        let document = try Repository.text("docs/control.md")
        let table = try #require(document.split(separator: "| part | states |").dropFirst().first)
        let row = try #require(table.split(separator: "\n").first { $0.hasPrefix("| `\(part)` |") })
        // What is in parentheses explains.
        let states = row.dropFirst("| `\(part)` |".count).replacing(/\([^)]*\)/, with: "").replacing(/\..*/, with: "")
        #expect(states.matches(of: /`(\w+)`/).map { String($0.1) } == Self.states[part])
    }
}
