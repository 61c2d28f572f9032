import AgentControl
import AgentLogic
import DiskRing
import GNSSFeed
import NIOEmbedded
import Systemd
import Testing
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

    /// The receiver says the same time again and again: fixes come, and no points.
    @Test func aVehicleWithoutPointsIsTroubleEverywhere() throws {
        let agent = try loggedIn()
        try agent.fix(0, north: 0)
        #expect(agent.agent.report().tracked)
        for _ in 0..<45 { try agent.fix(0, north: 0) }
        let status = agent.agent.report()
        #expect(!status.tracked && status.obstacle == "clock_stands")
        #expect(status.reason.contains("the receiver's clock stands still"), "\(status.reason)")
        #expect(status.health?.troubles.map(\.kind) == ["no_points"])
        #expect(try reports(agent).last?.verdict?.obstacle == .clockStands)
        #expect(agent.log.ids.contains(MessageID.pointsMissing.rawValue))
        for _ in 0..<60 { try agent.fix(0, north: 0) }
        let verdict = try #require(try reports(agent).last?.verdict)
        #expect(verdict.obstacle == .clockStands && verdict.rejected > 0 && verdict.age >= 30)
        try agent.fix(120, north: 0)
        try agent.wait(seconds: 6)
        #expect(agent.agent.report().tracked)
        #expect(try reports(agent).last?.verdict == HealthReport.Verdict())
        #expect(agent.log.ids.contains(MessageID.pointsReturned.rawValue))
    }

    /// A receiver says that it has a fix, and not where, or somewhere that is not on the earth.
    @Test(arguments: [(nil, nil), (52, nil), (91, 4), (Double.nan, 4), (52, .infinity)] as [(Double?, Double?)])
    func reportsWithoutAPlaceAreNamedAndCounted(latitude: Double?, longitude: Double?) throws {
        let agent = try loggedIn()
        for second in 0..<45 as Range<Int64> {
            let time = Timestamp(seconds: 1_780_000_000 + second)
            try agent.report(GNSSReport(time: time, mode: 3, latitude: latitude, longitude: longitude))
        }
        let status = agent.agent.report()
        #expect(!status.tracked && status.obstacle == "no_place")
        #expect(status.reason.contains("45 reports without a place"), "\(status.reason)")
        #expect(try #require(try reports(agent).last?.verdict?.obstacle?.rawValue) == "no_place")
        #expect(status.health?.troubles.map(\.kind) == ["no_points"])
    }

    /// Before the feed says that the receiver is away, nobody is told of its antenna alone.
    @Test func aReceiverThatSaysNothingIsToldAsSilent() throws {
        let agent = try loggedIn()
        agent.receiver(is: .noFix)
        try agent.wait(seconds: 5)
        #expect(agent.agent.report().reason == "the receiver has no fix yet: antenna, sky view")
        try agent.wait(seconds: 30)
        #expect(agent.agent.report().reason.hasPrefix("the receiver has sent nothing for 3"))
        let told = agent.log.fields.last { $0["message_id"] == MessageID.pointsMissing.description }
        #expect(told?["reason"]?.hasPrefix("the receiver has sent nothing for 30 s") == true, "\(told ?? [:])")
    }

    /// The journal is told of few silences, and of each long one.
    @Test func aLongSilenceSoonAfterAShortOneIsInTheJournal() throws {
        let agent = try loggedIn()
        func count(_ id: MessageID) -> Int { agent.log.ids.count { $0 == id.rawValue } }
        try agent.fix(0, north: 0)
        try agent.wait(seconds: 45)
        #expect(count(.pointsMissing) == 1)
        try agent.fix(60, north: 0)
        #expect(count(.pointsReturned) == 1)
        try agent.wait(seconds: 100)
        #expect(count(.pointsMissing) == 1)
        try agent.wait(seconds: 560)
        #expect(count(.pointsMissing) == 2)
        // Nobody misses points of a gathering that was stopped.
        _ = agent.agent.stopGather(by: .person)
        _ = agent.agent.startGather(keepTrying: true)
        try agent.fix(900, north: 0)
        #expect(count(.pointsReturned) == 1)
    }

    /// What another server, or a service that was stopped since, has refused is no loss of now.
    @Test func whatTheServerRefusedEndsWithTheService() throws {
        for isStopped in [true, false] {
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
            try agent.fix(40, north: 0)
            #expect(agent.agent.verdict.obstacles.map(\.kind) == [.losingPoints])
            if isStopped {
                _ = agent.agent.stopService(timeout: nil, by: .person)
                try agent.wait(seconds: 12)
                _ = agent.agent.startService(entity: nil)
                _ = agent.agent.startGather(keepTrying: true)
            } else {
                var configuration = agent.agent.configuration
                configuration.server.host = "other.example"
                _ = agent.agent.reload(configuration)
            }
            try agent.wait(seconds: 2)
            #expect(!agent.agent.verdict.obstacles.contains { $0.kind == .losingPoints }, "stopped: \(isStopped)")
        }
    }

    /// Somebody stops gathering, or the service: the server hears of it, and keeps it.
    @Test func aVehicleThatSomebodyStopsTellsItsServer() throws {
        let gather = try loggedIn()
        try gather.fix(0, north: 0)
        try gather.wait(seconds: 10)
        _ = try reports(gather)
        _ = gather.agent.stopGather(by: .person)
        try gather.wait(seconds: 6)
        #expect(try reports(gather).last?.verdict?.obstacle == .gatheringOff)
        #expect(gather.agent.report().health?.troubles.map(\.kind) == ["not_gathering"])

        let service = try loggedIn()
        try service.fix(0, north: 0)
        try service.wait(seconds: 10)
        _ = try service.frames()
        _ = service.agent.stopService(timeout: nil, by: .person)
        try service.wait(seconds: 12)
        let frames = try service.frames()
        #expect(frames.contains { if case .goodbye = $0 { true } else { false } })
        let last = frames.compactMap { if case .heartbeat(let found) = $0 { found.report } else { nil } }.last
        #expect(last?.verdict?.obstacle == .serviceStopped && last?.isGathering == false)
    }

    /// A computer that is switched off has been told nothing.
    @Test func theEndOfTheProcessIsNobodysCommand() throws {
        let agent = try loggedIn()
        try agent.fix(0, north: 0)
        try agent.wait(seconds: 10)
        _ = try agent.frames()
        _ = agent.agent.shutDown()
        agent.loop.run()
        let frames = try agent.frames()
        #expect(frames.contains { if case .goodbye = $0 { true } else { false } })
        let told = frames.compactMap { if case .heartbeat(let found) = $0 { found.report } else { nil } }
        #expect(told.allSatisfy { $0.verdict?.obstacle == nil && $0.isGathering }, "\(told)")
    }

    /// A login that is refused is trouble of the vehicle too, and not tracked.
    @Test func aRefusedLoginIsNotWell() throws {
        let agent = try ServedAgent()
        agent.refusal = {
            var refused = Refused(); (refused.code, refused.reason) = (.revoked, "revoked by the operator");
            return refused
        }()
        try agent.fix(0, north: 0)
        try agent.wait(seconds: 5)
        let status = agent.agent.report()
        #expect(!status.tracked && status.obstacle == "login_refused")
        #expect(status.reason.hasPrefix("the login is refused: revoked by the operator"))
        #expect(status.health?.troubles.first?.kind == "login_refused")
        // A person who asks for a connection gets one at once.
        agent.refusal = nil
        _ = agent.agent.reconnect()
        try agent.wait(seconds: 2)
        #expect(agent.agent.report().tracked && agent.agent.report().link.state == .online)
    }

    /// A server whose disk is full, or whose clock is wrong, needs somebody there.
    @Test func aServerThatCanStoreNothingIsNotWell() throws {
        let agent = try ServedAgent()
        agent.refusal = {
            var refused = Refused()
            (refused.code, refused.reason) = (.unable, "the server's disk is full: make room on the server")
            return refused
        }()
        try agent.fix(0, north: 0)
        try agent.wait(seconds: 5)
        let status = agent.agent.report()
        #expect(!status.tracked && status.obstacle == "login_refused" && status.link.lastErrorCause == "server_unable")
        #expect(status.reason.hasPrefix("the server takes no points: the server's disk is full"), "\(status.reason)")
        // It tries again by itself.
        #expect(status.link.state == .waiting)
        agent.refusal = nil
        try agent.wait(seconds: 120)
        try agent.fix(130, north: 0)
        #expect(agent.agent.report().tracked && agent.agent.report().link.state == .online)
        var closing = Closing()
        (closing.code, closing.reason) = (.unable, "the server's clock says 1970-01-01: set the clock on the server")
        try agent.send(.closing(closing))
        #expect(agent.agent.report().reason.hasPrefix("the server takes no points: the server's clock says 1970-01-01"))
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
        // Points would be missed, and this is news.
        _ = agent.agent.stopGather(by: .person)
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
        let report = try #require(try reports(agent).last)
        #expect(report.losses == [.refused: 1])
        // The server's list has the vehicle, and the status says when.
        #expect(report.lossAge != nil)
        let status = agent.agent.report()
        let lost = HealthStatus.Trouble(kind: "losing_points", text: "lost 1 point: they break a rule for points")
        #expect(status.health?.troubles.first == lost)
        #expect(status.counters.lastLossTime != nil)
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
