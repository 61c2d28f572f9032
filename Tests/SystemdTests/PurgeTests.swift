import Foundation
import ProgramTestKit
import Testing

/// The script that dpkg runs as root when the server is purged, with other folders.
@Suite struct PurgeTests {
    private let directory: TemporaryDirectory
    private var data: String { directory.path + "/data" }

    init() throws {
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
    }

    private func purge() throws -> Int32 {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("debian/saker-server.postrm")
        let text = try String(contentsOf: script, encoding: .utf8)
            .replacingOccurrences(of: "/var/lib/saker-server", with: data)
            .replacingOccurrences(of: "/etc/saker", with: directory.path + "/etc")
            .replacingOccurrences(of: "/usr/share/debconf", with: directory.path + "/none")
        let copy = directory.path + "/postrm"
        try text.write(toFile: copy, atomically: true, encoding: .utf8)
        return try Program.run("/bin/sh", [copy, "purge"]).status
    }

    private func write(_ name: String, _ text: String = "x") throws {
        let file = URL(fileURLWithPath: data + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func left() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: data).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: data + "/" + $0, isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    @Test func tracksStayWhateverTheirNameIs() throws {
        let kept = [
            "backup-2026/tracks.sqlite", "deep/er/fleet", "exports/mine.sqlite", "fleet.db", "fleet.db-wal",
            "fleet.lock", "key.db",
            "tracks.sqlite", "tracks.sqlite-shm", "tracks.sqlite-wal", "tracks.sqlite.before-v20",
            "tracks.sqlite.before-20261123T0Z",
        ]
        for name in kept { try write(name, name == "key.db" ? "SQLite format 3\0and pages" : "tracks") }
        let gone = [
            "server-key.pem", "ca-key.pem", "ca.pem", "device-ca-key.pem", "device-ca.pem", "server.pem",
            "server.pem.next", "server-key.pem.new-1a",
            "server-key.pem.before-20261123T0Z", "fleet.key", "exports/a.zip", "exports/b.zip.part", "exports/worker",
        ]
        for name in gone { try write(name) }
        try write("tracks.sqlite.lock", "")
        try write(
            "server.toml",
            "[tls]\nkey = \"fleet.key\"\n[store]\n  key_file = \"key.db\"\n[device]\nauthority_key = \"../x\"\n")
        #expect(try purge() == 0)
        #expect(try left() == kept.sorted())
    }

    @Test func anEmptyFolderGoes() throws {
        for name in ["server.toml", "server-key.pem", "exports/worker"] { try write(name) }
        try write("tracks.sqlite.lock", "")
        #expect(try purge() == 0)
        #expect(!FileManager.default.fileExists(atPath: data))
    }

    /// The folder is the server's user's, who makes links in it.
    @Test func noLinkLeadsElsewhere() throws {
        let outside = directory.path + "/outside"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
        for name in ["a.zip", "worker", "server-key.pem"] {
            _ = FileManager.default.createFile(atPath: outside + "/" + name, contents: nil)
        }
        symlink(outside, data + "/exports")
        symlink(outside + "/server-key.pem", data + "/server-key.pem")
        try write("server.toml", "key = \"exports/a.zip\"\n")
        #expect(try purge() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside).count == 3)
    }
}
