import Foundation
import ProgramTestKit
import Synchronization
import Testing
import TrackTestKit

struct ProcessResult: Sendable {
    let status: Int32
    let output: String
    let errors: String
}

/// Runs a program to its end.
func run(
    _ program: String, _ arguments: [String], _ environment: [String: String] = [:]
) async throws -> ProcessResult {
    try await RunningProcess(program, arguments, environment: environment).result()
}

/// The program that this package builds; it lies beside the tests.
func sakerServer(_ arguments: String...) async throws -> ProcessResult { try await run(serverPath, arguments) }

let serverPath: String = {
    let here = ProcessInfo.processInfo.arguments[0]
    let directory = URL(fileURLWithPath: here).deletingLastPathComponent().path
    return "\(directory)/saker-server"
}()

/// A process that is ended with its owner; what it writes goes to files, which hold all of it once it has ended.
final class RunningProcess: Sendable {
    private let ended: AsyncStream<Void>
    private let files: TemporaryDirectory
    private let process: Process

    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        files = try TemporaryDirectory()
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardInput = FileHandle.nullDevice
        for name in ["output", "errors"] { try Data().write(to: URL(fileURLWithPath: "\(files.path)/\(name)")) }
        process.standardOutput = FileHandle(forWritingAtPath: "\(files.path)/output")
        process.standardError = FileHandle(forWritingAtPath: "\(files.path)/errors")
        let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
        self.ended = ended
        process.terminationHandler = { _ in continuation.finish() }
        try process.runWithItsFiles()
    }

    var identifier: Int32 { process.processIdentifier }

    deinit { if process.isRunning { kill(identifier, SIGKILL) } }

    func send(_ signal: Int32) { kill(identifier, signal) }

    var errors: String { text("errors") }

    private func text(_ file: String) -> String {
        String(decoding: FileManager.default.contents(atPath: "\(files.path)/\(file)") ?? Data(), as: UTF8.self)
    }

    /// Waits for the end; throws after two minutes.
    func result() async throws -> ProcessResult {
        let ended = ended
        try await withDeadline { for await _ in ended {} }
        return ProcessResult(status: process.terminationStatus, output: text("output"), errors: errors)
    }
}

/// Asks until the answer is there; throws after two minutes.
func eventually<Answer: Sendable>(_ ask: @escaping @Sendable () async throws -> Answer?) async throws -> Answer {
    let box = Mutex<Answer?>(nil)
    try await withDeadline {
        while true {
            if let answer = try await ask() { return box.withLock { $0 = answer } }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
    return try #require(box.withLock { $0 })
}
