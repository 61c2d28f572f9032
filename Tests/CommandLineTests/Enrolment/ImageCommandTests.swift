import Foundation
import Glibc
import ProgramTestKit
import Testing

@testable import SakerCommand

@Suite(.timeLimit(.minutes(5))) struct ImageCommandTests {
    private let directory: TemporaryDirectory
    private var root: String { directory.path + "/root" }

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ path: String, _ text: String = "x") throws {
        let file = URL(fileURLWithPath: root + path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func isThere(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    private static let own = [
        "/etc/saker/agent.toml", "/etc/saker/client.toml", "/etc/saker/ca.pem", "/etc/saker/device.pem",
        "/etc/saker/device-key.tpm", "/etc/saker/credentials/device-key", "/etc/saker/credentials/ak",
        "/etc/saker/credentials/token-pin", "/srv/ring/0000000000000001.segment", "/srv/ring/lock",
        "/var/lib/saker/state.json",
        "/var/lib/saker/alarms/journal", "/var/lib/dbus/machine-id", "/var/lib/systemd/random-seed",
        "/etc/ssh/ssh_host_ed25519_key", "/etc/ssh/ssh_host_ed25519_key.pub",
    ]
    private static let others = [
        "/etc/saker/enroll.token", "/etc/saker/hooks.d/alarm", "/etc/ssh/sshd_config", "/etc/ssh/ssh_config",
        "/etc/hostname", "/var/lib/other/file", "/srv/other", "/srv/ring/photo.jpg", "/srv/ring/deeper/lock",
        "/srv/ring/1.segment",
    ]

    private func fill() throws {
        for path in Self.own + Self.others { try write(path) }
        try write("/etc/machine-id", "0123456789abcdef0123456789abcdef\n")
        try write("/etc/saker/agent.toml", "[cache]\ndirectory = \"/srv/ring\"\n")
        try write("/etc/saker/client.toml", "[server]\nurl = \"https://fleet.example\"\n")
    }

    @Test func everythingOfOneVehicleIsRemovedAndNothingElse() async throws {
        try fill()
        // What a link in the state directory points to is somebody else's.
        symlink(root + "/var/lib/other", root + "/var/lib/saker/link")
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 0, "\(result.errors)")
        for path in Self.own { #expect(!isThere(path), "\(path)") }
        for path in Self.others { #expect(isThere(path), "\(path)") }
        #expect(try String(contentsOfFile: root + "/etc/machine-id", encoding: .utf8).isEmpty)
        #expect(isThere("/etc/saker/credentials") && isThere("/srv/ring") && !isThere("/var/lib/saker/link"))
        #expect(result.output.contains("enroll.token stays") && result.output.contains("ssh-keygen -A"))
        // A second time there is nothing left to do.
        let again = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes", "--keep-ssh"])
        #expect(again.status == 0, "\(again.errors)")
    }

    // MARK: What a configuration names

    private static let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"

    /// Relative paths begin where the configuration is.
    private func fillByHand() throws {
        try write("/etc/machine-id", "0123456789abcdef0123456789abcdef\n")
        for path in ["/etc/saker/van.key", "/srv/keys/van.pem", "/srv/keys/app", "/etc/saker/keys/ak", "/srv/pin"] {
            try write(path, Self.key)
        }
        try write(
            "/etc/saker/agent.toml",
            """
            [server]
            client_certificate = "/srv/keys/van.pem"
            client_key = "file:/etc/saker/van.key"
            client_key_pin_file = "../../srv/pin"
            [service]
            app_code_file = "/srv/keys/app"
            """)
        try write("/etc/saker/client.toml", "[server]\nak_file = \"keys/ak\"\n")
        for name in ["agent.toml.new-1a", "ca.pem.new-z", "device-key.tpm.next", "device-key.tpm.next.new-0"] {
            try write("/etc/saker/" + name, Self.key)
        }
        try write("/etc/saker/credentials/device-key.next", Self.key)
    }

    /// Files below the root that hold a private key.
    private func keys() throws -> String {
        let found = try Program.run("/usr/bin/grep", ["-rl", "PRIVATE KEY", root])
        return found.output
    }

    @Test func noKeyThatAConfigurationNamesIsLeft() async throws {
        try fillByHand()
        try #require(try keys().split(separator: "\n").count == 10)
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try keys().isEmpty)
        #expect(isThere("/srv/keys"))
    }

    @Test func aKeyBehindALinkIsTold() async throws {
        try fillByHand()
        try write("/srv/other.key", Self.key)
        unlink(root + "/etc/saker/van.key")
        symlink("/srv/other.key", root + "/etc/saker/van.key")
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 1 && result.errors.contains("/etc/saker/van.key"), "\(result.errors)")
    }

    @Test func aConfigurationThatCannotBeReadStopsEverything() async throws {
        try fill()
        try write("/etc/saker/agent.toml", "[server\n")
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 1 && result.errors.contains("nothing was removed"), "\(result.errors)")
        for path in Self.own { #expect(isThere(path), "\(path)") }
    }

    // MARK: Where links lead

    /// A link of the image leads to a place in the image, as it will when the image runs.
    @Test func noLinkLeadsOutOfTheImage() async throws {
        try fill()
        let outside = directory.path + "/outside"
        for (name, link) in [("saker", "/var/lib/saker"), ("dbus", "/var/lib/dbus"), ("ssh", "/etc/ssh")] {
            try FileManager.default.createDirectory(atPath: outside + "/" + name, withIntermediateDirectories: true)
            try Program.succeed("rm", "-rf", root + link)
            symlink(outside + "/" + name, root + link)
            try Data("x".utf8).write(to: URL(fileURLWithPath: outside + "/\(name)/machine-id"))
            try Data("x".utf8).write(to: URL(fileURLWithPath: outside + "/\(name)/ssh_host_rsa_key"))
        }
        // Inside, links are what they say.
        try Program.succeed("mv", root + "/srv/ring", root + "/srv/moved")
        symlink("moved", root + "/srv/ring")
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 0, "\(result.errors)")
        for name in ["saker", "dbus", "ssh"] {
            for file in ["machine-id", "ssh_host_rsa_key"] {
                #expect(access(outside + "/\(name)/\(file)", F_OK) == 0, "\(name)/\(file)")
            }
        }
        #expect(!isThere("/srv/moved/0000000000000001.segment") && isThere("/srv/moved/photo.jpg"))
    }

    /// The configuration of the computer that prepares the image is none of the image's.
    @Test func noFileIsReadOrEmptiedOutOfTheImage() async throws {
        try fill()
        let outside = directory.path + "/outside"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        // It would name the image's data as the agent's.
        try "[cache]\ndirectory = \"/var/lib/other\"\n[server]\nclient_key = \"/etc/hostname\"\n"
            .write(toFile: outside + "/agent.toml", atomically: true, encoding: .utf8)
        try "id\n".write(toFile: outside + "/id", atomically: true, encoding: .utf8)
        for (name, path) in [("agent.toml", "/etc/saker/agent.toml"), ("id", "/etc/machine-id")] {
            unlink(root + path)
            symlink(outside + "/" + name, root + path)
        }
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 1 && result.errors.contains("/etc/machine-id"), "\(result.errors)")
        #expect(isThere("/etc/hostname") && isThere("/var/lib/other/file"))
        #expect(try String(contentsOfFile: outside + "/id", encoding: .utf8) == "id\n")
    }

    @Test func noPipeIsWaitedFor() async throws {
        try fill()
        for path in ["/etc/machine-id", "/etc/saker/client.toml"] {
            unlink(root + path)
            mkfifo(root + path, 0o600)
            let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
            #expect(result.status == 1 && result.errors.contains(path), "\(result.errors)")
            unlink(root + path)
            try write(path, "")
        }
    }

    @Test func aLinkToASharedDirectoryEmptiesNothing() async throws {
        try fill()
        try Program.succeed("rm", "-rf", root + "/srv/ring")
        // Relative: an error in the command must not empty the directory of the machine that tests it.
        symlink("../var/lib", root + "/srv/ring")
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(isThere("/var/lib/other/file"))
    }

    /// What a person writes into a configuration, and where a disk of data may be.
    @Test(arguments: ["/mnt/data", "/home/pi", "/usr/local", "/mnt//data/", "/", "/var/lib"])
    func aDirectoryOfOthersKeepsTheirFiles(named: String) async throws {
        try fill()
        let files = ["/photo.jpg", "/work/lock", "/state.json.old", "/0000000000000001.segments"].map { named + $0 }
        let own = ["/00000000000000ff.segment", "/acknowledged", "/state.json", "/alarms.journal.damaged"]
            .map { named + $0 }
        for file in files + own { try write(file) }
        try write(
            "/etc/saker/agent.toml", "[cache]\ndirectory = \"\(named)\"\n[state]\ndirectory = \"\(named)\"\n")
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 0, "\(result.errors)")
        for file in files + Self.others { #expect(isThere(file), "\(file)") }
        for file in own { #expect(!isThere(file), "\(file)") }
    }

    /// A link in the place of the default directory leads to a directory that others may use.
    @Test func aLinkFromTheDefaultDirectoryKeepsTheFilesOfOthers() async throws {
        try fill()
        try Program.succeed("rm", "-rf", root + "/var/lib/saker")
        symlink("/srv", root + "/var/lib/saker")
        try write("/srv/state.json")
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(isThere("/srv/other") && isThere("/srv/ring/photo.jpg") && !isThere("/srv/state.json"))
    }

    @Test func aNameThatIsNoTextIsRemovedToo() async throws {
        try fill()
        var name = Array((root + "/var/lib/saker/").utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0x61, 0]
        let descriptor = open(&name, O_CREAT | O_WRONLY, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(access(&name, F_OK) != 0)
    }

    // MARK: How copies enrol themselves

    /// A unit that is only copied starts nothing.
    @Test(.needs(.systemdAnalyze)) func theUnitThatEnrolsACopyIsEnabled() async throws {
        try fill()
        let none = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(none.status == 0 && none.output.contains("no saker-enroll.service"), "\(none.errors)")
        let unit = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../systemd/saker-enroll.service").standardized
        try write("/usr/local/lib/systemd/system/saker-enroll.service", try String(contentsOf: unit, encoding: .utf8))
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 0 && !result.output.contains("no saker-enroll.service"), "\(result.errors)")
        let enabled = try Program.run("/usr/bin/systemctl", ["--root=\(root)", "is-enabled", "saker-enroll.service"])
        #expect(enabled.output == "enabled\n", "\(enabled.all)")
    }

    @Test func theHostKeysStayWhenAsked() async throws {
        try fill()
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes", "--keep-ssh"])
        #expect(result.status == 0 && isThere("/etc/ssh/ssh_host_ed25519_key"), "\(result.errors)")
        #expect(!isThere("/etc/saker/agent.toml"))
    }

    @Test func nothingIsRemovedUnasked() async throws {
        try fill()
        let result = try await SakerProgram.run(["image", "prepare", "--root", root], input: "yes\n")
        #expect(result.status == 2 && result.errors.contains("--yes"), "\(result.errors)")
        for path in ["/srv/ring/ (its files lock", "/var/lib/saker/*", "/etc/saker/device.pem", "/etc/machine-id"] {
            #expect(result.output.contains("    \(root)\(path)"), "\(result.output)")
        }
        for path in Self.own + Self.others { #expect(isThere(path), "\(path)") }
        for wrong in ["/", root + "/none"] {
            let refused = try await SakerProgram.run(["image", "prepare", "--root", wrong, "--yes"])
            #expect(refused.status == 2, "\(refused.errors)")
        }
    }

    @Test func aLinkInThePlaceOfTheSecretsIsTold() async throws {
        try fill()
        try Program.succeed("rm", "-rf", root + "/etc/saker/credentials")
        symlink("/srv", root + "/etc/saker/credentials")
        let result = try await SakerProgram.run(["image", "prepare", "--root", root, "--yes"])
        #expect(result.status == 1 && result.errors.contains("/srv: a link leads there"), "\(result.errors)")
        #expect(isThere("/srv/other"))
    }
}
