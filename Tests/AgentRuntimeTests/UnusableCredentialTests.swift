import AgentControl
import ConfigurationFile
import Foundation
import NIOCore
import Testing
import TrackTestKit

@testable import AgentRuntime

/// Certificates and keys that cannot be used when the agent starts: it gathers and keeps points, says why there is no
/// connection, and connects when the files are put right.
@Suite(.timeLimit(.minutes(5)), .serialized) struct UnusableCredentialTests {
    enum Damage: String, CaseIterable {
        case missing, empty, garbage, directory, pipe

        func put(at path: String) throws {
            switch self {
            case .missing: break
            case .empty: try Data().write(to: URL(fileURLWithPath: path))
            case .garbage: try Data("-----BEGIN CERTIFICATE-----\nno\n".utf8).write(to: URL(fileURLWithPath: path))
            case .pipe:
                // Nobody ever writes into it.
                guard mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
            case .directory: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
        }
    }

    /// An agent of which one file is damaged, at a server that takes every login.
    private func withAgent(
        _ table: (WelcomingServer) throws -> String,
        _ body: (RunningAgent, WelcomingServer) async throws -> Void
    ) async throws {
        let server = try await WelcomingServer()
        let agent = try await RunningAgent.start(server: table(server)) { SecureConnector($0) }
        do {
            try await body(agent, server)
        } catch {
            _ = try await agent.stop()
            try await server.stop()
            throw error
        }
        let kept = try await agent.stop()
        #expect(kept.map(\.second) == [0, 5])
        try await server.stop()
    }

    private func gathersAndSaysWhy(_ agent: RunningAgent, naming file: String) async throws {
        for second in Int64(0)...5 { try await agent.fix(second) }
        try await agent.wait("two points") { $0.agent.tally.gathered == 2 }
        try await agent.wait("the link says why") { parts in
            let link = parts.agent.report().link
            return link.state == .refused && link.lastErrorCause == "credentials_unusable"
                && link.lastError?.contains(file) == true
        }
        let reason = try await agent.on { $0.agent.report().reason }
        #expect(reason.contains(file) && reason.contains("points are kept on disk"), "\(reason)")
    }

    @Test(arguments: Damage.allCases)
    func authoritiesThatCannotBeUsedAreMendedInTheirFile(_ damage: Damage) async throws {
        try await withAgent { server in
            try FileManager.default.removeItem(atPath: server.authorityFile)
            try damage.put(at: server.authorityFile)
            return server.table
        } _: { agent, server in
            try await gathersAndSaysWhy(agent, naming: "authority.pem")
            if damage == .directory { try FileManager.default.removeItem(atPath: server.authorityFile) }
            try Data(server.authority.utf8).write(to: URL(fileURLWithPath: server.authorityFile), options: .atomic)
            try await agent.wait("online") { $0.agent.link.status.state == .online }
        }
    }

    @Test func withoutItsAccessKeyTheAgentGathersAndSaysWhyAndAReloadMendsIt() async throws {
        try await withAgent {
            $0.table
        } _: { agent, _ in
            func reload(_ trouble: String?) async throws {
                _ = try await agent.loop.flatSubmit { [agent] in
                    var configuration = agent.parts.value.agent.configuration
                    configuration.service.secretTrouble = trouble
                    return agent.parts.value.agent.reload(configuration)
                }.get()
            }
            try await reload("[service] ak_file: /etc/saker/ak does not exist")
            try await gathersAndSaysWhy(agent, naming: "/etc/saker/ak")
            try await reload(nil)
            try await agent.wait("online") { $0.agent.link.status.state == .online }
        }
    }

    /// Only the server knows which entity a device is, and it has not said so yet.
    @Test func aDeviceWithoutASessionIsTakenForNoOtherEntity() async throws {
        let agent = try await RunningAgent.start()
        func reload(_ trouble: String?) async throws {
            _ = try await agent.loop.flatSubmit { [agent] in
                var configuration = agent.parts.value.agent.configuration
                configuration.service.accessKey = Secret("")
                configuration.service.secretTrouble = trouble
                return agent.parts.value.agent.reload(configuration)
            }.get()
        }
        func refusal() async throws -> AgentControlError? {
            do {
                _ = try await agent.client.startService(entity: "bus")
                return nil
            } catch let error as AgentControlError {
                return error
            }
        }
        try await reload(nil)
        let device = try #require(try await refusal())
        #expect(device.reason.contains("certificate of its own") && device.reason.hasSuffix("Nothing has changed here"))
        #expect(!device.reason.contains("device move") && !device.reason.contains("van"), "\(device.reason)")
        try await reload("[service] ak_file: /etc/saker/ak does not exist")
        #expect(try await refusal()?.reason.contains("certificate of its own") != true)
        _ = try await agent.stop()
    }

    @Test func aKeyThatIsNotTheCertificatesIsMendedInItsFile() async throws {
        let own = try LinkServer.identity()
        try await withAgent { server in
            let (certificate, key) = (server.authorityFile + ".own", server.authorityFile + ".key")
            try Data(own.certificate.utf8).write(to: URL(fileURLWithPath: certificate))
            try Data(try LinkServer.identity().key.utf8).write(to: URL(fileURLWithPath: key))
            return server.table + "\nclient_certificate = \"\(certificate)\"\nclient_key = \"\(key)\""
        } _: { agent, server in
            try await gathersAndSaysWhy(agent, naming: "authority.pem.key")
            try Data(own.key.utf8).write(to: URL(fileURLWithPath: server.authorityFile + ".key"), options: .atomic)
            try await agent.wait("online") { $0.agent.link.status.state == .online }
        }
    }

    @Test func aReloadWithAnotherFileMendsItAndOneThatCannotBeUsedChangesNothing() async throws {
        try await withAgent { server in
            server.table.replacing("authority.pem", with: "none.pem")
        } _: { agent, server in
            try await gathersAndSaysWhy(agent, naming: "none.pem")
            func reload(_ file: String) async throws {
                _ = try await agent.loop.flatSubmit { [agent] in
                    var configuration = agent.parts.value.agent.configuration
                    configuration.server.certificateAuthorityFile = file
                    return agent.parts.value.agent.reload(configuration)
                }.get()
            }
            await #expect(throws: (any Error).self) { try await reload(server.authorityFile + ".none") }
            try await agent.wait("as before") { $0.agent.link.status.lastError?.contains("none.pem") == true }
            try await reload(server.authorityFile)
            try await agent.wait("online") { $0.agent.link.status.state == .online }
        }
    }
}
