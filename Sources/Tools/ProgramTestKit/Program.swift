package import Foundation
import Testing

/// One real process of a test. Its output goes to files, the test waits for what it prints, and the process always
/// ends.
///
/// The output goes to files, not pipes: after the end they hold everything, and nobody has to read meanwhile.
package final class Program: Sendable {
    package let name: String
    private let process: Process
    private let files: TemporaryDirectory

    /// `network`: the network of the process; nil for the test's own.
    package init(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil,
        in network: NetworkNamespace? = nil
    ) throws {
        name = (executable as NSString).lastPathComponent
        files = try TemporaryDirectory()
        process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = try Self.newFile(files.file("output"))
        process.standardError = try Self.newFile(files.file("errors"))
        if let input {
            try Data(input.utf8).write(to: URL(fileURLWithPath: files.file("input")))
            process.standardInput = FileHandle(forReadingAtPath: files.file("input"))
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        let process = process
        try inside(network) { try process.runWithItsFiles() }
        Leftovers.register(process: process.processIdentifier)
    }

    deinit {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        Leftovers.forget(process: process.processIdentifier)
    }

    private static func newFile(_ path: String) throws -> FileHandle {
        try Data().write(to: URL(fileURLWithPath: path))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        return handle
    }

    /// The standard output so far.
    package var output: String { text("output") }

    /// The output so far: standard output, then standard error.
    package var printed: String { text("output") + text("errors") }

    private func text(_ file: String) -> String {
        String(decoding: FileManager.default.contents(atPath: files.file(file)) ?? Data(), as: UTF8.self)
    }

    package var identifier: Int32 { process.processIdentifier }
    package var isRunning: Bool { process.isRunning }

    package func signal(_ number: Int32) {
        // The number of an ended process may belong to another process.
        if process.isRunning { Glibc.kill(process.processIdentifier, number) }
    }

    /// Waits for the end and returns the exit status; 128 + n for signal n, as in a shell. A process that does not end
    /// fails the running test, and the status is -1.
    ///
    /// It polls the process, because Foundation's own wait needs a run loop of the calling thread.
    @discardableResult
    package func end(_ number: Int32? = nil) -> Int32 {
        if let number { signal(number) }
        do {
            let end = "\(name) ends" + (number.map { " by signal \($0)" } ?? "")
            try waitUntil(end, within: 300) { !process.isRunning }
        } catch {
            print("process \(identifier): \(error)")
            Issue.record(error, "process \(identifier)")
            return -1
        }
        Leftovers.forget(process: process.processIdentifier)
        return process.terminationReason == .uncaughtSignal
            ? 128 + process.terminationStatus : process.terminationStatus
    }

    /// Runs a program to its end. Returns its status, its standard output, and all its output.
    package static func run(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil,
        in network: NetworkNamespace? = nil
    ) throws -> (status: Int32, output: String, all: String) {
        let program = try Program(executable, arguments, environment: environment, input: input, in: network)
        let status = program.end()
        return (status, program.output, program.printed)
    }
}

extension Program {
    /// Runs a program of the search path, and throws all that it printed when it does not end with 0.
    @discardableResult
    package static func succeed(_ words: String..., environment: [String: String] = [:]) throws -> String {
        let done = try run("/usr/bin/env", words, environment: environment)
        try require(done.status == 0, "\(words.joined(separator: " ")) ends with \(done.status): \(done.all)")
        return done.output
    }
}

/// The programs under test. They are beside the running program, or in the folder that `SAKER_PROGRAMS` names.
package enum Built {
    /// `folder`: of another version of the programs; nil for those under test.
    package static func path(_ name: String, in folder: String?) -> String {
        folder.map { "\($0)/\(name)" } ?? path(name)
    }

    package static func path(_ name: String) -> String {
        if let folder = ProcessInfo.processInfo.environment["SAKER_PROGRAMS"] { return "\(folder)/\(name)" }
        let own = CommandLine.arguments.first ?? ""
        var folder = URL(fileURLWithPath: own.contains("/") ? own : Bundle.main.executablePath ?? own)
            .deletingLastPathComponent()
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent(name).path
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
            folder.deleteLastPathComponent()
        }
        return name
    }
}

extension Process {
    /// Runs the process, and closes the files that it was given as its streams: it has copies of its own. Foundation keeps them open
    /// after the end, and its next start crashes the tests when over a thousand descriptors are open.
    package func runWithItsFiles() throws {
        try run()
        for stream in [standardInput, standardOutput, standardError] {
            guard let file = stream as? FileHandle, file !== FileHandle.nullDevice else { continue }
            try file.close()
        }
    }

    /// Runs the process with `runWithItsFiles`, and returns when it has ended.
    package func runToItsEnd() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            terminationHandler = { _ in continuation.resume() }
            do {
                try runWithItsFiles()
            } catch {
                terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }

    /// Returns when the process, which runs, has ended; throws when it does not within five minutes. It asks again and again: Foundation's
    /// own wait needs a run loop of the calling thread, and may turn for ever on another.
    package func awaitEnd() throws {
        try waitUntil("process \(processIdentifier) ends", within: 300) { !isRunning }
    }
}
