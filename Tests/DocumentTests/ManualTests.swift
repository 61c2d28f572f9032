import ConfigurationFile
import Foundation
import ProgramTestKit
import Testing

@testable import AgentRuntime
@testable import ServerRuntime

/// The manual pages as `make install` makes them, beside the programs they describe.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ManualTests {
    private static let pages = [
        "saker.1", "saker-sim.1", "sakerd.8", "saker-server.8", "saker-agent.toml.5", "saker-server.toml.5",
    ]

    /// Made once for all tests.
    private static let made = Result<TemporaryDirectory, any Error> {
        let directory = try TemporaryDirectory()
        let run = try Program.run(Repository.root + "/scripts/make-manuals", [Repository.programs, directory.path])
        guard run.status == 0 else { throw Trouble("\(run.all)") }
        return directory
    }

    private func path(_ page: String) throws -> String { try Self.made.get().file(page) }

    private func text(_ page: String) throws -> String { try String(contentsOfFile: path(page), encoding: .utf8) }

    @Test(arguments: pages) func bothReadersTakeThePageWithoutAWord(page: String) throws {
        let strict = try Program.run("/usr/bin/mandoc", ["-T", "lint", "-W", "warning", try path(page)])
        #expect(strict.status == 0 && strict.all.isEmpty, "\(strict.all)")
        // A line that is too long is a matter of style; that a page is not installed yet is none.
        let style = try Program.run("/usr/bin/mandoc", ["-T", "lint", try path(page)])
        let words = style.all.split(separator: "\n").filter {
            !$0.contains("referenced manual not found") && !$0.contains("mandoc.db")
        }
        #expect(words.isEmpty, "\(words.joined(separator: "\n"))")
        let groff = try Program.run("/usr/bin/groff", ["-ww", "-z", "-mandoc", "-Tutf8", try path(page)])
        #expect(groff.status == 0 && groff.all.isEmpty, "\(groff.all)")
    }

    @Test(arguments: pages) func nothingOfATemplateIsLeft(page: String) throws {
        #expect(try text(page).firstMatch(of: /@[A-Z]+/) == nil)
        #expect(try text(page).contains(".Sh NAME\n.Nm "))
    }

    @Test(arguments: [("saker", "saker.1"), ("saker-server", "saker-server.8"), ("saker-sim", "saker-sim.1")])
    func everyCommandAndOptionIsDescribed(program: String, page: String) throws {
        let commands = try Command.of(program).all().dropFirst()
        #expect(commands.count > 1)
        let sections = try text(page).components(separatedBy: "\n.S")
        for (path, command) in commands {
            #expect(command.abstract?.isEmpty == false, "\(path) has no abstract")
            let section = sections.first { $0.hasPrefix("s \(path)\n") }
            #expect(section != nil, "\(page) says nothing of \(path)")
            for (typed, argument) in command.documented {
                #expect(argument.abstract?.isEmpty == false, "\(path) \(typed) has no help text: add help: to it")
                let tag = typed.hasPrefix("-") ? "Fl \(typed.dropFirst())" : "Ar \(typed)"
                #expect(section?.contains(tag) == true, "\(page): \(path) without \(typed)")
            }
        }
    }

    @Test func everyOptionOfTheAgentIsDescribed() throws {
        let page = try text("sakerd.8")
        let names = Arguments.help.matches(of: /--[a-z-]+/).map { String($0.output) }
        #expect(Set(names).isSuperset(of: ["--config", "--check", "--print-config", "--version"]))
        for name in Set(names) { #expect(page.contains("Fl \(name.dropFirst())"), "sakerd.8 without \(name)") }
    }

    // MARK: Keys

    private func describe(_ keys: [EffectiveConfiguration.Entry], sample: String, page: String) throws {
        let (sample, page) = (sample, try text(page))
        let text = try Repository.text(sample)
        for entry in keys {
            let isInSample =
                text.firstMatch(
                    of: try Regex("(?s)\\n\\[\(entry.table)\\]\\n(?:(?!\\n\\[).)*\\n(?:# )?\(entry.key) = ")) != nil
            let isSecret = entry.table == "service" && ["ak", "app_code"].contains(entry.key)
            #expect(
                isInSample || isSecret,
                """
                \(sample) says nothing of \(entry.key) in [\(entry.table)]: add '# \(entry.key) = …' below [\(entry.table)], \
                with a comment above it that says what it means, its unit, default and range
                """)
            let section = page.components(separatedBy: "\n.Ss Table ").first { $0.hasPrefix("\(entry.table)\n") }
            #expect(
                section?.contains(".It Ic \(entry.key) No = ") == true
                    || isSecret && page.contains(".It Ic \(entry.key)\n"),
                "the manual page made of \(sample) lacks \(entry.key) in [\(entry.table)]")
        }
    }

    @Test func everyKeyOfTheAgentIsDescribed() throws {
        let minimal = "[server]\nhost = \"h\"\n[service]\nid = 7\nak = \"k\"\nentity = \"van\"\n"
        let keys = try AgentConfiguration.read(ConfigurationReader(text: minimal, path: "/etc/saker/agent.toml"))
            .effective
        #expect(keys.entries.count > 20)
        try describe(keys.entries, sample: "config/agent.toml", page: "saker-agent.toml.5")
    }

    @Test func everyKeyOfTheServerIsDescribed() throws {
        let keys = try ServerConfiguration.read(ConfigurationReader(text: "", path: "/etc/saker/server.toml")).effective
        #expect(keys.entries.count > 30)
        try describe(keys.entries, sample: "config/server.toml", page: "saker-server.toml.5")
    }

    @Test func anOptionWithoutHelpIsRefused() throws {
        let directory = try TemporaryDirectory()
        let dump = """
            {"command":{"commandName":"saker-sim","subcommands":[{"commandName":"x","abstract":"X.","arguments":\
            [{"kind":"flag","isOptional":true,"names":[{"kind":"long","name":"y"}],\
            "preferredName":{"kind":"long","name":"y"}}]}]}}
            """
        let program = "#!/bin/sh\n[ \"$1\" = --version ] && echo 1 || cat <<'END'\n\(dump)\nEND\n"
        try program.write(toFile: directory.file("saker-sim"), atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.file("saker-sim"))
        let run = try Program.run(Repository.root + "/scripts/make-manuals", [directory.path, directory.file("out")])
        #expect(run.status == 1 && run.all.contains("'saker-sim x' has no help text for Fl -y"), "\(run.all)")
    }
}
