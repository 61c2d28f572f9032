import Foundation
import ProgramTestKit
import Testing

/// Links that die without a word, between two network namespaces.
@Suite(.timeLimit(.minutes(60)), .needs(.gpsd, .python, .networkNamespaces))
struct DeadLinkTests {
    enum Death: CaseIterable { case nothingPasses, answersAreLost, serverHangs }

    @Test(arguments: Death.allCases)
    func aDeadLinkIsNoticedWithin21SecondsAndUsedAgain(death: Death) throws {
        let link = try PacketLink(seed: 1)
        let road = try Road(link)
        defer { road.source.end() }
        let fleet = road.fleet

        switch death {
        case .nothingPasses: try link.set(.silent)
        case .answersAreLost: try link.set(.deafAgent)
        case .serverHangs: road.server.signal(SIGSTOP)
        }
        // Points come many times a second: the first byte without an answer follows at once.
        let lateness = Lateness()
        let died = Int(Date.now.timeIntervalSince1970 * 1000)
        var noticed: Int?
        try waitUntil("the link is given up", within: 300) {
            let status = try #require(try fleet.status()["link"] as? [String: Any])
            guard status["state"] as? String != "online" else { return false }
            noticed = noticed ?? status["since"] as? Int
            return true
        }
        let taken = try #require(noticed) - died
        let late = lateness.end()
        #expect((0...21_000 + late).contains(taken), "noticed after \(taken) ms, the machine was late by \(late) ms")

        let before = try fleet.counter("acknowledged")
        try link.heal()
        road.server.signal(SIGCONT)
        try waitUntil("points arrive again", within: 300) { try fleet.counter("acknowledged") > before + 10 }
        try road.end()
    }

    @Test func aNATEntryThatRanOutCostsAConnectionAndNoPoint() throws {
        let link = try PacketLink(seed: 2)
        let road = try Road(link)
        defer { road.source.end() }
        let fleet = road.fleet
        let sessions = try fleet.counter("sessions")
        try link.set(.forgotten)
        // The old connection is dead for good, the way for a new one is open.
        try waitUntil("a new connection", within: 300) { try fleet.counter("sessions") > sessions }
        let before = try fleet.counter("acknowledged")
        try waitUntil("points arrive again", within: 300) { try fleet.counter("acknowledged") > before + 10 }
        try road.end()
    }
}

/// A vehicle that drives with everything running, until its points arrive.
private struct Road {
    let fleet: Fleet
    let source: ReceiverSource
    let server: Program
    private let gpsd: Program
    private let agent: Program

    init(_ link: PacketLink) throws {
        fleet = try Fleet(link: link)
        let drive = ReceiverSource.drive(seconds: 20_000, from: 1_780_000_020).map { Array($0.utf8) }
        source = try ReceiverSource(pieces: drive, pause: 0.02, in: link.agentNetwork)
        gpsd = try fleet.startGPSD(source: source.address)
        server = try fleet.startServer()
        agent = try fleet.startAgent()
        source.resume()
        try waitUntil("points arrive", within: 300) { [fleet] in try fleet.counter("acknowledged") > 10 }
    }

    /// Uploads the rest: every point that was gathered is stored, once.
    func end() throws {
        source.pause()
        #expect(try fleet.saker(["service", "stop", "--timeout", "60"]).status == 0)
        #expect(try fleet.rows() == fleet.counter("gathered"))
        agent.end(SIGTERM)
        server.end(SIGTERM)
        gpsd.end(SIGKILL)
    }
}
