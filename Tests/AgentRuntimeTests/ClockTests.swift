import AgentControl
import Foundation
import Synchronization
import Testing
import TrackModel

@testable import AgentRuntime

/// A box whose clock is wrong, real TLS, and a certificate that is valid for some hours only.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ClockTests {
    /// Of the certificate, seconds since 1970; both after this program was made, as everything in these tests is.
    private static let validity: ClosedRange<Int64> = 1_800_000_000...1_800_010_000
    private static let never = KernelClockState(seconds: 7, isSynchronised: false)
    /// Fixes count from here.
    private static let fixes: Int64 = 1_780_000_000

    private func withAgent(
        _ time: KernelClockState, _ body: (RunningAgent, SettableClock) async throws -> Void
    ) async throws {
        let server = try await WelcomingServer(validity: Self.validity)
        let clock = SettableClock(time)
        let agent = try await RunningAgent.start(server: server.table, clock: clock) { SecureConnector($0) }
        do {
            try await body(agent, clock)
        } catch {
            _ = try await agent.stop()
            try await server.stop()
            throw error
        }
        _ = try await agent.stop()
        try await server.stop()
    }

    private func refusal(
        _ agent: RunningAgent, _ cause: String, _ words: String..., state: LinkStatus.State = .waiting
    ) async throws {
        try await agent.wait("a refusal: \(cause), \(words)") { parts in
            let link = parts.agent.link.status
            return link.state == state && link.lastErrorCause == cause
                && words.allSatisfy { link.lastError?.contains($0) == true }
        }
    }

    private func online(_ agent: RunningAgent) async throws {
        try await agent.wait("online") { $0.agent.link.status.state == .online }
    }

    private func fix(_ agent: RunningAgent, at seconds: Int64) async throws {
        try await agent.fix(seconds - Self.fixes)
    }

    @Test func aBoxInThe1970sConnectsWithItsFirstFix() async throws {
        try await withAgent(Self.never) { agent, _ in
            try await refusal(agent, "certificate_not_yet_valid", "1970-01-01", "no fix has told another")
            let reason = try await agent.on { $0.agent.report().link.lastError ?? "" }
            #expect(reason.contains("first fix"), "\(reason)")
            // Nobody is to do anything about it.
            #expect(try await agent.on { !$0.agent.verdict.obstacles.contains { $0.kind == .loginRefused } })
            try await fix(agent, at: Self.validity.lowerBound + 100)
            try await online(agent)
        }
    }

    @Test func aClockInTheFutureIsNoLastingRefusalAndTheFixDecides() async throws {
        let future = KernelClockState(seconds: 2_500_000_000, isSynchronised: false)
        try await withAgent(future) { agent, _ in
            try await refusal(agent, "certificate_expired", "2049-03-22", "no fix has told another")
            try await fix(agent, at: Self.validity.lowerBound + 100)
            try await online(agent)
        }
    }

    @Test func aCertificateThatHasEndedAtTheReceiversTimeIsRefused() async throws {
        try await withAgent(Self.never) { agent, _ in
            try await fix(agent, at: Self.validity.upperBound + 100)
            try await refusal(agent, "certificate_expired", "the receiver's", state: .refused)
        }
    }

    @Test func aCertificateThatHasEndedByBothClocksIsRefused() async throws {
        let unkept = KernelClockState(seconds: Self.validity.upperBound + 20 * 86_400, isSynchronised: false)
        try await withAgent(unkept) { agent, clock in
            try await fix(agent, at: Self.validity.upperBound + 100)
            try await refusal(agent, "certificate_expired", state: .refused)
            #expect(try await agent.on { $0.agent.verdict.obstacles.contains { $0.kind == .loginRefused } })
            clock.set(KernelClockState(seconds: Self.validity.lowerBound + 5, isSynchronised: true))
            try await online(agent)
        }
    }

    @Test func aCertificateThatBeginsAfterTheReceiversTimeIsRefused() async throws {
        try await withAgent(Self.never) { agent, _ in
            try await fix(agent, at: Self.validity.lowerBound - 1000)
            try await refusal(agent, "certificate_not_yet_valid", "the receiver's")
        }
    }

    @Test func aClockThatIsSetLaterIsNoticed() async throws {
        try await withAgent(Self.never) { agent, clock in
            try await refusal(agent, "certificate_not_yet_valid", "no fix")
            clock.set(KernelClockState(seconds: Self.validity.lowerBound + 5, isSynchronised: true))
            try await online(agent)
        }
    }

    @Test func aKeptClockGoesBeforeTheReceiver() async throws {
        let kept = KernelClockState(seconds: Self.validity.upperBound + 5, isSynchronised: true)
        try await withAgent(kept) { agent, clock in
            try await fix(agent, at: Self.validity.lowerBound + 100)
            try await refusal(agent, "certificate_expired", "which is kept", state: .refused)
            // Whoever keeps it mends it.
            clock.set(KernelClockState(seconds: Self.validity.upperBound - 500, isSynchronised: true))
            try await online(agent)
        }
    }
}

/// Says what the test says.
private final class SettableClock: SystemClockSource, Sendable {
    private let clock: Mutex<KernelClockState>

    init(_ clock: KernelClockState) { self.clock = Mutex(clock) }

    func read() -> KernelClockState { clock.withLock { $0 } }
    func set(_ new: KernelClockState) { clock.withLock { $0 = new } }
}
