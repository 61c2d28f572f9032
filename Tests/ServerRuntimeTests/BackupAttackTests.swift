import Foundation
import ProgramTestKit
import Testing

@testable import ServerRuntime

/// What the server's user may put in the way of root's commands.
@Suite(.timeLimit(.minutes(5)), .needs(.root)) struct BackupAttackTests {
    private static let user: uid_t = 65_534

    private let directory: TemporaryDirectory
    private var home: String { directory.path + "/server" }
    private var backup: String { directory.path + "/backup" }
    private var outside: String { directory.path + "/outside" }
    private var configuration: String { home + "/server.toml" }

    init() throws {
        directory = try TemporaryDirectory()
        // The server's user gets to his own directory.
        chmod(directory.path, 0o755)
        mkdir(outside, 0o755)
    }

    private func makeServer() async throws {
        let made = try await run(serverPath, ["init", "--directory", home, "--host", "127.0.0.1"])
        try #require(made.status == 0, "\(made.errors)")
    }

    /// Adds a line to a table of the configuration.
    private func configure(_ table: String, _ line: String) throws {
        var text = try String(contentsOfFile: configuration, encoding: .utf8)
        text = text.replacingOccurrences(of: "[\(table)]\n", with: "[\(table)]\n\(line)\n")
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
    }

    private func makeBackup() async throws {
        let made = try await run(serverPath, ["backup", "make", backup, "--config", configuration])
        try #require(made.status == 0, "\(made.errors)")
        try #require(!made.output.contains("NOT in"), "\(made.output)")
    }

    private func restore(_ options: String...) async throws -> ProcessResult {
        try await run(serverPath, ["backup", "restore", backup] + options)
    }

    /// Everything below is the server's user's from now on.
    private func give(_ path: String) async throws {
        let given = try await run("/bin/chown", ["-R", "-h", "\(Self.user):\(Self.user)", path])
        try #require(given.status == 0)
    }

    /// Changes the list of the backup and puts its sum in order, as whoever may write in the backup can.
    private func forge(_ change: (String) -> String) async throws {
        let list = backup + "/backup.json"
        let text = change(try String(contentsOfFile: list, encoding: .utf8))
        try text.write(toFile: list, atomically: true, encoding: .utf8)
        let sum = try await run("/usr/bin/sha256sum", [list]).output.prefix(64)
        let sums = backup + "/SHA256SUMS"
        let lines = try String(contentsOfFile: sums, encoding: .utf8).split(separator: "\n")
            .map { $0.hasSuffix("  backup.json") ? sum + "  backup.json" : $0 }
        try (lines.joined(separator: "\n") + "\n").write(toFile: sums, atomically: true, encoding: .utf8)
    }

    private func inOutside() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: outside).sorted()
    }

    @Test func noLinkLeadsTheRestorationElsewhere() async throws {
        try await makeServer()
        mkdir(home + "/x", 0o755)
        try "# nothing\n".write(toFile: home + "/x/evil", atomically: true, encoding: .utf8)
        try configure("device", "client_ca = \"x/evil\"")
        try await makeBackup()
        try FileManager.default.removeItem(atPath: home + "/x")
        symlink(outside, home + "/x")
        try await give(home)
        try await give(backup)
        for options in [[], ["--replace"]] {
            let result = try await run(serverPath, ["backup", "restore", backup] + options)
            #expect(result.status == 1 && result.errors.contains("/x"), "\(result.errors)")
            #expect(try inOutside().isEmpty)
        }
    }

    /// Links with the names of files that a restoration makes, and in the place of those that it moves.
    @Test func noFileOfRootIsGivenAwayOrReplaced() async throws {
        try await makeServer()
        try await makeBackup()
        let victim = outside + "/victim"
        try "root's\n".write(toFile: victim, atomically: true, encoding: .utf8)
        for name in ["ca.pem", "tracks.sqlite", "server-key.pem"] {
            unlink(home + "/" + name)
            for ending in ["", ".restoring", ".lock"] { symlink(victim, "\(home)/\(name)\(ending)") }
        }
        unlink(home + "/tracks.sqlite.lock")
        try await give(home)
        try await give(backup)
        let result = try await restore("--replace")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "root's\n")
        #expect(try FileManager.default.attributesOfItem(atPath: victim)[.ownerAccountID] as? Int == 0)
        #expect(try inOutside() == ["victim"])
        for name in ["ca.pem", "tracks.sqlite", "server-key.pem"] {
            let found = try FileManager.default.attributesOfItem(atPath: home + "/" + name)
            #expect(
                found[.type] as? FileAttributeType == .typeRegular && found[.ownerAccountID] as? Int == Int(Self.user))
        }
    }

    @Test func theListNamesNoPathThatTheConfigurationDoesNot() async throws {
        try await makeServer()
        try await makeBackup()
        let path = "\(outside)/cron"
        try await forge { list in
            list.replacingOccurrences(of: home + "/ca.pem", with: path).replacingOccurrences(
                of: "\"644\"", with: "\"777\"")
        }
        #expect(try await run(serverPath, ["backup", "check", backup]).status == 0)
        let refused = try await restore("--replace")
        #expect(refused.status == 1 && refused.errors.contains(path), "\(refused.errors)")
        #expect(try inOutside().isEmpty)
    }

    @Test func noModeGivesMoreThanAFileNeeds() async throws {
        try await makeServer()
        try await makeBackup()
        try await forge { list in
            list.replacingOccurrences(of: "\"mode\":\"644\"", with: "\"mode\":\"777\"")
                .replacingOccurrences(of: "\"mode\":\"600\"", with: "\"mode\":\"666\"")
        }
        try FileManager.default.removeItem(atPath: home)
        let result = try await restore()
        #expect(result.status == 0 && result.output.contains("mode 644, not 777"), "\(result.errors)")
        for (name, mode) in [("ca.pem", 0o644), ("server-key.pem", 0o640), ("tracks.sqlite", 0o640)] {
            #expect(
                try FileManager.default.attributesOfItem(atPath: home + "/" + name)[.posixPermissions] as? Int == mode,
                "\(name)")
        }
    }

    /// The configuration in the backup is the server's user's too: it names a directory of root.
    @Test func aBackupOfAnotherUserPutsNothingIntoDirectoriesOfRoot() async throws {
        try await makeServer()
        try "# nothing\n".write(toFile: outside + "/evil.pem", atomically: true, encoding: .utf8)
        try configure("device", "client_ca = \"\(outside)/evil.pem\"")
        try await makeBackup()
        unlink(outside + "/evil.pem")
        try await give(home)
        try await give(backup)
        let refused = try await restore("--replace")
        #expect(refused.status == 1 && refused.errors.contains("--into \(outside)"), "\(refused.errors)")
        #expect(try inOutside().isEmpty)
        #expect(try await restore("--replace", "--into", outside).status == 0)
        #expect(try inOutside() == ["evil.pem"])
    }

    /// SQLite opens a store by its path, so root opens the store of another user's backup with that user's rights: a file that the user may
    /// not read is not read.
    @Test func theStoreOfABackupIsReadWithTheRightsOfItsOwner() async throws {
        try await makeServer()
        try await makeBackup()
        try await give(backup)
        #expect(try await run(serverPath, ["backup", "check", backup]).status == 0)
        chown(backup + "/tracks.sqlite", 0, 0)
        let refused = try await run(serverPath, ["backup", "check", backup])
        #expect(refused.status == 1 && refused.errors.contains("tracks.sqlite"), "\(refused.errors)")
    }

    // MARK: Commands that open the store

    @Test func commandsOfRootWorkAsTheOwnerOfTheStore() async throws {
        try await makeServer()
        try await give(home)
        let made = try await run(serverPath, ["service", "create", "Buses", "--config", configuration])
        #expect(made.status == 0, "\(made.errors)")
        let doctor = try await run(serverPath, ["doctor", "--config", configuration])
        #expect(doctor.output.contains("store"), "\(doctor.output)")
        for name in try FileManager.default.contentsOfDirectory(atPath: home) {
            let owner = try FileManager.default.attributesOfItem(atPath: home + "/" + name)[.ownerAccountID] as? Int
            #expect(owner == Int(Self.user), "\(name)")
        }
        // A store of root's elsewhere, to which a link leads.
        let own = directory.path + "/root"
        #expect(try await run(serverPath, ["init", "--directory", own, "--host", "h"]).status == 0)
        chmod(own, 0o700)
        let before = try Data(contentsOf: URL(fileURLWithPath: own + "/tracks.sqlite"))
        let names = try FileManager.default.contentsOfDirectory(atPath: own).sorted()
        unlink(home + "/tracks.sqlite")
        symlink(own + "/tracks.sqlite", home + "/tracks.sqlite")
        let refused = try await run(serverPath, ["service", "create", "Evil", "--config", configuration])
        #expect(refused.status == 1, "\(refused.output)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: own + "/tracks.sqlite")) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: own).sorted() == names)
    }

    @Test func initMakesNothingInADirectoryThatAnotherUserCanExchange() async throws {
        mkdir(home, 0o755)
        chown(home, Self.user, Self.user)
        let result = try await run(serverPath, ["init", "--directory", home + "/inner", "--host", "h"])
        #expect(result.status == 2 && result.errors.contains("sudo -u nobody"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: home + "/inner"))
    }
}
