import Foundation
import ProgramTestKit
import Testing
import TrackModel

@testable import AgentRuntime

/// What `make install` puts where, with the programs of this build.
@Suite(.serialized, .timeLimit(.minutes(5))) struct InstallTests {
    private func install(_ environment: [String: String] = [:]) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        let run = try Program.run(
            Repository.root + "/scripts/install", [],
            environment: [
                "BUILT": Repository.programs, "DESTDIR": directory.path, "PREFIX": "/opt/saker", "STRIP": "0",
            ].merging(environment) { $1 })
        try #require(run.status == 0, "\(run.all)")
        return directory
    }

    /// Files below a directory, in order.
    private func files(_ directory: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        return all.filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(directory)/\(name)", isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted()
    }

    @Test func everythingIsInItsPlaceAndReadable() throws {
        let directory = try install()
        #expect(
            files(directory.file("opt/saker")) == [
                "bin/saker", "lib/systemd/catalog/saker.catalog",
                "lib/systemd/system/saker-enroll.service", "lib/systemd/system/saker-renew.service",
                "lib/systemd/system/saker-renew.timer", "lib/systemd/system/saker-server-again.service",
                "lib/systemd/system/saker-server.service",
                "lib/systemd/system/sakerd-again.service", "lib/systemd/system/sakerd.service",
                "lib/sysusers.d/saker-server.conf", "lib/sysusers.d/saker.conf", "lib/tmpfiles.d/saker-server.conf",
                "lib/tmpfiles.d/saker.conf", "sbin/saker-server", "sbin/sakerd",
                "share/bash-completion/completions/saker", "share/bash-completion/completions/saker-server",
                "share/bash-completion/completions/sakerd", "share/fish/vendor_completions.d/saker-server.fish",
                "share/fish/vendor_completions.d/saker.fish", "share/fish/vendor_completions.d/sakerd.fish",
                "share/man/man1/saker.1", "share/man/man5/saker-agent.toml.5", "share/man/man5/saker-server.toml.5",
                "share/man/man8/saker-server.8", "share/man/man8/sakerd.8", "share/saker/agent.toml",
                "share/saker/grafana/saker.json", "share/saker/prometheus/saker.rules.yml",
                "share/saker/published-ports.conf", "share/saker/published-ports.nft", "share/saker/server.toml",
                "share/zsh/site-functions/_saker", "share/zsh/site-functions/_saker-server",
                "share/zsh/site-functions/_sakerd",
            ])
        for name in files(directory.path) where !name.contains("bin/") {
            let mode = try FileManager.default.attributesOfItem(atPath: directory.file(name))[.posixPermissions] as? Int
            #expect(mode == 0o644, "\(name)")
        }
        let manual = directory.file("opt/saker/share/man/man5/saker-agent.toml.5")
        let page = try String(contentsOfFile: manual, encoding: .utf8)
        #expect(page.contains("/opt/saker/share/saker/agent.toml") && !page.contains("/usr/local"))
    }

    @Test func aUnitRunsTheInstalledProgramAndNoCompletionNamesAnInterpreter() throws {
        let directory = try install(["SBINDIR": "/opt/daemons"])
        for name in ["sakerd", "saker-server"] {
            let unit = try String(
                contentsOfFile: directory.file("opt/saker/lib/systemd/system/\(name).service"), encoding: .utf8)
            #expect(unit.contains("\nExecStart=/opt/daemons/\(name)\n"))
            #expect(try Program.run(directory.file("opt/daemons/\(name)"), ["--version"]).status == 0)
        }
        let link = try FileManager.default.destinationOfSymbolicLink(atPath: directory.file("opt/daemons/sakerd"))
        #expect(link == "../saker/bin/saker", "the agent is the program of the vehicle, wherever the tree is copied to")
        let completions = directory.file("opt/saker/share/bash-completion/completions")
        for name in files(completions) {
            #expect(!(try String(contentsOfFile: "\(completions)/\(name)", encoding: .utf8)).hasPrefix("#!"), "\(name)")
        }
    }

    /// nfpm itself is not in Debian, so its recipe is compared with what its own command installs.
    @Test func theRecipeForOtherSystemsNamesWhatIsInstalledAndNothingElse() throws {
        let page = try Repository.text("docs/packages.md")
        let command = try #require(page.firstMatch(of: /make install DESTDIR=(\S+) PREFIX=(\S+) SBINDIR=(\S+)\n/))
        let directory = try install(["PREFIX": String(command.2), "SBINDIR": String(command.3)])
        let contents = page.matches(of: /\ \ - \{src: (\S+), dst: ([^\s,}]+)(, type: symlink)?\}\n/)
        #expect(contents.count > 5)
        for line in contents {
            if line.3 != nil {
                let target = try FileManager.default.destinationOfSymbolicLink(atPath: directory.path + line.2)
                #expect(target == line.1, "\(line.2)")
                continue
            }
            let place = try #require(line.1.hasPrefix(command.1 + "/") ? line.1.dropFirst(command.1.count) : nil)
            #expect(place == line.2)
            #expect(FileManager.default.fileExists(atPath: directory.path + place), "\(place)")
        }
        // What Debian's package of the agent has, its manuals and samples apart.
        let named = Set(contents.map { String($0.2) })
        for line in try Repository.text("debian/saker-agent.install").split(separator: "\n") {
            // Debian's tools put units below /lib, which is /usr/lib.
            let path = (line.hasPrefix("lib/") ? "/usr/" : "/") + line.split(separator: " ")[0]
            if path.hasPrefix("/usr/"), !path.hasPrefix("/usr/share/") { #expect(named.contains(path), "\(path)") }
        }
    }

    /// A daemon that an earlier version installed among the commands does not stay there.
    @Test func aDaemonIsInOneFolder() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.file("opt/saker/bin")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "old".write(toFile: folder + "/sakerd", atomically: true, encoding: .utf8)
        _ = try install(["DESTDIR": directory.path])
        #expect(files(folder) == ["saker"])
    }

    /// The agent of an earlier version was a program of its own.
    @Test func theLinkTakesThePlaceOfAnOlderAgent() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.file("opt/saker/sbin")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "old".write(toFile: folder + "/sakerd", atomically: true, encoding: .utf8)
        for _ in 1...2 {
            _ = try install(["DESTDIR": directory.path])
            #expect(try Program.run(folder + "/sakerd", ["--version"]).output == "sakerd \(SakerVersion.text)\n")
            #expect(files(folder) == ["saker-server", "sakerd"])
        }
    }

    @Test func theSimulatorIsInstalledWhenAskedFor() throws {
        let directory = try install(["WITH_SIM": "1", "PREFIX": "/usr"])
        let names = files(directory.file("usr"))
        for name in [
            "bin/saker-sim", "share/man/man1/saker-sim.1", "share/bash-completion/completions/saker-sim",
            "share/zsh/vendor-completions/_saker-sim", "share/fish/vendor_completions.d/saker-sim.fish",
        ] { #expect(names.contains(name), "\(name)") }
    }

    @Test(.needs(.zsh, .fish)) func theShellsTakeTheirCompletions() throws {
        let directory = try install(["WITH_SIM": "1"])
        let share = directory.file("opt/saker/share")
        for name in ["saker", "saker-server", "saker-sim", "sakerd"] {
            for (shell, file) in [
                ("bash", "\(share)/bash-completion/completions/\(name)"),
                ("zsh", "\(share)/zsh/site-functions/_\(name)"),
                ("fish", "\(share)/fish/vendor_completions.d/\(name).fish"),
            ] {
                #expect(FileManager.default.fileExists(atPath: file), "\(file)")
                let run = try Program.run("/usr/bin/\(shell)", ["-n", file])
                #expect(run.status == 0, "\(run.all)")
            }
        }
    }

    /// As a person who types `saker st` and the tabulator key.
    private func completed(_ words: [String], with file: String, function: String) throws -> Set<String> {
        let script = """
            source '\(file)'
            COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " "))); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
            \(function) "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let run = try Program.run("/usr/bin/bash", ["-c", script])
        #expect(run.status == 0, "\(run.all)")
        return Set(run.output.split(separator: "\n").map { String($0).trimmingCharacters(in: .whitespaces) })
    }

    @Test func bashCompletesCommandsAndOptions() throws {
        let directory = try install()
        let folder = directory.file("opt/saker/share/bash-completion/completions")
        #expect(try completed(["saker", "st"], with: folder + "/saker", function: "_saker") == ["status"])
        let options = try completed(["saker", "status", "--"], with: folder + "/saker", function: "_saker")
        #expect(options.isSuperset(of: ["--json", "--watch", "--interval", "--socket"]), "\(options)")
        let agent = try completed(["sakerd", "--"], with: folder + "/sakerd", function: "_sakerd")
        #expect(agent == ["--config", "--check", "--print-config", "--version", "--help"])
    }

    /// The agent parses by itself: its completions are written by hand.
    @Test func theCompletionsOfTheAgentKnowEachOption() throws {
        let names = Set(Arguments.help.matches(of: /--[a-z-]+/).map { String($0.output) })
        for name in names {
            #expect(try Repository.text("completions/sakerd.bash").contains(name), "completions/sakerd.bash: \(name)")
            #expect(try Repository.text("completions/_sakerd").contains("\(name)["), "completions/_sakerd: \(name)")
            #expect(
                try Repository.text("completions/sakerd.fish").contains("-l \(name.dropFirst(2)) "),
                "completions/sakerd.fish: \(name)")
        }
    }

    @Test(arguments: ["saker", "sakerd", "saker-server", "saker-sim"])
    func everyProgramSaysItsNameAndTheSameVersion(name: String) throws {
        #expect(try Program.run(Built.path(name), ["--version"]).output == "\(name) \(SakerVersion.text)\n")
    }
}
