import Foundation
import Glibc
import ProgramTestKit
import Testing

@testable import FenceCommands

/// Files that commands write as a whole or not at all.
@Suite struct OutputFileTests {
    /// A number that the file has given back may be another file's already.
    @Test func aFileThatCannotTakeItsPlaceClosesItsDescriptorOnce() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("taken")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        var file = try OutputFile(path)
        try file.write("fences")
        #expect(throws: FenceCommandFailure.self) { try file.finish() }
        // The lowest free numbers, the one that was given back among them.
        let others = (0..<20).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        defer { for other in others { close(other) } }
        file.discard()
        #expect(others.allSatisfy { fcntl($0, F_GETFD) >= 0 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["taken"])
    }

    @Test func whatIsGivenUpLeavesNothing() throws {
        let directory = try TemporaryDirectory()
        var file = try OutputFile(directory.file("a"))
        try file.write("half")
        file.discard()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }
}
