import JSON
import NIOCore
import RoadMatching
import Synchronization
import Testing
import TrackAnalysis
import TrackModel
import TrackTestKit

@testable import RoadEngine

/// The client through HTTP, with an engine that misbehaves in every way.
@Suite(.timeLimit(.minutes(5))) struct HTTPRoadTests {
    /// A client that is closed with its test. A limit of a minute ends no call of these tests.
    private func with<Outcome>(
        _ roads: ScriptedRoads, timeout: Int64 = 60_000,
        _ body: (RoadClient) async throws -> Outcome
    ) async throws -> Outcome {
        let transport = HTTPRoadTransport(roads.url, connections: 4, connecting: 60_000)
        let client = RoadClient(
            transport, settings: .init(callTimeout: timeout, requestTimeout: 2 * timeout), logger: quiet
        ) { MonotonicTime(milliseconds: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)) }
        let outcome: Result<Outcome, any Error>
        do { outcome = .success(try await body(client)) } catch { outcome = .failure(error) }
        await transport.shutdown()
        await roads.close()
        return try outcome.get()
    }

    /// Does the deed for every request but those for the status.
    private func roads(_ deed: @escaping @Sendable (RoadReply) -> ScriptedRoads.Deed) async throws -> ScriptedRoads {
        try await ScriptedRoads { _, request in
            let reply = MadeEngine().reply(to: request)
            return request == .status ? .reply(reply) : deed(reply)
        }
    }

    @Test func aTrackComesToItsRoadOnFewConnections() async throws {
        let roads = try await ScriptedRoads()
        try await with(roads) { client in
            let match = await client.match(drive(6000), client.context())
            #expect(match.state == .used(matched: 1))
            #expect(abs(match.track.length().driven - 5999 * 40) < 100)
            _ = await client.state(50)
        }
        #expect(roads.requests.count > 6 && (1...4).contains(roads.connections))
        #expect(roads.requests.allSatisfy { $0.method == ($0.path == "/status" ? .get : .post) })
    }

    @Test func aLateAnswerIsAnAnswer() async throws {
        try await with(try await roads { .late($0, 100) }) { #expect(await $0.state() == .used(matched: 1)) }
    }

    @Test(arguments: ["cut", "close", "noise", "redirect", "endless", "fault", "text", "count", "number", "refusal"])
    func whatIsNoAnswerLeavesTheTrackAsItWas(deed: String) async throws {
        let roads = try await roads { reply in
            switch deed {
            case "cut": .cut(reply)
            case "close": .close
            case "noise": .noise
            case "redirect": .redirect("http://127.0.0.1:1/trace_attributes")
            case "endless": .endless
            case "fault": .reply(RoadReply(status: 500, body: reply.body))
            case "text": .reply(RoadReply(status: 200, body: Array("<html>".utf8)))
            case "count": .reply(without(reply, "matched_points"))
            case "number": .reply(RoadReply(.object(["shape": .double(1e300)])))
            default: .reply(RoadReply(status: 400, body: Array(#"{"error_code":153,"error":"Too many"}"#.utf8)))
            }
        }
        try await with(roads) { client in
            let samples = drive(100)
            let match = await client.match(samples, client.context())
            #expect(match.state.reason == (["cut", "close"].contains(deed) ? "refused" : "invalid"))
            #expect(match.track.samples.map(\.sample) == samples && match.track.matched == 0)
        }
        #expect(roads.written < 64 << 20)
    }

    /// The last of a list is missing.
    private func without(_ reply: RoadReply, _ name: String) -> RoadReply {
        guard case .object(var members) = try? JSONReader.value(of: reply.body),
            let list = members[name]?.arrayValue
        else { return reply }
        members[name] = .array(list.dropLast())
        return RoadReply(.object(members))
    }

    @Test(arguments: ["hang", "trickle", "late"])
    func whoeverNeverEndsIsLeftInTime(deed: String) async throws {
        let roads = try await roads { reply in
            switch deed {
            case "hang": .hang
            case "trickle": .trickle
            default: .late(reply, 60_000)
            }
        }
        try await with(roads, timeout: 400) { client in
            let start = ContinuousClock.now
            #expect(await client.state() == .unavailable(.timeout))
            // A machine may be slow; a call that never ended would take for ever.
            #expect(ContinuousClock.now - start < .seconds(60))
        }
    }

    @Test func anIdleConnectionThatTheEngineClosedDoesNoHarm() async throws {
        let roads = try await ScriptedRoads { number, request in
            // Every second request meets a connection that has ended.
            number % 2 == 1 ? .close : .reply(MadeEngine().reply(to: request))
        }
        try await with(roads) { client in
            for owner in 0..<6 { #expect(await client.state(60, "1/\(owner)") == .used(matched: 1)) }
        }
    }

    @Test func nobodyListens() async throws {
        let roads = try await ScriptedRoads()
        await roads.close()
        try await with(roads) { client in
            for _ in 0..<2 { #expect(await client.state() == .unavailable(.refused)) }
            for _ in 0..<2 { #expect(await client.state() == .unavailable(.open)) }
            #expect(client.isFallingBack)
        }
    }

    @Test func anEngineThatDiesInTheMiddleGivesAPart() async throws {
        let traces = Mutex(0)
        let roads = try await ScriptedRoads { _, request in
            guard request.path == "/trace_attributes" else { return .reply(MadeEngine().reply(to: request)) }
            let number = traces.withLock { count in
                count += 1
                return count
            }
            return number <= 2 ? .reply(MadeEngine().reply(to: request)) : .close
        }
        try await with(roads) { client in
            guard case .partly(let matched?) = await client.state(6000) else {
                Issue.record("the state is not partly")
                return
            }
            #expect(matched > 0.2 && matched < 0.6)
        }
    }
}
