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

    private func purge(_ package: String = "saker-server") throws -> Int32 { try purgeTelling(package).status }

    /// Also the lines that it prints.
    private func purgeTelling(_ package: String) throws -> (status: Int32, lines: [Substring]) {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("debian/\(package).postrm")
        let text = try String(contentsOf: script, encoding: .utf8)
            .replacingOccurrences(of: "/var/lib/\(package == "saker-server" ? package : "saker")", with: data)
            .replacingOccurrences(of: "/etc/saker", with: directory.path + "/etc")
            .replacingOccurrences(of: "/usr/share/debconf", with: directory.path + "/none")
        let copy = directory.path + "/postrm"
        try text.write(toFile: copy, atomically: true, encoding: .utf8)
        let done = try Program.run("/usr/bin/timeout", ["20", "/bin/sh", copy, "purge"])
        return (done.status, done.all.split(separator: "\n"))
    }

    private func write(_ name: String, _ text: String = "x") throws {
        let file = URL(fileURLWithPath: data + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func left() throws -> [String] {
        // An empty folder goes too.
        guard FileManager.default.fileExists(atPath: data) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: data).filter {
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

    private func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    private static let secrets = ["ca-key.pem", "server-key.pem", "device-ca-key.pem", "store-key"]

    /// The server's user may put anything in the place of a file: the other secrets go all the same.
    @Test(arguments: [
        "ca.pem", "server.toml", "device-ca.pem", "server.pem.new-1a", "exports/a.zip", "tracks.sqlite.lock",
    ])
    func aFolderInThePlaceOfAFileStopsNothing(name: String) throws {
        for secret in Self.secrets { try write(secret) }
        try makeFolder(data + "/" + name + "/deep")
        #expect(try purge() == 0)
        #expect(try left() == [])
        #expect(FileManager.default.fileExists(atPath: data + "/" + name + "/deep"))
    }

    @Test(arguments: ["server.toml", "ca.pem", "server-key.pem", "exports"])
    func aPipeInThePlaceOfAFileStopsNothing(name: String) throws {
        for secret in Self.secrets where secret != name { try write(secret) }
        mkfifo(data + "/" + name, 0o600)
        #expect(try purge() == 0)
        #expect(try left() == (name == "exports" ? ["exports"] : []))
    }

    /// A configuration may name anything as a key.
    @Test(arguments: ["..", ".", "", "*", "kept*", "[k]ept", "?ept", "a kept", "kept kept", "-rf", "$(touch x)", "a\\"])
    func aKeyOfAStrangeNameStopsNothingAndRemovesNothingElse(name: String) throws {
        for secret in Self.secrets { try write(secret) }
        try write("kept")
        try write("fleet.key")
        try write("server.toml", "[tls]\nkey = \"\(name)\"\n[device]\nauthority_key = \"fleet.key\"\n")
        #expect(try purge() == 0)
        #expect(try left() == ["kept"])
    }

    /// No folder is a file's, and what its link leads to is somebody else's.
    @Test func theConfigurationIsReadOnlyWhereItIsAFile() throws {
        let outside = directory.path + "/outside.toml"
        try "key = \"mine\"\n".write(toFile: outside, atomically: true, encoding: .utf8)
        symlink(outside, data + "/server.toml")
        try write("mine")
        try write("store-key")
        #expect(try purge() == 0)
        #expect(try left() == ["mine"])
    }

    @Test(arguments: ["saker-server", "saker-agent"])
    func aFolderBesideTheConfigurationStopsNothing(package: String) throws {
        let folder = directory.path + "/etc"
        let (files, blocked) =
            package == "saker-server"
            ? (["credentials/server-store-key"], ["server.toml/x", "credentials/server-tls-key/x"])
            : (["device.pem", "enroll.token", "credentials/device-key"], ["agent.toml/x", "credentials/ak/x"])
        for name in blocked { try makeFolder(folder + "/" + name) }
        for name in files { try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        #expect(try purge(package) == 0)
        for name in files { #expect(!FileManager.default.fileExists(atPath: folder + "/" + name), "\(name)") }
        for name in blocked { #expect(FileManager.default.fileExists(atPath: folder + "/" + name), "\(name)") }
    }

    /// A folder that the administrator has put elsewhere stays whole, and the purge says so in a line.
    @Test(
        arguments: ["saker-server", "saker-agent"], ["data", "data/exports", "data/cache", "etc", "etc/credentials"])
    func aFolderThatIsALinkStaysAndIsTold(package: String, folder: String) throws {
        let isServer = package == "saker-server"
        guard folder != (isServer ? "data/cache" : "data/exports") else { return }
        let (outside, link) = (directory.path + "/outside", directory.path + "/" + folder)
        let kept = ["a.zip", "agent.toml", "ak", "credentials/ak", "server-key.pem", "server-tls-key", "server.toml"]
        for name in kept {
            let file = URL(fileURLWithPath: outside + "/" + name)
            try makeFolder(file.deletingLastPathComponent().path)
            try Data("x".utf8).write(to: file)
        }
        if folder == "data" { try FileManager.default.removeItem(atPath: data) }
        try makeFolder(URL(fileURLWithPath: link).deletingLastPathComponent().path)
        symlink(outside, link)
        let done = try purgeTelling(package)
        #expect(done.status == 0)
        for name in kept { #expect(FileManager.default.fileExists(atPath: outside + "/" + name), "\(name)") }
        try #require(done.lines.count == 1, "\(done.lines)")
        #expect(done.lines[0].hasPrefix("\(package): \(link) is a link to \(outside), and a purge follows no link: "))
        #expect(done.lines[0].hasSuffix(" there stay: look there, and remove them and the link"))
    }

    @Test(arguments: ["saker-server", "saker-agent"])
    func aSecretThatIsALinkIsTold(package: String) throws {
        let (isServer, outside) = (package == "saker-server", directory.path + "/secret")
        try Data("x".utf8).write(to: URL(fileURLWithPath: outside))
        let link = isServer ? data + "/server-key.pem" : directory.path + "/etc/credentials/device-key"
        try makeFolder(URL(fileURLWithPath: link).deletingLastPathComponent().path)
        symlink(outside, link)
        let done = try purgeTelling(package)
        #expect(done.status == 0 && FileManager.default.fileExists(atPath: outside))
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == nil, "the link goes")
        #expect(
            done.lines == [
                "\(package): \(link) is a link to \(outside), and a purge follows no link: the link goes, and the file there stays: "
                    + "remove it"
            ])
    }

    /// The programs' users make names and links, and a person reads what root's purge prints.
    @Test(arguments: ["saker-server", "saker-agent"])
    func noNameControlsTheTerminal(package: String) throws {
        let evil = "a\u{1B}c\u{9B}b\u{202E}\r\u{7F}\ne"
        symlink("/nowhere/" + evil, data + (package == "saker-server" ? "/exports" : "/cache"))
        if package == "saker-server" {
            let name = evil.split(separator: "\n")[0]
            try makeFolder(data + "/" + name)
            try write("server.toml", "key = \"\(name)\"\n")
        }
        let done = try purgeTelling(package)
        #expect(done.status == 0)
        #expect(done.lines.count == (package == "saker-server" ? 2 : 1), "\(done.lines)")
        #expect(done.lines.allSatisfy { $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) } }, "\(done.lines)")
    }

    @Test(arguments: ["saker-server", "saker-agent"])
    func aFileInThePlaceOfTheFolderIsTold(package: String) throws {
        try FileManager.default.removeItem(atPath: data)
        mkfifo(data, 0o600)
        let done = try purgeTelling(package)
        #expect(done.status == 0)
        #expect(done.lines == ["\(package): \(data) is no folder, and stays: look at it, and remove it"])
    }
}
