import AgentControl
import GNSSFeed
import Testing
import TrackCache
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// What the server hears of the vehicle's health.
@Suite struct HealthTests {
    private func reports(_ agent: ServedAgent) throws -> [HealthReport] {
        try agent.frames().compactMap { if case .heartbeat(let heartbeat) = $0 { heartbeat.report } else { nil } }
    }

    private func loggedIn(healthInterval: UInt32 = 60) throws -> ServedAgent {
        let agent = try ServedAgent()
        agent.healthInterval = healthInterval
        _ = try agent.login()
        return agent
    }

    @Test func aReceiverThatIsUnpluggedShowsWithinSeconds() throws {
        let agent = try loggedIn()
        try agent.fix(0, north: 0)
        try agent.wait(seconds: 10)
        let before = try #require(try reports(agent).last)
        #expect(before.receiver == .fix && before.isGathering && before.disk == .ok)
        agent.receiver(is: .noDevice(reason: "gone"))
        try agent.wait(seconds: 6)
        let after = try #require(try reports(agent).last)
        #expect(after.receiver == .away && after.isGathering)
        #expect(try #require(after.fixAge) >= 10)
    }

    /// People on the vehicle read what the server hears.
    @Test func theStatusSaysWhatTheServerHears() throws {
        let agent = try loggedIn()
        try agent.fix(0, north: 0)
        try agent.wait(seconds: 10)
        let well = try #require(agent.agent.report().health)
        #expect(well.troubles == [] && well.receiver == "fix" && well.disk == "ok" && well.gathering)
        #expect(well.toldTime != nil)
        // The report may go at once.
        let before = agent.agent.report()
        agent.receiver(is: .noDevice(reason: "gone"))
        #expect(
            agent.agent.report().health?.troubles == [.init(kind: "receiver", text: "no receiver: unplugged or broken")]
        )
        try agent.wait(seconds: 6)
        let after = try #require(agent.agent.report().health)
        #expect(after.receiver == "away" && after.toldTime.map { $0 >= before.time } == true)
    }

    @Test func aServerThatTakesNoReportsWasNeverTold() throws {
        let agent = try loggedIn(healthInterval: 0)
        try agent.wait(seconds: 200)
        #expect(try #require(agent.agent.report().health).toldTime == nil)
    }

    @Test func aRenewedCertificateShowsWithinSeconds() throws {
        let agent = try loggedIn()
        try agent.wait(seconds: 90)
        #expect(try #require(try reports(agent).last).certificateEnd == nil)
        agent.replaceCertificate(end: 1_900_000_000)
        try agent.wait(seconds: 6)
        #expect(try reports(agent).last?.certificateEnd == 1_900_000_000)
    }

    /// Nothing changes, and the server hears of it once a minute.
    @Test func whileNothingChangesAReportGoesEachMinute() throws {
        let agent = try loggedIn()
        try agent.fix(0, north: 0)
        try agent.wait(seconds: 30)
        _ = try reports(agent)
        try agent.wait(seconds: 300)
        #expect(try reports(agent).count == 5)
    }

    @Test func aServerWithoutTheFieldGetsEmptyHeartbeats() throws {
        let agent = try loggedIn(healthInterval: 0)
        agent.receiver(is: .noDevice(reason: "gone"))
        try agent.wait(seconds: 200)
        let heartbeats = try agent.frames().compactMap { if case .heartbeat(let found) = $0 { found } else { nil } }
        #expect(!heartbeats.isEmpty && heartbeats.allSatisfy { $0 == Heartbeat() })
    }

    /// The backlog is what waits for an acknowledgement.
    @Test func aServerThatStoresNothingHearsOfTheBacklog() throws {
        let agent = try loggedIn()
        agent.isStoring = false
        for second in stride(from: Int64(0), to: 50, by: 5) { try agent.fix(second, north: Double(second)) }
        agent.receiver(is: .noFix)
        try agent.wait(seconds: 6)
        let report = try #require(try reports(agent).last)
        #expect(report.backlog == 10 && report.receiver == .noFix)
    }

    @Test func pointsThatTheServerRefusesAreLost() throws {
        let agent = try loggedIn()
        agent.isStoring = false
        try agent.fix(0, north: 0)
        try agent.wait(seconds: 35)
        var ack = UploadAck()
        ack.storedThrough = 1
        var refused = RefusedPoint()
        refused.sequence = 1
        ack.refused = [refused]
        try agent.send(.uploadAck(ack))
        try agent.wait(seconds: 70)
        #expect(try reports(agent).last?.losses == [.refused: 1])
    }

    @Test func everyStateOfTheDiskHasAName() {
        func disk(_ number: Int32) -> HealthReport.Disk { .init(.memory(CacheFileError(.write, number))) }
        #expect(HealthReport.Disk(.disk) == .ok)
        #expect([disk(28), disk(122), disk(30), disk(5)] == [.full, .full, .readOnly, .refusing])
    }

    /// The names are those of the status, and a new one must be sorted here too.
    @Test func everyLossThatTheStatusNamesHasAReason() throws {
        let agent = try ServedAgent()
        for name in agent.agent.cache.losses.keys {
            #expect(HealthReport.LossReason(counted: name) != .other, "\(name)")
        }
    }
}
