import Foundation
import ProgramTestKit
import Testing

/// A process without privilege may not have a nice value below its own, and the runtime writes a line about each refusal into the
/// system's log. No program asks for one.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PriorityTests {
    private static let calls = ["setpriority", "sched_setparam", "sched_setscheduler", "sched_setattr"]

    /// The calls of a program and its threads that concern priorities.
    private func calls(of program: String, _ arguments: [String]) throws -> [Substring] {
        let directory = try TemporaryDirectory()
        let trace = directory.file("trace")
        let done = try Program.run(
            "/usr/bin/env",
            [
                "strace", "-f", "-qq", "-e", "trace=execve,clone,clone3," + Self.calls.joined(separator: ","), "-o",
                trace,
            ]
                + [Built.path(program)] + arguments)
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        // The trace shows the program, and that it has threads.
        try require(lines.contains { $0.contains("execve") } && lines.contains { $0.contains("clone") }, done.all)
        return lines.filter { line in Self.calls.contains { line.contains($0 + "(") } }
    }

    @Test(.needs(.strace)) func noThreadOfACommandAsksForAPriority() throws {
        let directory = try TemporaryDirectory()
        let home = directory.file("server")
        #expect(try calls(of: "saker-server", ["init", "--directory", home, "--host", "127.0.0.1"]) == [])
        #expect(try calls(of: "saker-server", ["service", "list", "--config", home + "/server.toml"]) == [])
        #expect(try calls(of: "saker-server", ["doctor", "--config", home + "/server.toml"]) == [])
        #expect(try calls(of: "saker", ["status", "--socket", directory.file("no.socket")]) == [])
    }
}
