import AgentControl
import AgentLogic
import NIOCore
import NIOPosix
import SecureLink
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// What the link makes of a Welcome, and of the newest point.
@Suite struct LinkPartsTests {
    private func hint(attributes: [String: AttributeValue] = [:]) throws -> LiveHint {
        let place = try #require(Coordinate(latitudeE7: 520_000_000, longitudeE7: 40_000_000))
        var point = TrackPoint(Fix(time: Timestamp(seconds: 1_780_000_000), coordinate: place))
        point.attributes = attributes
        return LiveHint(point: point, entity: "van")
    }

    @Test func aLiveHintIsThePointOfTheSessionsEntity() throws {
        let hint = try hint(attributes: ["fuel": .double(40)])
        let heartbeat = try #require(hint.heartbeat(as: "van", format: 2))
        #expect(try PointRecord.decode(heartbeat.liveHintBytes) == hint.point)
        #expect(hint.heartbeat(as: "bus", format: 2) == nil)
        // Names are the same when their bytes are.
        #expect(LiveHint(point: hint.point, entity: "caf\u{E9}").heartbeat(as: "cafe\u{301}", format: 2) == nil)
    }

    @Test func aLiveHintThatIsTooLongGoesWithoutItsAttributes() throws {
        let long = try hint(attributes: ["note": .string(String(repeating: "x", count: WireLimits.liveHintBytes))])
        let heartbeat = try #require(long.heartbeat(as: "van", format: 2))
        #expect(heartbeat.liveHintBytes.count <= WireLimits.liveHintBytes)
        let point = try PointRecord.decode(heartbeat.liveHintBytes)
        #expect(point.fix == long.point.fix && point.attributes.isEmpty)
    }

    @Test func aServerMaySayAnyNumber() {
        let now = SystemTime(milliseconds: 1_780_000_000_000)
        func terms(format: UInt32, time: Int64) -> ServerCapabilities {
            var welcome = Welcome()
            (welcome.payloadFormat, welcome.serverTime) = (format, time)
            return ServerCapabilities(welcome, at: now)
        }
        // A server from before there were two formats says nothing of them.
        #expect(terms(format: 0, time: 0) == ServerCapabilities())
        #expect(ServerCapabilities().payloadFormat == 1 && ServerCapabilities().clockDifference == nil)
        #expect(terms(format: 2, time: now.milliseconds + 90).clockDifference == 90)
        #expect(terms(format: 2, time: 5).clockDifference == 5 - now.milliseconds)
        #expect(terms(format: .max, time: .min).clockDifference == nil)
        #expect(terms(format: .max, time: .max).payloadFormat == Int(UInt32.max))
    }

    /// A server whose clock is a year ahead says that a good certificate has ended.
    @Test func aServerWhoseClockIsWrongIsToldFromACertificateThatHasEnded() {
        let trust = LinkTrust(ShellBench().context) {}
        let error = SecureLinkError(.clientCertificateExpired, "the server says so")
        func reasons(_ end: Int64?) -> [String] {
            let judged = trust.judgedTime()
            return [trust.trouble(error, judged, certificateEnd: end), trust.ending(error, certificateEnd: end)].map {
                #expect($0.cause == .clientCertificateExpired && $0.needsPerson)
                return $0.reason
            }
        }
        // The receiver's time counts where nobody keeps the clock; years lie between.
        trust.fixArrived(Timestamp(seconds: SakerVersion.madeAt + 100))
        for reason in reasons(SakerVersion.madeAt + 40 * 365 * 86_400) {
            #expect(reason.contains("is the server's clock right? On the server: date"), "\(reason)")
        }
        for end in [nil, SakerVersion.madeAt - 5] {
            #expect(reasons(end) == ["the server says so", "the server says so"])
        }
        #expect(trust.ending(nil, certificateEnd: 5).reason == "the server closed the connection")
    }
}

/// What the running agent tells of its connection: each promise of docs/control.md about `link` that takes a peer.
@Suite(.timeLimit(.minutes(5))) struct LinkStatusTests {
    @Test func aPeerThatSaysNothingAfterTheConnectionIsTheStateHandshaking() async throws {
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(silent.localAddress?.port)
        let agent = try await RunningAgent.start(server: "host = \"127.0.0.1\"\nport = \(port)") { SecureConnector($0) }
        try await agent.wait("the handshake") { $0.agent.report().link.state == .handshaking }
        #expect(try await agent.on { $0.agent.report().link.encryption } == nil)
        _ = try await agent.stop()
        try await silent.close().get()
    }

    @Test func encryptionIsToldWhileTheConnectionStands() async throws {
        let server = try await WelcomingServer()
        let agent = try await RunningAgent.start(server: server.table) { SecureConnector($0) }
        try await agent.wait("online") { $0.agent.report().link.state == .online }
        let encryption = try await agent.on { $0.agent.report().link.encryption }
        #expect(encryption?.hasPrefix("TLSv1.3 TLS_") == true, "\(encryption ?? "none")")
        try await server.stop()
        _ = try await agent.client.reconnect()
        try await agent.wait("offline") { $0.agent.report().link.state == .waiting }
        #expect(try await agent.on { $0.agent.report().link.encryption } == nil)
        _ = try await agent.stop()
    }

    @Test func aNameThatIsNotFoundIsANetworkErrorAndTheServiceKeepsTrying() async throws {
        let agent = try await RunningAgent.start { _ in
            NoServer {
                $0.makeFailedFuture(SecureLinkError(.nameResolution, "fleet.invalid: the name is not found"))
            }
        }
        _ = try await agent.client.stopService(timeout: 0)
        let error = await #expect(throws: AgentControlError.self) {
            _ = try await agent.client.startService(entity: nil)
        }
        #expect(error?.code == .networkError && error?.reason.contains("fleet.invalid") == true)
        #expect(try await agent.on { $0.agent.report().service.state } == .running)
        try await agent.wait("a pause between two tries") {
            let link = $0.agent.report().link
            return link.state == .waiting && link.lastErrorCause == "name_resolution"
        }
        let attempts = try await agent.on { $0.agent.report().link.attempts ?? 0 }
        _ = try await agent.client.reconnect()
        try await agent.wait("another try") { ($0.agent.report().link.attempts ?? 0) > attempts }
        _ = try await agent.stop()
    }
}

/// The agent's link over real sockets and real TLS keeps the contract that the simulation's keeps (`SimulationTests`).
@Suite(.timeLimit(.minutes(5)), .serialized) struct LinkContractTests {
    @Test(arguments: LinkContract.checks)
    func holdsOverTLS(check: LinkCheck) async throws {
        let server = try await LinkServer(check.script.peer)
        do {
            try check.judge(try await server.play(check.script))
        } catch {
            try await server.stop()
            throw error
        }
        try await server.stop()
    }
}
