import Foundation
import ProgramTestKit
import Testing

@testable import ServerRuntime

/// `saker-server backup`, from outside: a backup is whole and comes back, and what is there is not lost by it.
@Suite(.timeLimit(.minutes(5))) struct BackupTests {
    private let directory: TemporaryDirectory
    private var home: String { directory.path + "/server" }
    private var backup: String { directory.path + "/backup" }

    init() throws { directory = try TemporaryDirectory() }

    private func makeServer() async throws {
        let made = try await run(serverPath, ["init", "--directory", home, "--host", "127.0.0.1"])
        try #require(made.status == 0, "\(made.errors)")
    }

    private func saker(_ arguments: String...) async throws -> ProcessResult {
        try await run(serverPath, arguments + (arguments[1] == "make" ? ["--config", home + "/server.toml"] : []))
    }

    private func services() async throws -> String {
        try await sakerServer("service", "list", "--config", home + "/server.toml").output
    }

    /// Path, permissions and content of every file of the server but the store and its lock.
    private func files() throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: home) where !name.hasPrefix("tracks.sqlite") {
            let mode = try FileManager.default.attributesOfItem(atPath: home + "/" + name)[.posixPermissions]
            found["\(name) \(mode ?? 0)"] = try Data(contentsOf: URL(fileURLWithPath: home + "/" + name))
        }
        return found
    }

    @Test func everythingComesBackOnAnEmptyDisk() async throws {
        try await makeServer()
        let created = try await sakerServer("service", "create", "Buses", "--config", home + "/server.toml")
        #expect(created.status == 0)
        let (before, listed) = (try files(), try await services())
        let made = try await saker("backup", "make", backup)
        #expect(made.status == 0, "\(made.errors)")
        for name in ["server.toml", "certificate.pem", "key.pem", "ca.pem", "ca-key.pem", "device-ca.pem"] {
            #expect(made.output.contains("  \(name)"), "\(made.output)")
        }
        #expect(try FileManager.default.attributesOfItem(atPath: backup)[.posixPermissions] as? Int == 0o700)
        #expect(try await saker("backup", "check", backup).status == 0)
        let again = try await saker("backup", "make", backup)
        #expect(again.status == 1 && again.errors.contains("exists already"))

        try FileManager.default.removeItem(atPath: home)
        let restored = try await saker("backup", "restore", backup)
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try files() == before)
        #expect(try await services() == listed && listed.contains("Buses"))
        let store = try FileManager.default.attributesOfItem(atPath: home + "/tracks.sqlite")
        #expect(store[.posixPermissions] as? Int == 0o600)
    }

    @Test func whatIsThereStaysUnlessSomebodyWantsItAside() async throws {
        try await makeServer()
        #expect(try await saker("backup", "make", backup).status == 0)
        let created = try await sakerServer("service", "create", "Later", "--config", home + "/server.toml")
        #expect(created.status == 0)
        try "# mine\n".write(toFile: home + "/ca.pem", atomically: true, encoding: .utf8)
        let refused = try await saker("backup", "restore", backup)
        #expect(refused.status == 1)
        let told = refused.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for text in ["tracks.sqlite: there already.", "ca.pem: its content differs from the backup's.", "--replace"] {
            #expect(told.contains(text), "\(told)")
        }
        #expect(try await services().contains("Later"))

        let done = try await saker("backup", "restore", backup, "--replace")
        #expect(done.status == 0, "\(done.errors)")
        #expect(try await !services().contains("Later"))
        let names = try FileManager.default.contentsOfDirectory(atPath: home)
        for name in ["tracks.sqlite", "ca.pem"] {
            #expect(names.count { $0.hasPrefix(name + ".before-") } == 1, "\(names)")
        }
        let aside = try #require(names.first { $0.hasPrefix("ca.pem.before-") })
        #expect(try String(contentsOfFile: home + "/" + aside, encoding: .utf8) == "# mine\n")
        #expect(done.output.contains("same:        \(home)/server.toml"))
    }

    /// Root restores into the directory that the package made for the server's user.
    @Test(.needs(.root)) func whatRootRestoresIsTheServers() async throws {
        try await makeServer()
        #expect(try await saker("backup", "make", backup).status == 0)
        try FileManager.default.removeItem(atPath: home)
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        #expect(chown(home, 65_534, 65_534) == 0)
        #expect(try await saker("backup", "restore", backup).status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: home)
        #expect(names.contains("tracks.sqlite.lock") && names.contains("server-key.pem"))
        for name in names {
            let owner = try FileManager.default.attributesOfItem(atPath: home + "/" + name)[.ownerAccountID] as? Int
            #expect(owner == 65_534, "\(name)")
        }
    }

    @Test func onlyTheStoreComesBack() async throws {
        try await makeServer()
        #expect(try await saker("backup", "make", backup).status == 0)
        try FileManager.default.removeItem(atPath: home + "/tracks.sqlite")
        try FileManager.default.removeItem(atPath: home + "/ca.pem")
        #expect(try await saker("backup", "restore", backup, "--store-only").status == 0)
        #expect(FileManager.default.fileExists(atPath: home + "/tracks.sqlite"))
        #expect(!FileManager.default.fileExists(atPath: home + "/ca.pem"))
    }

    /// No bit of a backup can change without being seen, and nothing is restored from a part of it.
    @Test func aDamagedBackupIsRefused() async throws {
        try await makeServer()
        #expect(try await saker("backup", "make", backup).status == 0)
        try FileManager.default.removeItem(atPath: home)
        for name in try FileManager.default.contentsOfDirectory(atPath: backup).sorted() {
            let file = URL(fileURLWithPath: backup + "/" + name)
            let whole = try Data(contentsOf: file)
            for damage in 0..<6 {
                var bytes = whole
                switch damage {
                case 0: bytes.removeLast(min(bytes.count, 40))
                case 1: bytes = Data()
                default: bytes[bytes.count * (damage - 1) / 5] ^= 4
                }
                try bytes.write(to: file)
                let checked = try await saker("backup", "check", backup)
                #expect(checked.status == 1, "\(name) \(damage)")
                #expect(checked.errors.contains(backup), "\(checked.errors)")
                let refused = try await saker("backup", "restore", backup)
                #expect(refused.status == 1 && !FileManager.default.fileExists(atPath: home))
            }
            try FileManager.default.removeItem(at: file)
            #expect(try await saker("backup", "check", backup).status == 1)
            try whole.write(to: file)
        }
        #expect(try await saker("backup", "check", backup).status == 0)
        let none = try await saker("backup", "restore", directory.path)
        #expect(none.status == 1 && none.errors.contains("no backup"))
    }

    @Test func aFileThatCannotBeReadIsNamed() async throws {
        try await makeServer()
        try FileManager.default.removeItem(atPath: home + "/ca.pem")
        let made = try await saker("backup", "make", backup)
        #expect(made.status == 0 && made.output.contains("NOT in the backup: \(home)/ca.pem"), "\(made.output)")
        #expect(try await saker("backup", "check", backup).status == 0)
    }

    @Test func aBackupThatWasCutIsNotTakenForOne() async throws {
        try await makeServer()
        try FileManager.default.createDirectory(atPath: backup + ".partial", withIntermediateDirectories: false)
        let refused = try await saker("backup", "make", backup)
        #expect(refused.status == 1 && refused.errors.contains("rm -r \(backup).partial"))
        #expect(!FileManager.default.fileExists(atPath: backup))
    }

    @Test(.needs(.smallDisks)) func aFullDiskLeavesNothingBehind() async throws {
        try await makeServer()
        let folder = directory.path + "/small"
        let disk = try SmallDisk(over: folder, megabytes: 1)
        try disk.fill()
        let refused = try await saker("backup", "make", folder + "/backup")
        #expect(refused.status == 1 && refused.errors.contains("make room"), "\(refused.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["filler"])
    }
}
