import AgentRuntime
import ConfigurationFile
import NIOCore
import Testing
import TrackTestKit

@testable import SystemSimulation

/// The simulation's link keeps the contract that the real one keeps (`AgentRuntimeTests`).
@Suite struct LinkContractTests {
    @Test(arguments: LinkContract.checks, [1460, 97])
    func holdsInTheSimulation(check: LinkCheck, largestPiece: Int) throws {
        for seed in 1...2 as ClosedRange<UInt64> {
            let record = try play(check.script, largestPiece: largestPiece, seed: seed)
            do { try check.judge(record) } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    private func play(_ script: LinkScript, largestPiece: Int, seed: UInt64) throws -> LinkRecord {
        let loop = VirtualLoop()
        let network = VirtualNetwork(loop: loop, seed: seed)
        network.largestPiece = script.peer == .stalls ? 65_536 : largestPiece
        let clock = SimulatedSystemClock(loop: loop, offset: 1_760_000_000_000)
        let connector = SimulatedConnector(network: network, clock: clock, certificateFrom: 1_700_000_000_000)
        var peer: LinkPeer?
        switch script.peer {
        case .swallows: network.reach = .swallows
        case .refuses: break
        case .echoes, .listens, .stalls, .greets:
            connector.accept = {
                let socket = VirtualSocket(side: .server, loop: loop)
                let made = LinkPeer(script.peer) {
                    socket.connection?.abort(.server)
                    socket.sever()
                }
                peer = made
                if script.peer == .stalls { try? socket.pipeline.syncOperations.addHandler(Stall(), position: .last) }
                try? socket.pipeline.syncOperations.addHandler(made)
                return socket
            }
        }
        let server = try AgentConfiguration.read(
            ConfigurationReader(text: History.configurationText, path: "agent.toml")
        ).server
        let process = ProcessLoop(loop)
        let done = LinkProbe.run(script, on: process) { verificationTime, initializer in
            connector.connect(to: server, verificationTime: verificationTime, on: process, initializer: initializer)
        }
        var record: LinkRecord?
        done.assumeIsolated().whenSuccess { record = $0 }
        let end = loop.now + script.limit + .seconds(1)
        while record == nil, loop.now < end { loop.advanceTime(by: .milliseconds(10)) }
        // What is still under way to the peer.
        loop.advanceTime(by: .seconds(5))
        var found = try #require(record)
        if let peer { found.peer = peer.record }
        return found
    }
}

/// Lets nothing be read from its channel.
private final class Stall: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    func read(context: ChannelHandlerContext) {}
}
