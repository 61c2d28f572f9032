import AgentControl
import NIOCore
import NIOPosix
import SecureLink
import Testing
import TrackTestKit

@testable import AgentRuntime

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
