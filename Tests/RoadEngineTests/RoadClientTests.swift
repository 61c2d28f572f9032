import RoadMatching
import Synchronization
import Testing
import TrackAnalysis
import TrackModel
import TrackTestKit

@testable import RoadEngine

/// The client without a port: what is asked, what is remembered, and what happens when the engine fails.
@Suite struct RoadClientTests {
    private let clock = HandClock()

    private func client(_ transport: any RoadTransport, _ settings: RoadClient.Settings = .init()) -> RoadClient {
        RoadClient(transport, settings: settings, logger: quiet) { [clock] in clock.now }
    }

    @Test func aTrackComesToItsRoad() async {
        let client = client(MadeTransport())
        let match = await client.match(drive(100), client.context())
        #expect(match.state == .used(matched: 1))
        #expect(abs(match.track.length().driven - 99 * 40) < 2)
        #expect(client.counters.counts.onRoads == 100 && client.counters.counts.offRoads == 0)
    }

    @Test func theSecondTimeCostsNoCall() async {
        let transport = MadeTransport()
        let client = client(transport)
        let first = await client.match(drive(3000), client.context())
        let calls = transport.requests.count
        #expect(transport.requests.map(\.path).filter { $0 == "/trace_attributes" }.count > 2)
        let second = await client.match(drive(3000), client.context())
        #expect(second.track == first.track && transport.requests.count == calls)
        #expect(client.counters.counts.remembered > 2 && client.rememberedBytes > 0)
        // Another entity's track is another track.
        _ = await client.match(drive(3000), client.context("1/other"))
        #expect(transport.requests.count > calls)
    }

    @Test func aNewMapIsAskedAnew() async {
        let modified = Mutex<Int64>(1)
        let transport = MadeTransport { _, request throws(RoadFailure) in
            guard request == .status else { return MadeEngine().reply(to: request) }
            let tiles = modified.withLock { $0 }
            return RoadReply(
                status: 200, body: Array(#"{"version":"3.9.1","tileset_last_modified":\#(tiles)}"#.utf8))
        }
        let client = client(transport)
        func traces() -> Int { transport.requests.count { $0.path == "/trace_attributes" } }
        _ = await client.state()
        modified.withLock { $0 = 2 }
        _ = await client.state()
        #expect(traces() == 1)
        clock.move(RoadClient.mapAge)
        _ = await client.state()
        #expect(traces() == 2)
    }

    @Test func whatIsRememberedIsToldWithoutTheEngine() async {
        let isDead = Mutex(false)
        let transport = MadeTransport { _, request throws(RoadFailure) in
            if isDead.withLock({ $0 }) { throw .refused }
            return MadeEngine().reply(to: request)
        }
        let client = client(transport)
        #expect(await client.state() == .used(matched: 1))
        isDead.withLock { $0 = true }
        clock.move(10 * RoadClient.mapAge)
        #expect(await client.state() == .used(matched: 1))
        #expect(await client.state(99, "1/other") == .unavailable(.refused))
    }

    @Test func fiveFailuresCloseTheWayUntilTheStatusIsAnswered() async {
        let isDead = Mutex(true)
        let transport = MadeTransport { _, request throws(RoadFailure) in
            if isDead.withLock({ $0 }) { throw .refused }
            return MadeEngine().reply(to: request)
        }
        let client = client(transport)
        // Each of them asks for the status, too.
        for _ in 0..<2 { #expect(await client.state() == .unavailable(.refused)) }
        #expect(!client.isFallingBack)
        #expect(await client.state() == .unavailable(.open))
        #expect(client.isFallingBack)
        let calls = transport.requests.count
        #expect(calls == 5)
        #expect(await client.state() == .unavailable(.open))
        #expect(transport.requests.count == calls)
        clock.move(5000)
        #expect(await client.state() == .unavailable(.open))
        #expect(transport.requests.count == calls + 1 && transport.requests.last == .status)
        isDead.withLock { $0 = false }
        clock.move(10_000)
        #expect(await client.state() == .used(matched: 1))
        #expect(!client.isFallingBack)
        #expect(client.counters.counts.calls[.refused] == 5)
    }

    @Test func aMapWithoutRoadsIsNoTrouble() async {
        let client = client(
            MadeTransport { _, request throws(RoadFailure) in
                request == .status ? MadeEngine().reply(to: request) : .nothingMatched
            })
        for _ in 0..<10 { #expect(await client.state() == .none) }
        #expect(!client.isFallingBack)
    }

    @Test func aHoleIsBridged() async {
        let client = client(MadeTransport(MadeEngine(hole: 1040..<1580)))
        let samples = drive(100).filter { !(26...38).contains($0.index) }
        let match = await client.match(samples, client.context())
        #expect(match.state == .used(matched: 1))
        #expect(match.track.samples.dropFirst().allSatisfy { $0.path != nil })
        #expect(abs(match.track.length().driven - 99 * 40) < 3)
    }

    @Test func routesAreFoundAndRemembered() async throws {
        let transport = MadeTransport(MadeEngine(isToll: true))
        let client = client(transport)
        let samples = drive(100)
        let length = LengthMeter.length(
            of: samples.map { sample in
                TrackSample(
                    index: sample.index, time: sample.time + (sample.index < 50 ? 0 : 600_000),
                    latitudeE7: sample.latitudeE7, longitudeE7: sample.longitudeE7)
            }.filter { !(40...60).contains($0.index) })
        try #require(length.interruptions.count == 1)
        for _ in 0..<2 {
            let routes = await client.routes(length.interruptions, client.context())
            #expect(routes.state == .used(matched: nil))
            #expect(abs((routes.answers[0]?.metres ?? 0) - 22 * 40) < 2 && abs(routes.toll - 22 * 40) < 2)
        }
        #expect(transport.requests.count { $0.path == "/route" } == 1)
    }

    @Test func aTrackAtRestAsksNothing() async {
        let transport = MadeTransport()
        let client = client(transport)
        #expect(await client.match([], client.context()).state == .used(matched: nil))
        #expect(await client.routes([], client.context()).state == .used(matched: nil))
        #expect(transport.requests.isEmpty)
    }

    @Test func callsBeyondTheTurnsWaitAndThenFallBack() async {
        let gate = Gate()
        let client = RoadClient(
            gate, settings: .init(concurrency: 1, callTimeout: 60_000, requestTimeout: 60_000), logger: quiet
        ) { [clock] in clock.now }
        let first = Task { await client.state() }
        await gate.wait(for: 1)
        // 64 may wait; of more, each falls back at once.
        let others = (0..<70).map { number in Task { await client.state(100, "1/\(number)") } }
        while client.counters.counts.calls[.busy, default: 0] < 6 { await Task.yield() }
        gate.open()
        var states = [await first.value]
        for other in others { states.append(await other.value) }
        #expect(states.count { $0 == .unavailable(.busy) } == 6)
        #expect(states.count { $0 == .used(matched: 1) } == 65)
        #expect(!client.isFallingBack)
    }

    @Test func whoeverWaitsTooLongFallsBack() async {
        let turns = RoadCallLimiter(concurrency: 1)
        #expect(await turns.take(within: 60_000))
        #expect(await turns.take(within: 20) == false)
        turns.leave()
        #expect(await turns.take(within: 60_000))
        let next = Task { await turns.take(within: 60_000) }
        turns.leave()
        #expect(await next.value)
    }

    @Test func aClientThatGoesAwaySaysNothingOfTheEngine() async {
        let client = client(Deserted())
        for _ in 0..<10 {
            let asking = Task { await client.state() }
            asking.cancel()
            #expect(await asking.value == .unavailable(.timeout))
        }
        #expect(!client.isFallingBack)
    }
}

/// Answers nothing, and ends when its caller goes away.
private struct Deserted: RoadTransport {
    func exchange(_ request: RoadRequest, within timeout: Int64) async throws(RoadFailure) -> RoadReply {
        while !Task.isCancelled { await Task.yield() }
        throw .timeout
    }
}

/// Holds every call until it is opened.
private final class Gate: RoadTransport {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func exchange(_ request: RoadRequest, within timeout: Int64) async throws(RoadFailure) -> RoadReply {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        return MadeEngine().reply(to: request)
    }

    func wait(for count: Int) async {
        while state.withLock({ $0.waiting.count }) < count { await Task.yield() }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
