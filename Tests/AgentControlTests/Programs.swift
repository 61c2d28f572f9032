import Foundation
import ProgramTestKit

/// Runs a program to its end and returns what it printed; both streams go through files, so that none can fill up.
func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
    let directory = try TemporaryDirectory()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let files = ["output", "errors"].map { directory.path + "/" + $0 }
    for file in files { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: files[0]))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: files[1]))
    try await process.runToItsEnd()
    return (
        process.terminationStatus, try String(contentsOfFile: files[0], encoding: .utf8),
        try String(contentsOfFile: files[1], encoding: .utf8)
    )
}
