import Foundation
import ProgramTestKit
import Testing

/// A real saker-server on ports of the kernel's choice, in a directory of its own.
final class ServerProcess: Sendable {
    struct Output: Sendable {
        var status: Int32
        var output: String
        var errors: String
    }

    static let programs = Bundle.main.bundleURL
    let directory: URL
    let enrollment: String
    let devicePort: Int
    private let process: Process

    init() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "saker-fleet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        self.directory = directory
        let process = Process()
        var isReady = false
        defer {
            // Whoever made it ends it only when it was made.
            if !isReady { ServerProcess.end(process, directory) }
        }
        let made = try await Self.run(
            "saker-server",
            [
                "init", "--directory", directory.path, "--host", "127.0.0.1", "--device-port", "7999", "--https-port",
                "0", "--http-port", "0", "--legacy-device",
            ])
        try #require(made.status == 0, "\(made.errors)")
        enrollment = String(try #require(made.output.firstMatch(of: /saker1:[A-Za-z0-9_-]+/)).output)
        // Agents must be told a port; this one is chosen by the kernel after all.
        let settings = directory.appending(path: "server.toml")
        let text = try String(contentsOf: settings, encoding: .utf8)
        try #require(text.contains("\nport = 7999\n"))
        try text.replacing("\nport = 7999\n", with: "\nport = 0\n").write(
            to: settings, atomically: true, encoding: .utf8)
        self.process = process
        process.executableURL = Self.programs.appending(path: "saker-server")
        let ports = directory.appending(path: "ports.json")
        process.arguments = [
            "serve", "--config", directory.appending(path: "server.toml").path, "--ports-file", ports.path,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.runWithItsFiles()
        let deadline = ContinuousClock.now + .seconds(120)
        var found: [String: Int]?
        while found == nil, ContinuousClock.now < deadline, process.isRunning {
            found = (try? Data(contentsOf: ports)).flatMap { try? JSONDecoder().decode([String: Int].self, from: $0) }
            if found == nil { try await Task.sleep(for: .milliseconds(20)) }
        }
        devicePort = try #require(found?["device"])
        isReady = true
    }

    func kill() { Glibc.kill(process.processIdentifier, SIGKILL) }

    func end() { Self.end(process, directory) }

    private static func end(_ process: Process, _ directory: URL) {
        if process.isRunning {
            process.terminate()
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: directory)
    }

    /// `saker-sim fleet` to its end; `onErrors` gets what it writes to standard error, piece by piece.
    func fleet(
        _ arguments: [String], onErrors: (@Sendable (String) -> Void)? = nil
    ) async throws -> Output {
        try await Self.run(
            "saker-sim",
            ["fleet", "--server", "127.0.0.1:\(devicePort)", "--enroll", secret(enrollment)]
                + arguments,
            onErrors: onErrors)
    }

    /// The path of a new file that holds a key, because no program takes a key as an argument.
    func secret(_ text: String) throws -> String {
        let file = directory.appending(path: UUID().uuidString)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    static func run(
        _ program: String, _ arguments: [String], onErrors: (@Sendable (String) -> Void)? = nil
    ) async throws -> Output {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Swift.Result { try runToEnd(program, arguments, onErrors) })
            }
        }
    }

    private static func runToEnd(
        _ program: String, _ arguments: [String], _ onErrors: (@Sendable (String) -> Void)?
    ) throws -> Output {
        let process = Process()
        let errors = Pipe()
        // A file takes any amount without anyone reading meanwhile.
        let file = FileManager.default.temporaryDirectory.appending(path: "saker-fleet-out-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        process.executableURL = programs.appending(path: program)
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: file)
        process.standardError = errors
        try process.runWithItsFiles()
        var text = ""
        while case let piece = errors.fileHandleForReading.availableData, !piece.isEmpty {
            text += String(decoding: piece, as: UTF8.self)
            onErrors?(text)
        }
        process.waitUntilExit()
        return Output(
            status: process.terminationStatus, output: try String(contentsOf: file, encoding: .utf8), errors: text)
    }
}
