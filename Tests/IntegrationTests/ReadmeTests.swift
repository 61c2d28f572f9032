import Foundation
import ProgramTestKit
import Testing

/// README, followed by a person on a system with nothing on it.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ReadmeTests {
    @Test func itsLinesWorkOnABareSystem() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("scripts/walk-readme").path
        let directory = URL(fileURLWithPath: Built.path("saker")).deletingLastPathComponent().path
        let walk = try Program.run(script, [], environment: ["BUILT": directory])
        // 77: no bare system can be made here, and the script says why.
        try Need("a bare system of its own") { walk.status == 77 ? walk.all : nil }.demand()
        #expect(walk.status == 0 && walk.output.hasSuffix("walked\n"), "\(walk.all)")
    }
}
