import Foundation
import ProgramTestKit

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
