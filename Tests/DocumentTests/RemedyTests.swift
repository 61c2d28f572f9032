import Foundation
import ProgramTestKit
import Testing

/// The commands in the remedies of both doctors. `scripts/walk-readme` types them on a system of its own; this is what needs no
/// such system.
@Suite struct RemedyTests {
    /// Programs of the packages of a Debian 12 with systemd and nothing else, of libc, and of gpsd, which a vehicle has.
    private static let present: Set<String> = [
        "apt", "cat", "chgrp", "chmod", "chown", "date", "df", "dmesg", "du", "findmnt", "getent", "gpsdctl", "grep",
        "journalctl", "mount", "mv", "rm", "saker", "saker-server", "sakerd", "systemctl", "tail", "usermod", "make",
    ]
    /// Programs of further packages, with the package that the remedy must name.
    private static let installed = [
        "cgps": "gpsd-clients", "gpspipe": "gpsd-clients", "ip": "iproute2", "ss": "iproute2", "iostat": "sysstat",
        "fuser": "psmisc", "sqlite3": "sqlite3",
    ]
    /// What a person may think of, and what a Debian 12 does not have.
    private static let missing = [
        "timedatectl", "resolvectl", "ping ", "nslookup", "dig ", "ifconfig", "netstat", "nc ",
    ]

    /// The literals of the checks and of the remedies that they share.
    private static func literals() throws -> [(file: String, text: String)] {
        let folders = [
            "Sources/CLI/SakerCommand/Doctor/Checks", "Sources/Server/ServerRuntime/Doctor/Checks",
            "Sources/Shared/Diagnosing",
        ]
        let files = try folders.flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: "\(Repository.root)/\(folder)")
                .filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
        }
        return try files.flatMap { file in
            // Sentences that go on in the next line are one.
            let text = try Repository.text(file).replacing(/"\s*\n\s*\+ "/, with: "")
            return text.matches(of: /"((?:[^"\\\n]|\\.)*)"/).map { (file, String($0.1)) }
        }
    }

    @Test func noRemedyNamesAProgramThatAMinimalSystemDoesNotHave() throws {
        let literals = try Self.literals()
        #expect(literals.count > 200)
        for (file, text) in literals {
            for word in Self.missing { #expect(!text.contains(word), "\(file): \(text)") }
            for (program, package) in Self.installed
            where text.contains(try Regex("(^|sudo |[:;] )\(program) [-/a-z]")) && program != "ip" {
                #expect(text.contains("apt install \(package)"), "\(file): \(text)")
            }
            for match in text.matches(of: /sudo ([a-z0-9-]+)/) where match.1 != "-u" {
                let program = String(match.1)
                #expect(
                    Self.present.contains(program)
                        || Self.installed[program].map { text.contains("install \($0)") } == true,
                    "\(file): \(program) in: \(text)")
            }
        }
    }

    /// `saker service start`, `saker-server device list --trouble`: the commands and their options exist.
    @Test func everyCommandOfSakerInARemedyExists() throws {
        let paths = Set(
            try Command.of("saker").all().map(\.path) + Command.of("saker-server").all().map(\.path))
        var count = 0
        for (file, text) in try Self.literals() {
            for match in text.matches(of: /\b(saker-server|saker) ([a-z][a-z -]*[a-z])/) {
                let words = match.2.split(separator: " ")
                // A sentence about the program, as in "the same version of sakerd and saker".
                let groups = [
                    "service", "gather", "device", "key", "token", "settings", "backup", "certificate", "image",
                ]
                guard let first = words.first, groups.contains(String(first)), words.count > 1 else { continue }
                count += 1
                #expect(
                    paths.contains("\(match.1) \(first) \(words[1])"), "\(file): \(match.1) \(match.2)")
            }
        }
        #expect(count > 20)
    }
}
