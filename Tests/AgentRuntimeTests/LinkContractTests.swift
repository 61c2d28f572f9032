import Testing
import TrackTestKit

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
