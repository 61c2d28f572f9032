import AgentRuntime
import ConfigurationFile
import NIOCore
import Testing

@testable import SystemSimulation

/// The checker gives an agent ten minutes in a healed world. An agent that waits five minutes between two tries may have one
/// try in this time.
@Suite struct HealedNetworkTests {
    private let loop = VirtualLoop()
    private let network: VirtualNetwork

    init() {
        network = VirtualNetwork(loop: loop, seed: 1)
    }

    /// How many of 200 tries ended without a connection.
    private func failedTries() throws -> Int {
        let clock = SimulatedSystemClock(loop: loop, offset: 1_760_000_000_000)
        let connector = SimulatedConnector(network: network, clock: clock, certificateFrom: 1_700_000_000_000)
        connector.accept = { VirtualSocket(side: .server, loop: loop) }
        let server = try AgentConfiguration.read(
            ConfigurationReader(text: History.configurationText, path: "agent.toml")
        ).server
        let process = ProcessLoop(loop)
        var failed = 0
        var answered = 0
        for _ in 0..<200 {
            connector.connect(to: server, verificationTime: nil, on: process) { channel in
                channel.eventLoop.makeSucceededVoidFuture()
            }.assumeIsolated().whenComplete { result in
                answered += 1
                if case .failure = result { failed += 1 }
            }
            loop.advanceTime(by: .seconds(60))
        }
        #expect(answered == 200)
        return failed
    }

    @Test func someHandshakesTakeTooLong() throws {
        #expect(try failedTries() > 0)
    }

    @Test func everyTryInAHealedNetworkMakesAConnection() throws {
        (network.reach, network.latency, network.largestPiece) = (.swallows, 6000, 1)
        network.heal()
        #expect(try failedTries() == 0)
    }
}
