import Foundation
import ProgramTestKit
import Testing

/// What the other tests lean on.
struct TestKitTests {
    /// A test that ends its receiver late must not cut the socket of another that has got the number meanwhile.
    @Test func endingAClosedListenerTouchesNoDescriptorOfOthers() throws {
        let closed = try ListeningSocket()
        closed.close()
        // Some hundred, because tests beside this one may take the free number first.
        let others = try (0..<100).map { _ in try ListeningSocket() }
        closed.end()
        #expect(others.allSatisfy { isListening($0.port) })
    }

    @Test func aTestThatLacksSomethingIsSkippedAndFailsInContinuousIntegration() {
        let met = Need("a sky", package: "sky") { nil }
        #expect(met.verdict(in: [:]) == .runs)
        #expect(met.verdict(in: ["CI": "true"]) == .runs)
        let missing = Need("a moon", package: "moon") { "there is no /moon" }
        let reason =
            "this machine lacks a moon: there is no /moon; install the Debian package moon (scripts/install-deps does)"
        #expect(missing.verdict(in: [:]) == .isSkipped(reason))
        #expect(missing.verdict(in: ["CI": ""]) == .isSkipped(reason))
        for value in ["true", "1", "false"] {
            #expect(missing.verdict(in: ["CI": value]) == .fails(reason + ". CI is set, so no test may be left out"))
        }
        let index = Need("a star", mayBeMissing: true) { "nobody answers" }
        #expect(index.verdict(in: ["CI": "true"]) == .isSkipped("this machine lacks a star: nobody answers"))
        let right = Need("the rights of root") { "the user is 1000" }
        #expect(right.verdict(in: [:]) == .isSkipped("this machine lacks the rights of root: the user is 1000"))
    }

    @Test func aWaitThatEndsWithoutWhatItWaitsForSaysSo() {
        let trouble = #expect(throws: Trouble.self) { try waitUntil("the moon", within: 0.05) { false } }
        #expect(trouble?.description.hasSuffix("still waiting: the moon") == true)
    }

    /// Programs in another folder make a fleet and run in it: what `scripts/old-and-new` begins with.
    @Test(.timeLimit(.minutes(60))) func programsOfAnotherFolderMakeAFleet() throws {
        let folder = URL(fileURLWithPath: Built.path("saker-server")).deletingLastPathComponent().path
        let fleet = try Fleet(founder: folder)
        let server = try fleet.startServer(from: folder)
        defer { server.end(SIGKILL) }
        let agent = try fleet.startAgent(from: folder)
        defer { agent.end(SIGKILL) }
        #expect(try fleet.hasServerFences() && fleet.hasOwnFences())
    }
}
