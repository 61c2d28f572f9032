import Foundation
import ServerRuntime
import Testing

/// Every change by an administrator is in the journal: no command is forgotten.
@Suite struct AdministrativeActTests {
    /// Commands that change nothing that the server has.
    private static let readers: Set<String> = [
        "serve", "doctor", "service list", "service keys", "key list", "token list", "device list", "device show",
        "entity list",
        "column list", "push list", "fence list", "fence show", "fence status", "fence test",
        "fence export", "fence alarms", "district list",
        "backup make", "backup check",
    ]
    /// Commands that do what another one does, or several acts.
    private static let others: [String: AdministrativeAct] = [
        "init": .serviceCreate, "service rotate-key": .keyCreate, "service disable-key": .keyRevoke,
    ]

    @Test func eachCommandThatChangesSomethingHasAnAct() throws {
        let commands = try Command.of("saker-server").all().filter { ($0.command.subcommands ?? []).isEmpty }
            .map { String($0.path.dropFirst("saker-server ".count)) }
        let acts = Set(AdministrativeAct.allCases.map(\.rawValue))
        for command in commands where !Self.readers.contains(command) && Self.others[command] == nil {
            // One act for the kinds of a thing, such as `fence add circle`.
            let group = command.split(separator: " ").dropLast().joined(separator: " ")
            #expect(
                acts.contains(command) || acts.contains(group),
                "`saker-server \(command)` notes no act, and is not among those that only read")
        }
        for name in acts.union(Self.readers).union(Self.others.keys) {
            #expect(
                commands.contains { $0 == name || $0.hasPrefix("\(name) ") },
                "there is no command `saker-server \(name)`")
        }
        #expect(acts.isDisjoint(with: Self.readers))
    }

    /// An act that nothing notes is a promise.
    @Test func eachActIsNoted() throws {
        let folder = "\(Repository.root)/Sources/Server/ServerRuntime"
        var sources = ""
        for case let file as String in try #require(FileManager.default.enumerator(atPath: folder))
        where file.hasSuffix(".swift") && !file.hasSuffix("AdministrativeAct.swift") {
            sources += try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
        }
        for act in AdministrativeAct.allCases {
            #expect(sources.range(of: "\\.\(act)\\b", options: .regularExpression) != nil, "nothing notes \(act)")
        }
    }
}
