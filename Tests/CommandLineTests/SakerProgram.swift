import Foundation
import Glibc
import ProgramTestKit

/// Runs of the built `saker`.
enum SakerProgram {
    struct Result {
        let status: Int32
        let output: String
        let errors: String

        var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
    }

    /// Beside the program that runs the tests.
    static let path = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "saker").path

    /// Nothing of the tester's own environment decides: no configuration files, UTC.
    ///
    /// `through`: the words of a command that runs the command that follows them.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], input: String? = nil, through words: [String] = []
    ) async throws -> Result {
        let directory = try TemporaryDirectory()
        let process = Process()
        let command = words + [path] + arguments
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = [
            "PATH": "/usr/bin:/bin", "HOME": directory.path, "TZ": "UTC", "COLUMNS": "200",
        ].merging(environment) { $1 }
        // Through files: none of the streams can fill up while the others are waited for.
        let files = ["input", "output", "errors"].map { directory.path + "/." + $0 }
        try Data((input ?? "").utf8).write(to: URL(fileURLWithPath: files[0]))
        for file in files.dropFirst() { try Data().write(to: URL(fileURLWithPath: file)) }
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: files[0]))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: files[1]))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: files[2]))
        try await process.runToItsEnd()
        return Result(
            status: process.terminationStatus, output: try String(contentsOfFile: files[1], encoding: .utf8),
            errors: try String(contentsOfFile: files[2], encoding: .utf8))
    }
}

/// Local times of tests are UTC.
enum LocalZone {
    static let isUTC: Bool = {
        setenv("TZ", "UTC", 1)
        tzset()
        return true
    }()
}
