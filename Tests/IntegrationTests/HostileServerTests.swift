import Foundation
import ProgramTestKit
import Testing

/// A server that proves who it is and then breaks the protocol: the real agent keeps its points, says what it saw, and
/// comes back after longer and longer waits.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python)) struct HostileServerTests {
    private let start = 1_780_000_020

    struct Case: CustomTestStringConvertible, Sendable {
        let manner: ScriptedServer.Manner
        /// One of them is in the reason of status and log.
        let told: [String]
        var testDescription: String { manner.rawValue }

        func isTold(in text: String) -> Bool { told.contains { text.contains($0) } }
    }

    /// How the end of a connection is told. The kernel decides between an end and a reset by what is not yet read.
    private static let ended = ["without TLS's goodbye", "closed the connection", "connection is closed", "was reset"]

    static let cases = [
        Case(manner: .garbageForWelcome, told: ["at most 1048576 bytes"]),
        Case(manner: .garbageInSession, told: ["at most 1048576 bytes"]),
        Case(manner: .noMessage, told: ["the bytes are not this message"]),
        Case(manner: .unknownMessage, told: ["a server frame of an unknown kind"]),
        Case(manner: .halfAWelcome, told: ended),
        Case(manner: .halfAWelcomeAndSilence, told: ["has not answered the login within 10 s"]),
        Case(manner: .halfAnAcknowledgement, told: ended),
        Case(manner: .twoGiBForWelcome, told: ["at most 1048576 bytes"]),
        Case(manner: .twoGiBInSession, told: ["at most 1048576 bytes"]),
        Case(manner: .resetInMidBatch, told: ended),
        Case(manner: .acknowledgesTheFuture, told: ended),
    ]

    @Test func everyMannerIsTried() {
        #expect(Set(Self.cases.map(\.manner)).union([.clockAhead]) == Set(ScriptedServer.Manner.allCases))
    }

    @Test(arguments: cases) func theAgentKeepsItsPointsAndComesBack(_ hostile: Case) throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        let fleet = try Fleet()
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 20_000, from: start), pause: 0.05)
        defer { source.end() }
        let gpsd = try fleet.startGPSD(source: source.address)
        let server = try ScriptedServer(hostile.manner, for: fleet, seed: seed)
        let agent = try fleet.startAgent()
        let before = try #require(ProcessFigures(of: agent.identifier)).resident
        source.resume()

        try waitUntil("the agent says what it saw", within: 300) {
            guard let reason = try fleet.link()["last_error"] as? String else { return false }
            return hostile.isTold(in: reason)
        }
        // The first wait has at most one second: so long a wait is one of several in a row.
        try waitUntil("longer waits", within: 300) {
            let status = try fleet.status()
            guard let now = status["time"] as? Int, let next = try fleet.link()["next_try_time"] as? Int else {
                return false
            }
            return next - now > 2000
        }
        #expect(server.logins >= 3, "seed \(seed): \(server.program.printed)")
        #expect(hostile.isTold(in: agent.printed), "seed \(seed): \(agent.printed)")
        if hostile.manner == .acknowledgesTheFuture {
            #expect(agent.printed.contains("The server claims points that were never sent"), "\(agent.printed)")
        }
        // Kilobytes.
        let after = try #require(ProcessFigures(of: agent.identifier)).resident
        #expect(after < before + 16_384, "seed \(seed): \(before) kB before, \(after) kB after")
        let gathered = try fleet.counter("gathered")
        try waitUntil("gathering goes on", within: 300) { try fleet.counter("gathered") > gathered }

        server.program.end(SIGKILL)
        // What a trusted server acknowledges is given up, but nothing that was never sent to it.
        let believed = try fleet.counter("acknowledged")
        #expect((believed > 0) == (hostile.manner == .acknowledgesTheFuture), "seed \(seed): \(believed)")
        let genuine = try fleet.startServer()
        try fleet.saker(["reconnect"])
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        source.pause()
        let stopped = try fleet.saker(["service", "stop", "--timeout", "60"])
        #expect(stopped.status == 0, "seed \(seed): \(stopped.all)")
        let all = try fleet.counter("gathered")
        let track = try fleet.track(around: start)
        #expect(try track.count == all - believed && fleet.rows() == all - believed, "seed \(seed)")
        #expect(agent.end(SIGTERM) == 0, "seed \(seed): \(agent.printed)")
        genuine.end(SIGTERM)
        gpsd.end(SIGKILL)
    }
}
