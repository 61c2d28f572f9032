import ConfigurationFile
import Foundation
import Glibc
import ProgramTestKit
import Testing

@testable import SakerCommand

@Suite(.timeLimit(.minutes(5))) struct EnrollCommandTests {
    private static let key = "AKtest0123456789"

    private func line(_ trust: EnrolmentString.Trust, web: String? = "https://fleet.example:8443") -> String {
        EnrolmentString(
            host: "fleet.example", port: 7443, serverName: "tracks", webAddress: web, service: 42,
            accessKey: Secret(Self.key), trust: trust
        ).encoded.revealed
    }

    private func mode(_ path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func theLineOnStandardInputBecomesTheFiles() async throws {
        let directory = try TemporaryDirectory()
        let place = directory.path + "/saker"
        let result = try await SakerProgram.run(
            ["enroll", "-", "--directory", place, "--entity", "货车 \"07\""],
            input: line(.certificate([0x30, 0x03, 1, 2, 3])) + "\n")
        #expect(result.status == 0, "\(result.errors)")
        #expect(mode(place) == 0o755)
        #expect(mode(place + "/credentials") == 0o700)
        #expect(mode(place + "/credentials/ak") == 0o600)
        #expect(mode(place + "/agent.toml") == 0o640)
        #expect(mode(place + "/ca.pem") == 0o644)
        #expect(mode(place + "/client.toml") == 0o644)
        #expect(try text(place + "/credentials/ak") == Self.key + "\n")
        #expect(try text(place + "/ca.pem").hasPrefix("-----BEGIN CERTIFICATE-----\nMAMBAgM=\n"))
        // The key stands in its own file and nowhere else.
        #expect(!result.output.contains(Self.key) && !result.errors.contains(Self.key))
        #expect(!(try text(place + "/agent.toml")).contains(Self.key))
        #expect(!(try text(place + "/client.toml")).contains(Self.key))

        var reader = try ConfigurationReader(path: place + "/agent.toml")
        #expect(reader.requiredString("server", "host") == "fleet.example")
        #expect(reader.integer("server", "port", default: 0, range: 0...65535) == 7443)
        #expect(reader.optionalString("server", "server_name") == "tracks")
        #expect(reader.optionalString("server", "ca_file").map { reader.resolve($0) } == place + "/ca.pem")
        #expect(reader.integer("service", "id", default: 0, range: 0...100) == 42)
        #expect(reader.secret("service", "ak")?.revealed == Self.key)
        #expect(reader.optionalString("service", "entity") == "货车 \"07\"")
        #expect(reader.optionalString("service", "enrollment")?.count == 32)
        _ = try reader.finish()

        let client = try #require(try ClientFile.load(explicit: place + "/client.toml", withKey: true))
        #expect(client.url == "https://fleet.example:8443")
        #expect(client.service == 42)
        #expect(client.accessKey?.revealed == Self.key)
        #expect(client.authorityFile == place + "/ca.pem")
    }

    @Test func aPinnedKeyAndASystemTrustAreWrittenAsSuch() async throws {
        let directory = try TemporaryDirectory()
        let pinned = try await SakerProgram.run(
            ["enroll", "-", "--directory", directory.path + "/a"],
            input: line(.pinnedKey([UInt8](repeating: 7, count: 32)), web: nil))
        #expect(pinned.status == 0, "\(pinned.errors)")
        #expect(
            try text(directory.path + "/a/agent.toml")
                .contains("pinned_key = \"sha256//BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\""))
        #expect(mode(directory.path + "/a/ca.pem") == nil)
        #expect(mode(directory.path + "/a/client.toml") == nil)
        let file = directory.path + "/line.txt"
        try "\"\(line(.system))\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        let system = try await SakerProgram.run(["enroll", file, "--directory", directory.path + "/b"])
        #expect(system.status == 0, "\(system.errors)")
        #expect(!(try text(directory.path + "/b/agent.toml")).contains("pinned_key"))
    }

    @Test func aLineAsAnArgumentIsRefusedAndNotRepeated() async throws {
        let directory = try TemporaryDirectory()
        for given in [line(.system), "'\(line(.system))'", "saker2:AbCd", "saker9:AbCd"] {
            let result = try await SakerProgram.run(["enroll", given, "--directory", directory.path + "/a"])
            #expect(result.status == 2)
            for text in ["standard input", "file", "rotate-key"] { #expect(result.errors.contains(text)) }
            #expect(!result.errors.contains(given) && !result.output.contains(given))
            #expect(mode(directory.path + "/a") == nil)
        }
    }

    @Test func aFileThatCannotBeReadOrHoldsNoLineIsRefused() async throws {
        let directory = try TemporaryDirectory()
        let missing = try await SakerProgram.run(["enroll", directory.path + "/none"])
        #expect(missing.status == 1 && missing.errors.contains("No such file"), "\(missing.errors)")
        try Data([0xFF, 0xFE]).write(to: URL(fileURLWithPath: directory.path + "/bytes"))
        let bytes = try await SakerProgram.run(["enroll", directory.path + "/bytes"])
        #expect(bytes.status == 1 && bytes.errors.contains("holds no enrolment line"), "\(bytes.errors)")
    }

    @Test func whatIsThereStaysUnlessForced() async throws {
        let directory = try TemporaryDirectory()
        let arguments = ["enroll", "-", "--directory", directory.path]
        try "mine".write(toFile: directory.path + "/agent.toml", atomically: true, encoding: .utf8)
        let refused = try await SakerProgram.run(arguments, input: line(.system))
        #expect(refused.status == 1)
        #expect(refused.errors.contains("--force"))
        #expect(try text(directory.path + "/agent.toml") == "mine")
        // Nothing at all was written, not even what was free.
        #expect(mode(directory.path + "/credentials") == nil)
        let forced = try await SakerProgram.run(arguments + ["--force"], input: line(.system))
        #expect(forced.status == 0, "\(forced.errors)")
        #expect(try text(directory.path + "/agent.toml").contains("fleet.example"))
        let mark = /\nenrollment = "([0-9a-f]{32})"\n/
        let first = try #require(try text(directory.path + "/agent.toml").firstMatch(of: mark)?.1)
        _ = try await SakerProgram.run(arguments + ["--force"], input: line(.system))
        let second = try #require(try text(directory.path + "/agent.toml").firstMatch(of: mark)?.1)
        #expect(first != second)
        #expect(mode(directory.path + "/agent.toml") == 0o640)
    }

    /// The configuration is written last, so without it the vehicle is not enrolled.
    @Test(arguments: [["credentials/ak"], ["credentials/ak", "client.toml"]])
    func anEnrolmentThatWasCutGoesOn(left: [String]) async throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory.path + "/credentials", withIntermediateDirectories: true)
        for name in left { try "old".write(toFile: directory.path + "/" + name, atomically: true, encoding: .utf8) }
        let result = try await SakerProgram.run(
            ["enroll", "-", "--directory", directory.path], input: line(.certificate([0x30, 0x03, 1, 2, 3])))
        #expect(result.status == 0, "\(result.errors)")
        #expect(try text(directory.path + "/credentials/ak") == Self.key + "\n")
        #expect(mode(directory.path + "/agent.toml") == 0o640)
        #expect(try text(directory.path + "/client.toml").contains("fleet.example"))
    }

    @Test(arguments: ["", "rubbish", "saker1:AAAA", "saker2:AAAA", "saker3:AAAA"])
    func aLineThatIsNoneIsRefusedAndNotRepeated(given: String) async throws {
        let directory = try TemporaryDirectory()
        let result = try await SakerProgram.run(["enroll", "-", "--directory", directory.path], input: given)
        #expect(result.status == 1)
        #expect(given.isEmpty || !result.errors.contains("AAAA"))
        #expect(mode(directory.path + "/agent.toml") == nil)
    }

    @Test(arguments: ["saker1:SECRET", "file:saker1:SECRET", " saker1:SECRET", "file:saker2:SECRET"])
    func anArgumentThatHoldsTheLineIsRefusedAndNotRepeated(argument: String) async throws {
        let result = try await SakerProgram.run(["enroll", argument])
        #expect(result.status == 2)
        #expect(result.errors.contains("rotate-key") && !result.errors.contains("SECRET"), "\(result.errors)")
    }

    @Test func aNameThatCannotBeIsRefused() async throws {
        let result = try await SakerProgram.run(["enroll", "-", "--entity", "a;b"], input: line(.system))
        #expect(result.status == 2)
        #expect(result.errors.contains("--entity"))
    }
}

/// The question for the line, at a terminal.
@Suite(.timeLimit(.minutes(10))) struct EnrollmentPromptTests {
    /// A terminal of the test's own: what is written to `master` is typed.
    private final class Terminal {
        let master: Int32
        let slave: FileHandle

        init() throws {
            master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var (number, lock) = (Int32(-1), Int32(0))
            // TIOCGPTN and TIOCSPTLCK, which have no name in Swift.
            try require(
                ioctl(master, 0x8004_5430, &number) == 0 && ioctl(master, 0x4004_5431, &lock) == 0, "no terminal")
            let path = "/dev/pts/\(number)"
            let descriptor = open(path, O_RDWR | O_NOCTTY)
            try require(descriptor >= 0, "\(path): errno \(errno)")
            slave = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        }

        deinit { close(master) }

        var echoes: Bool {
            var settings = termios()
            return tcgetattr(slave.fileDescriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
        }
    }

    private func start(_ terminal: Terminal, _ directory: TemporaryDirectory) throws -> Process {
        let process = Process()
        // Signals that the tests' own shell ignores, as in the background, would be ignored by the command too.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "--default-signal", SakerProgram.path, "enroll", "-", "--directory", directory.path + "/saker",
        ]
        process.standardInput = terminal.slave
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try waitUntil("the prompt hides the line", within: 300) { !terminal.echoes }
        return process
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) func aSignalLeavesATerminalThatShowsWhatIsTyped(signal: Int32)
        throws
    {
        let (terminal, directory) = (try Terminal(), try TemporaryDirectory())
        #expect(terminal.echoes)
        let process = try start(terminal, directory)
        kill(process.processIdentifier, signal)
        try process.awaitEnd()
        #expect(terminal.echoes)
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == signal)
    }

    @Test func theLineThatIsTypedIsTaken() throws {
        let (terminal, directory) = (try Terminal(), try TemporaryDirectory())
        let process = try start(terminal, directory)
        let line = EnrolmentString(
            host: "fleet.example", port: 7443, service: 1, accessKey: Secret("AKtest"), trust: .system
        ).encoded.revealed
        for piece in [Array(line.utf8.prefix(20)), Array(line.utf8.dropFirst(20)), [0x0A]] {
            _ = write(terminal.master, piece, piece.count)
        }
        try process.awaitEnd()
        #expect(process.terminationStatus == 0 && terminal.echoes)
        #expect(FileManager.default.fileExists(atPath: directory.path + "/saker/agent.toml"))
    }
}
