import Foundation
import Logging
import NIOSSL
import ServerIdentity
import Testing
import TrackModel
import TrackWire

@testable import Gateway

@Suite(.timeLimit(.minutes(5))) struct LifecycleTests {
    @Test func aTakenPortIsSaidAtStart() async throws {
        try await Fixture.run { fixture in
            let configuration = GatewayConfiguration(
                host: "127.0.0.1", port: fixture.port, identity: try fixture.certificate.server())
            let second = gateway(configuration, fixture)
            await #expect(throws: GatewayError(.bind, "")) { try await second.start() }
            await second.stop()
        }
    }

    @Test func aGatewayStartsOnce() async throws {
        try await Fixture.run { fixture in
            await #expect(throws: GatewayError(.state, "")) { try await fixture.server.start() }
        }
    }

    @Test func runServesUntilItIsAskedToStop() async throws {
        try await Fixture.run { fixture in
            let configuration = GatewayConfiguration(
                host: "127.0.0.1", port: 0, identity: try fixture.certificate.server())
            let second = gateway(configuration, fixture)
            let end = Task { try await second.run() }
            second.requestStop()
            try await end.value
            #expect(second.localPort == nil)
        }
    }

    @Test func aReloadServesTheNewCertificateToNewConnections() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (first, second) = (try TestCertificate(), try TestCertificate())
        let identity = try first.server(in: folder, minimumTLS: .v12)
        try await Fixture.run(configure: { $0.identity = identity }) { fixture in
            var oldTLS = try first.client()
            oldTLS.maximumTLSVersion = .tlsv12
            let old = try await TestAgent.connect(port: fixture.port, tls: oldTLS)
            #expect(await old.hello(fixture.hello())?.welcome != nil)

            try "not a certificate".write(to: folder.appending(path: "c.pem"), atomically: true, encoding: .utf8)
            #expect(throws: ServerIdentityError.self) { try identity.reload() }
            let still = try await TestAgent.connect(port: fixture.port, tls: try first.client())
            #expect(await still.hello(fixture.hello(stream: StreamID(high: 1, low: 1)))?.welcome != nil)

            try second.write(to: folder)
            try identity.reload()
            let new = try await TestAgent.connect(port: fixture.port, tls: try second.client())
            #expect(await new.hello(fixture.hello(stream: StreamID(high: 2, low: 2)))?.welcome != nil)
            old.send(.heartbeat(Heartbeat()))
            #expect(await old.next()?.message?.isHeartbeat == true)
        }
    }

    @Test func stoppingEndsConnectionsInEveryPhase() async throws {
        try await Fixture.run { fixture in
            let bare = try await TestAgent.connect(port: fixture.port, tls: nil)
            let silent = try await fixture.connect()
            // A whole handshake later the server has seen them both.
            let agent = try await fixture.login()
            await fixture.server.stop()
            #expect(await bare.next() == nil)
            #expect(await silent.next()?.message?.closing == nil)
            #expect(await agent.next()?.message?.closing?.code == .shutdown)
            await fixture.server.core.census.untilEmpty(atMost: .seconds(60))
            #expect(fixture.server.connectionCount == 0)
            #expect(fixture.server.sessionCount == 0)
        }
    }

    private func gateway(_ configuration: GatewayConfiguration, _ fixture: Fixture) -> GatewayServer {
        GatewayServer(
            configuration: configuration, store: fixture.store, ingest: fixture.ingest,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { Fixture.now })
    }
}
