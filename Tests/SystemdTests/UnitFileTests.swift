import Glibc
import ProgramTestKit
import Testing

@testable import Systemd

/// The unit files as the installed systemd sees them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UnitFileTests {
    /// The repository's `systemd` directory.
    static let units = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/systemd"

    private func run(_ arguments: [String], in directory: String) throws -> (status: Int32, output: String) {
        let path = directory + "/output"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        // Not this process's environment: another test changes that meanwhile.
        var environment = [strdup("PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"), strdup("LC_ALL=C.UTF-8"), nil]
        defer { for word in environment { free(word) } }
        var process: pid_t = 0
        guard posix_spawnp(&process, arguments[0], &actions, nil, &words, &environment) == 0 else {
            throw Trouble("\(arguments[0]) cannot be started")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return (status, text(of: path))
    }

    private func text(of path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 17)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }

    /// Calls `body` with a temporary directory, removed afterwards.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/saker-units-XXXXXX".utf8CString)
        #expect(mkdtemp(&template) != nil)
        let directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { _ = try? run(["rm", "-r", directory], in: directory) }
        try body(directory)
    }

    /// A copy of a unit whose program exists on this machine.
    private func copy(_ unit: String, to directory: String) throws -> String {
        let lines = text(of: "\(Self.units)/\(unit)").split(separator: "\n", omittingEmptySubsequences: false)
        try #require(lines.count > 10)
        let path = "\(directory)/\(unit)"
        try write(
            lines.map { $0.hasPrefix("ExecStart=") ? "ExecStart=/bin/true" : String($0) }.joined(separator: "\n"),
            to: path)
        return path
    }

    @Test(
        .needs(.systemdAnalyze),
        arguments: ["sakerd.service", "saker-server.service", "sakerd-again.service", "saker-server-again.service"])
    func systemdHasNothingToSayAboutTheUnit(unit: String) throws {
        try withDirectory { directory in
            // systemd also loads the units that this unit names.
            let name = unit.replacing(".service", with: "").replacing("-again", with: "")
            for other in ["\(name).service", "\(name)-again.service"] { _ = try copy(other, to: directory) }
            let path = "\(directory)/\(unit)"
            let result = try run(["systemd-analyze", "verify", "--man=no", path], in: directory)
            #expect(result.status == 0)
            #expect(result.output.isEmpty, "\(result.output)")
        }
    }

    @Test(.needs(.systemdAnalyze), arguments: ["saker-enroll.service", "saker-renew.timer"])
    func systemdHasNothingToSayAboutTheUnitsOfACommand(unit: String) throws {
        try withDirectory { directory in
            for other in ["saker-enroll.service", "saker-renew.service", "saker-renew.timer"] {
                _ = try copy(other, to: directory)
            }
            let result = try run(["systemd-analyze", "verify", "--man=no", "\(directory)/\(unit)"], in: directory)
            #expect(result.status == 0 && result.output.isEmpty, "\(result.output)")
        }
    }

    @Test(.needs(.systemdAnalyze), arguments: ["sakerd.service", "saker-server.service"])
    func theUnitIsExposedByTwoPointsAtMost(unit: String) throws {
        try withDirectory { directory in
            let path = try copy(unit, to: directory)
            let result = try run(
                ["systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=20", path], in: directory)
            #expect(result.status == 0, "\(result.output)")
            #expect(result.output.contains("Overall exposure level for \(unit): "))
        }
    }

    @Test(arguments: ["sakerd.service", "saker-server.service"])
    func theUnitWatchesRestartsAndNotifies(unit: String) {
        let lines = Set(text(of: "\(Self.units)/\(unit)").split(separator: "\n"))
        for line in [
            "Type=notify", "NotifyAccess=main", "Restart=always", "WatchdogSec=60s",
            "ExecReload=/bin/kill -HUP $MAINPID",
            "StartLimitIntervalSec=30s", "StartLimitBurst=5", "ConfigurationDirectory=saker",
        ] {
            #expect(lines.contains(Substring(line)), "\(unit) lacks \(line)")
        }
    }

    /// systemd counts the starts of 30 s; a unit that is started again sooner would be refused.
    @Test(arguments: ["sakerd", "saker-server"]) func aUnitThatWasGivenUpIsStartedAgain(name: String) throws {
        let unit = text(of: "\(Self.units)/\(name).service").split(separator: "\n")
        #expect(unit.contains("OnFailure=\(name)-again.service"))
        let again = text(of: "\(Self.units)/\(name)-again.service").split(separator: "\n")
        #expect(again.contains("PartOf=\(name).service"))
        let commands = again.filter { $0.hasPrefix("ExecStart=") }
        #expect(commands == ["ExecStart=/bin/sleep 120", "ExecStart=/bin/systemctl --no-block start \(name).service"])
    }

    /// `scripts/test-packages` looks at units without a configuration under a real systemd.
    @Test func aUnitWithoutConfigurationWaits() {
        let agent = text(of: "\(Self.units)/sakerd.service")
        #expect(agent.contains("\nConditionPathExists=/etc/saker/agent.toml\n"))
        // One of the two is enough.
        let server = text(of: "\(Self.units)/saker-server.service")
        for place in ["/etc/saker", "/var/lib/saker-server"] {
            #expect(server.contains("\nConditionPathExists=|\(place)/server.toml\n"))
        }
    }

    /// A hook may call nice(1), which asks for a nice value (setpriority, of the group @resources). The programs themselves ask for
    /// none: ThreadPriorityTests.
    @Test(.needs(.systemdAnalyze)) func aHookThatAsksForAPriorityGetsNoError() throws {
        let filters = text(of: "\(Self.units)/sakerd.service").split(separator: "\n")
            .filter { $0.hasPrefix("SystemCallFilter=") }
        let denied = try #require(filters.firstIndex(of: "SystemCallFilter=~@privileged @resources"))
        let silent = try #require(filters.firstIndex(of: "SystemCallFilter=~setpriority:0"))
        #expect(denied < silent)
        try withDirectory { directory in
            let group = try run(["systemd-analyze", "--no-pager", "syscall-filter", "@resources"], in: directory)
            #expect(group.output.contains(" setpriority\n"), "\(group.output)")
        }
    }

    /// Both programs believe their clock only when the kernel says that something keeps it.
    @Test(arguments: ["sakerd.service", "saker-server.service"]) func theClockCanBeAsked(unit: String) throws {
        let lines = text(of: "\(Self.units)/\(unit)").split(separator: "\n")
        #expect(!lines.contains { $0.hasPrefix("ProtectClock=") && $0 != "ProtectClock=no" })
        let denied = try #require(lines.firstIndex(of: "SystemCallFilter=~@privileged @resources"))
        let allowed = try #require(lines.firstIndex(of: "SystemCallFilter=adjtimex clock_adjtime clock_adjtime64"))
        #expect(denied < allowed)
    }

    @Test(.needs(.systemdSysusers)) func theDirectoryThatInitWritesToIsMadeForTheServersUser() throws {
        try withDirectory { directory in
            let users = ["saker.conf", "saker-server.conf"].map { "\(Self.units)/sysusers.d/\($0)" }
            #expect(try run(["mkdir", "\(directory)/etc"], in: directory).status == 0)
            #expect(try run(["systemd-sysusers", "--root=\(directory)"] + users, in: directory).status == 0)
            let made = try run(
                [
                    "systemd-tmpfiles", "--create", "--root=\(directory)",
                    "\(Self.units)/tmpfiles.d/saker-server.conf",
                ], in: directory)
            #expect(made.status == 0, "\(made.output)")
            var status = stat()
            try #require(stat("\(directory)/var/lib/saker-server", &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o750)
            let line = text(of: "\(directory)/etc/passwd").split(separator: "\n")
                .first { $0.hasPrefix("saker-server:") }
            let user = line?.split(separator: ":", omittingEmptySubsequences: false)
            // Only root can give the directory away.
            if geteuid() == 0 { #expect(user?[2] == Substring("\(status.st_uid)")) }
        }
    }

    @Test(.needs(.systemdSysusers)) func usersAreMadeAsTheUnitsNameThem() throws {
        try withDirectory { directory in
            let files = ["saker.conf", "saker-server.conf"].map { "\(Self.units)/sysusers.d/\($0)" }
            let result = try run(["systemd-sysusers", "--dry-run", "--root=\(directory)"] + files, in: directory)
            #expect(result.status == 0, "\(result.output)")
            for user in ["saker", "saker-server"] { #expect(result.output.contains("Creating user '\(user)'")) }
        }
        for (unit, user) in [("sakerd.service", "saker"), ("saker-server.service", "saker-server")] {
            let text = text(of: "\(Self.units)/\(unit)")
            #expect(text.contains("\nUser=\(user)\nGroup=\(user)\n"))
        }
    }

    // MARK: - Message identifiers

    @Test func identifiersAreWellFormedAndDifferent() {
        #expect(MessageID.allCases.allSatisfy { MessageID.isWellFormed($0.rawValue) })
        #expect(!MessageID.isWellFormed(String(repeating: "g", count: 32)))
        #expect(!MessageID.isWellFormed("0"))
    }

    @Test(.needs(.journalctl)) func theCatalogAndTheDocumentationKnowEveryIdentifier() throws {
        let catalog = text(of: "\(Self.units)/saker.catalog").split(separator: "\n")
        let explained = catalog.filter { $0.hasPrefix("-- ") }.map { String($0.dropFirst(3)) }
        #expect(Set(explained) == Set(MessageID.allCases.map(\.rawValue)))
        #expect(explained.count == MessageID.allCases.count)
        let document = text(of: "\(Self.units)/../docs/journal.md")
        for id in MessageID.allCases { #expect(document.contains(" | `\(id)` | ")) }
        try withDirectory { directory in
            let target = "\(directory)/usr/lib/systemd/catalog"
            #expect(try run(["mkdir", "-p", target], in: directory).status == 0)
            #expect(try run(["cp", "\(Self.units)/saker.catalog", target], in: directory).status == 0)
            let result = try run(["journalctl", "--update-catalog", "--root=\(directory)"], in: directory)
            #expect(result.status == 0, "\(result.output)")
            #expect(result.output.isEmpty, "\(result.output)")
        }
    }
}
