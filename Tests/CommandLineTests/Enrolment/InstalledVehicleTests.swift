import ConfigurationFile
import Foundation
import Glibc
import JSON
import ProgramTestKit
import SecureLink
import Testing

@testable import SakerCommand

/// What an enrolment leaves on a vehicle that starts its agent by itself.
@Suite(.needs(.root), .timeLimit(.minutes(10))) struct InstalledVehicleTests {
    private let directory: TemporaryDirectory
    private let authority: TestAuthority

    init() throws {
        directory = try TemporaryDirectory()
        authority = try TestAuthority(in: directory.path)
    }

    private func line(_ server: EnrolmentServer) throws -> String {
        EnrolmentString(
            host: "localhost", port: server.port, token: Secret("et_abcdefghijklmnopqrstuvwxyz234567"),
            trust: .pinnedKey(try authority.pin.digest)
        ).encoded.revealed
    }

    private static let keyLine = EnrolmentString(
        host: "fleet.example", port: 7443, service: 1, accessKey: Secret("AKtest"), trust: .system
    ).encoded.revealed

    private static let begun = [
        "enable sakerd.service", "enable --now saker-renew.timer", "reset-failed sakerd.service",
        "restart sakerd.service",
    ]

    // MARK: Who may read the configuration

    @Test func theConfigurationIsTheAgentsFromTheMomentItHasItsName() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let vehicle = try InstalledVehicle()
        let watch = try DirectoryWatch(vehicle.place)
        let result = try await vehicle.run(["enroll", "-"], input: try line(server))
        #expect(result.status == 0, "\(result.errors)")
        let status = try #require(FileStatus(of: vehicle.place + "/agent.toml"))
        #expect(status.group == InstalledVehicle.group && status.permissions == 0o640)
        #expect(try watch.changes(of: "agent.toml") == [.appears])
        #expect(FileStatus(of: vehicle.place + "/credentials/device-key")?.group == 0)
        try await server.stop()
    }

    @Test func withoutTheAgentsGroupNothingIsClaimed() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let vehicle = try InstalledVehicle(hasGroup: false)
        let result = try await vehicle.run(["enroll", "-"], input: try line(server))
        #expect(result.status == 1 && result.errors.contains("no group 'saker'"), "\(result.errors)")
        #expect(server.requests.isEmpty && FileStatus(of: vehicle.place + "/agent.toml") == nil)
        try await server.stop()
    }

    @Test func anUnreadableConfigurationIsMendedByTheNextUnattendedRun() async throws {
        let vehicle = try InstalledVehicle()
        let file = vehicle.place + "/agent.toml"
        #expect(try await vehicle.run(["enroll", "-"], input: Self.keyLine).status == 0)
        chown(file, 0, 0)
        let token = vehicle.place + "/enroll.token"
        try "saker2:x".write(toFile: token, atomically: true, encoding: .utf8)
        let result = try await vehicle.run(["enroll", "/etc/saker/enroll.token", "--unattended"])
        #expect(result.status == 0, "\(result.errors)")
        let mended = try #require(FileStatus(of: file))
        #expect(mended.group == InstalledVehicle.group && mended.permissions == 0o640)
        // What somebody gave another group, and a file for everybody, are left.
        chown(file, 1, 1)
        chmod(file, 0o600)
        #expect(try await vehicle.run(["enroll", "/etc/saker/enroll.token", "--unattended"]).status == 0)
        #expect(FileStatus(of: file)?.group == 1 && FileStatus(of: file)?.permissions == 0o600)
    }

    // MARK: What systemd is told

    @Test func aCertificateIsRenewedByATimerAndAKeyIsNot() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let device = try InstalledVehicle()
        let result = try await device.run(["enroll", "-"], input: try line(server))
        #expect(result.status == 0 && result.output.contains("sakerd runs"), "\(result.errors)")
        #expect(try device.told() == Self.begun)
        let keyed = try InstalledVehicle()
        #expect(try await keyed.run(["enroll", "-"], input: Self.keyLine).status == 0)
        #expect(try keyed.told() == Self.begun.filter { !$0.contains("renew") })
        let silent = try InstalledVehicle()
        #expect(try await silent.run(["enroll", "-", "--no-start"], input: try line(server)).status == 0)
        #expect(try silent.told().isEmpty)
        try await server.stop()
    }

    @Test func aTimerThatCannotBeEnabledIsToldAndTheAgentRuns() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let vehicle = try InstalledVehicle()
        try vehicle.refuse("enable --now saker-renew.timer")
        let result = try await vehicle.run(["enroll", "-"], input: try line(server))
        #expect(result.status == 1 && result.errors.contains("will not be renewed by itself"), "\(result.errors)")
        #expect(try vehicle.told() == Self.begun)
        try await server.stop()
    }

    /// Killed, or without power, after the last file and before systemd has heard anything.
    @Test func anEnrolmentThatWasCutAtItsEndIsFinishedAtTheNextStart() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let vehicle = try InstalledVehicle()
        let token = vehicle.place + "/enroll.token"
        try line(server).write(toFile: token, atomically: true, encoding: .utf8)
        try vehicle.refuse("enable sakerd.service")
        let arguments = ["enroll", "/etc/saker/enroll.token", "--unattended", "--spread", "0"]
        #expect(try await vehicle.run(arguments).status == 1)
        #expect(FileStatus(of: vehicle.place + "/agent.toml") != nil && FileStatus(of: token) != nil)
        _ = try vehicle.told()
        try vehicle.agree()
        let result = try await vehicle.run(arguments)
        #expect(result.status == 0 && FileStatus(of: token) == nil, "\(result.errors)")
        #expect(
            try vehicle.told() == [
                "enable sakerd.service", "enable --now saker-renew.timer", "reset-failed sakerd.service",
                "start sakerd.service",
            ])
        #expect(server.requests.count == 1)
        #expect(FileStatus(of: vehicle.place + "/credentials/unfinished") == nil)
        // A line that is newer is for an image, and an agent that a person has disabled stays so.
        try "saker2:x".write(toFile: token, atomically: true, encoding: .utf8)
        #expect(try await vehicle.run(arguments).status == 0)
        #expect(try vehicle.told().isEmpty && FileStatus(of: token) != nil)
        try await server.stop()
    }

    /// A box without a clock of its own wrote the configuration in 1970, so that the line of the image seems to be newer.
    @Test func aClockThatWasBehindKeepsNoAgentFromItsStart() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let vehicle = try InstalledVehicle()
        let token = vehicle.place + "/enroll.token"
        try line(server).write(toFile: token, atomically: true, encoding: .utf8)
        try vehicle.refuse("enable sakerd.service")
        let arguments = ["enroll", "/etc/saker/enroll.token", "--unattended", "--spread", "0"]
        #expect(try await vehicle.run(arguments).status == 1)
        let past = Date(timeIntervalSince1970: 1000)
        try FileManager.default.setAttributes(
            [.modificationDate: past], ofItemAtPath: vehicle.place + "/agent.toml")
        _ = try vehicle.told()
        try vehicle.agree()
        let result = try await vehicle.run(arguments)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try vehicle.told().contains("enable sakerd.service") && FileStatus(of: token) == nil)
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    /// systemd knows of the agent before the line is gone, so the next boot starts it.
    @Test func anAgentThatDoesNotStartKeepsNoLine() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let vehicle = try InstalledVehicle()
        let token = vehicle.place + "/enroll.token"
        try line(server).write(toFile: token, atomically: true, encoding: .utf8)
        try vehicle.refuse("restart sakerd.service")
        let arguments = ["enroll", "/etc/saker/enroll.token", "--unattended", "--spread", "0"]
        let result = try await vehicle.run(arguments)
        #expect(result.status == 1 && result.errors.contains("not today"), "\(result.errors)")
        #expect(try vehicle.told() == Self.begun && FileStatus(of: token) == nil)
        try await server.stop()
    }
}

/// What happened in a directory, by the kernel's order.
private final class DirectoryWatch {
    enum Change { case appears, changes }

    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        try require(
            inotify_add_watch(descriptor, path, UInt32(IN_MOVED_TO | IN_CREATE | IN_ATTRIB)) >= 0, "inotify: \(errno)")
    }

    deinit { close(descriptor) }

    /// Of the file with this name.
    func changes(of name: String) throws -> [Change] {
        var found: [Change] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return found }
            var offset = 0
            while offset + 16 <= count {
                let header = buffer[offset..<offset + 16].withUnsafeBytes {
                    (
                        mask: $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
                        length: Int($0.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                    )
                }
                let text = String(
                    decoding: buffer[(offset + 16)..<(offset + 16 + header.length)].prefix { $0 != 0 }, as: UTF8.self)
                if text == name { found.append(header.mask & UInt32(IN_ATTRIB) == 0 ? .appears : .changes) }
                offset += 16 + header.length
            }
        }
    }
}

/// A vehicle as `saker` finds it after an installation: `/etc/saker`, the agent's group, and a systemd that only writes down
/// what it is told. The command runs in a mount namespace of its own.
struct InstalledVehicle {
    /// Of the group `saker`.
    static let group: UInt32 = 47_110

    private let directory: TemporaryDirectory
    /// What is `/etc` for the command.
    let etc: String
    var place: String { etc + "/saker" }
    private var programs: String { directory.path + "/programs" }
    private var journal: String { directory.path + "/told" }
    private var refused: String { directory.path + "/refused" }

    init(hasGroup: Bool = true) throws {
        directory = try TemporaryDirectory()
        etc = directory.path + "/etc"
        try Program.succeed("cp", "-a", "/etc", etc)
        try Program.succeed("rm", "-rf", etc + "/saker")
        try FileManager.default.createDirectory(atPath: etc + "/saker", withIntermediateDirectories: true)
        let groups = try String(contentsOfFile: "/etc/group", encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("saker:") }
        try (groups + (hasGroup ? ["saker:x:\(Self.group):"] : [])).joined(separator: "\n").appending("\n")
            .write(toFile: etc + "/group", atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        let script = """
            #!/bin/sh
            case "$1" in
            show) printf 'LoadState=loaded\\nActiveState=inactive\\nResult=success\\nNRestarts=0\\n'; exit ;;
            esac
            shift 2
            echo "$*" >>\(journal)
            if grep -qxF "$*" \(refused) 2>/dev/null; then echo 'not today'; exit 1; fi
            """
        try script.write(toFile: programs + "/systemctl", atomically: true, encoding: .utf8)
        chmod(programs + "/systemctl", 0o755)
    }

    /// From now on systemd refuses this.
    func refuse(_ command: String) throws {
        try (command + "\n").write(toFile: refused, atomically: true, encoding: .utf8)
    }

    func agree() throws { try "".write(toFile: refused, atomically: true, encoding: .utf8) }

    /// What systemd was told since this was asked last.
    func told() throws -> [String] {
        let text = (try? String(contentsOfFile: journal, encoding: .utf8)) ?? ""
        try "".write(toFile: journal, atomically: true, encoding: .utf8)
        return text.split(separator: "\n").map(String.init)
    }

    /// Runs `saker` on the vehicle.
    func run(_ arguments: [String], input: String? = nil) async throws -> SakerProgram.Result {
        let script = """
            mount --bind "$1" /etc && mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && shift && exec "$@"
            """
        return try await SakerProgram.run(
            arguments, environment: ["PATH": programs + ":/usr/bin:/bin:/usr/sbin:/sbin"], input: input,
            through: ["/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, "sh", etc])
    }
}
