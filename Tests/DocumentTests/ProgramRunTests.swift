import Foundation
import ProgramTestKit
import Testing

/// What the runs of programs leave in the process that tests.
@Suite struct ProgramRunTests {
    /// The paths that this process has open below a directory.
    private func open(below directory: TemporaryDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0) }
            .filter { $0.hasPrefix(directory.path) }
    }

    /// A thousand runs would otherwise leave thousands of descriptors, with which Foundation's next start of a program crashes.
    @Test func aRunLeavesNoFileOpen() async throws {
        let directory = try TemporaryDirectory()
        try Data("word".utf8).write(to: URL(fileURLWithPath: directory.file("input")))
        try Data().write(to: URL(fileURLWithPath: directory.file("output")))
        // Held to the end: Foundation holds a process that has ended, too.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cat")
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: directory.file("input")))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.file("output")))
        process.standardError = FileHandle.nullDevice
        try await process.runToItsEnd()
        #expect(try String(contentsOfFile: directory.file("output"), encoding: .utf8) == "word")
        #expect(try open(below: directory) == [])
        withExtendedLifetime(process) {}
    }
    /// Every test that gives a process files of its own runs it so.
    @Test func noTestLeavesTheFilesOfItsProcessesOpen() throws {
        let files = try #require(FileManager.default.enumerator(atPath: Repository.root + "/Tests"))
        var withFiles = 0
        for case let name as String in files where name.hasSuffix(".swift") && !#filePath.hasSuffix(name) {
            let text = try Repository.text("Tests/\(name)")
            guard text.contains("= Process()"), text.contains("FileHandle(for") else { continue }
            withFiles += 1
            #expect(!text.contains("process.run()"), "\(name): runWithItsFiles() closes what process.run() leaves open")
        }
        #expect(withFiles > 3)
    }
}
