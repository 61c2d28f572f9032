import NIOCore
import Synchronization
import Testing
import TrackModel
import TrackWire

@testable import Gateway

@Suite(.timeLimit(.minutes(5))) struct CallTests {
    private func call(_ id: UInt64, _ path: String = "entity/list", _ parameters: [String: String] = [:]) -> Call {
        var call = Call()
        call.id = id
        call.path = path
        call.parameters = parameters
        return call
    }

    @Test func callsAreAnsweredByTheHandler() async throws {
        let handler: GatewayCallHandler = { _, entity, path, parameters in
            (7, "\(entity) \(path) \(parameters["a"] ?? "")")
        }
        try await Fixture.run(callHandler: handler) { fixture in
            let agent = try await fixture.login()
            for id in 1...20 as ClosedRange<UInt64> {
                var call = Call()
                call.id = id
                call.path = "entity/list"
                call.parameters = ["a": "\(id)"]
                agent.send(.call(call))
            }
            var answered: [UInt64: String] = [:]
            while answered.count < 20 {
                let reply = try #require(await agent.next()?.message?.callReply)
                #expect(reply.status == 7)
                answered[reply.id] = reply.json
            }
            #expect(answered[13] == "car entity/list 13")
        }
    }

    @Test func withoutAHandlerCallsAreNotOffered() async throws {
        try await Fixture.run { fixture in
            let agent = try await fixture.login()
            var call = Call()
            call.id = 3
            agent.send(.call(call))
            let reply = try #require(await agent.next()?.message?.callReply)
            #expect(reply.status == 240)
            #expect(reply.id == 3)
        }
    }

    @Test func anAnswerLongerThanAFrameBecomesAnError() async throws {
        try await Fixture.run(callHandler: { _, _, _, _ in (0, String(repeating: "x", count: 1 << 20)) }) { fixture in
            let agent = try await fixture.login()
            agent.send(.call(Call()))
            let reply = try #require(await agent.next()?.message?.callReply)
            #expect(reply.status == 1)
        }
    }

    /// Waits until it is let go.
    private final class Gate: Sendable {
        private let (stream, continuation) = AsyncStream<Void>.makeStream()
        let entered = Mutex(0)

        func wait() async {
            entered.withLock { $0 += 1 }
            for await _ in stream {}
        }

        func open() { continuation.finish() }
    }

    @Test func uploadsDoNotWaitForCalls() async throws {
        let gate = Gate()
        let handler: GatewayCallHandler = { _, _, _, _ in
            await gate.wait()
            return (0, "{}")
        }
        try await Fixture.run(callHandler: handler) { fixture in
            let agent = try await fixture.login()
            for id in 1...UInt64(WireLimits.calls) { agent.send(.call(call(id))) }
            agent.send(.upload(upload(1...3)))
            #expect(try #require(await agent.next()?.message?.uploadAck).storedThrough == 3)
            gate.open()
            for _ in 1...WireLimits.calls { #expect(await agent.next()?.message?.callReply?.status == 0) }
        }
    }

    @Test func aHandlerThatHangsIsGivenUp() async throws {
        let gate = Gate()
        let handler: GatewayCallHandler = { _, _, path, _ in
            if path == "slow" { await gate.wait() }
            return (0, "{}")
        }
        try await Fixture.run(configure: { $0.deadlines.call = .milliseconds(50) }, callHandler: handler) { fixture in
            let agent = try await fixture.login()
            agent.send(.call(call(1, "slow")))
            let reply = try #require(await agent.next()?.message?.callReply)
            #expect(reply.id == 1 && reply.status == 1)
            #expect(reply.json.contains("no answer within"))
            agent.send(.call(call(2, "fast")))
            #expect(try #require(await agent.next()?.message?.callReply).id == 2)
            // Its own answer, too late, is not sent.
            gate.open()
            agent.send(.call(call(3, "fast")))
            #expect(try #require(await agent.next()?.message?.callReply).id == 3)
        }
    }

    @Test func allConnectionsTogetherAreBounded() async throws {
        let gate = Gate()
        let handler: GatewayCallHandler = { _, _, _, _ in
            await gate.wait()
            return (0, "{}")
        }
        try await Fixture.run(configure: { $0.limits.callsOfAll = 1 }, callHandler: handler) { fixture in
            let first = try await fixture.login()
            first.send(.call(call(1)))
            first.send(.upload(upload(1...1)))
            #expect(await first.next()?.message?.uploadAck != nil)
            let second = try await fixture.login(stream: StreamID(high: 1, low: 1))
            second.send(.call(call(2)))
            let refused = try #require(await second.next()?.message?.callReply)
            #expect(refused.status == 1 && refused.json.contains("try again"))
            gate.open()
            #expect(await first.next()?.message?.callReply?.status == 0)
            second.send(.call(call(3)))
            #expect(await second.next()?.message?.callReply?.status == 0)
        }
    }

    @Test func aLongRequestIsRefused() async throws {
        try await Fixture.run(configure: { $0.limits.callBytes = 100 }, callHandler: { _, _, _, _ in (0, "{}") }) {
            let agent = try await $0.login()
            agent.send(.call(call(1, "a/b", ["x": String(repeating: "y", count: 100)])))
            #expect(await agent.next()?.message?.callReply?.status == 10)
            agent.send(.call(call(2, "a/b", ["x": String(repeating: "y", count: 90)])))
            #expect(await agent.next()?.message?.callReply?.status == 0)
        }
    }
}
