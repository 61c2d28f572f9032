import ConfigurationFile
import Foundation
import ProgramTestKit
import Testing

/// The files of the repository, and the programs beside the tests.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    static func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }

    /// Where the programs of this build are.
    static let programs = (Built.path("sakerd") as NSString).deletingLastPathComponent
}

/// What a program that parses with ArgumentParser knows of itself.
struct Command: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String
        }

        var kind: String
        var names: [Name]?
        var valueName: String?
        var abstract: String?
        var shouldDisplay: Bool?
    }

    var commandName: String
    var abstract: String?
    var arguments: [Argument]?
    var subcommands: [Command]?
    var shouldDisplay: Bool?

    static func of(_ program: String) throws -> Command {
        struct Dump: Decodable {
            var command: Command
        }
        let shown = try Program.run(Built.path(program), ["--experimental-dump-help"])
        try #require(shown.status == 0, "\(shown.all)")
        return try JSONDecoder().decode(Dump.self, from: Data(shown.output.utf8)).command
    }

    /// Itself and those below it that people are told of, each with its whole name.
    func all(below parent: String = "") -> [(path: String, command: Command)] {
        let path = parent.isEmpty ? commandName : "\(parent) \(commandName)"
        let shown = (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
        return [(path, self)] + shown.flatMap { $0.all(below: path) }
    }

    /// Options and flags as they are typed, and arguments as they are called; without those that every command has.
    var documented: [(typed: String, argument: Argument)] {
        (arguments ?? []).filter { $0.shouldDisplay != false }.flatMap { argument in
            let names = argument.names ?? []
            guard !names.contains(where: { ["help", "version"].contains($0.name) }) else {
                return [(typed: String, argument: Argument)]()
            }
            guard !names.isEmpty else { return [(argument.valueName ?? "", argument)] }
            return names.map { (($0.kind == "short" ? "-" : "--") + $0.name, argument) }
        }
    }
}
