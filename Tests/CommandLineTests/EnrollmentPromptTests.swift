import ConfigurationFile
import Foundation
import Glibc
import ProgramTestKit
import Testing

@testable import SakerCommand

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
        let line = EnrollmentString(
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
