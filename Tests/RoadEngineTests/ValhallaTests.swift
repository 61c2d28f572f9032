import Exposition
import Geodesy
import Glibc
import NIOCore
import ProgramTestKit
import RoadMatching
import Testing
import TrackAnalysis
import TrackModel

@testable import RoadEngine

private let liechtenstein = "roads/liechtenstein.osm.pbf"
private let andorra = "roads/andorra.osm.pbf"
private let loop = "roads/li-loop.gpx"
private let tunnel = "roads/ad-tunnel.gpx"

/// The client with a real Valhalla, on two drives whose truth is known.
@Suite(.serialized, .timeLimit(.minutes(15)), .needs(.recordings([liechtenstein, andorra, loop, tunnel]), .valhalla))
struct ValhallaTests {
    private struct Drive {
        let denoised: [TrackSample]
        let collapsed: [TrackSample]

        init(_ name: String) throws {
            let columns = TrackColumns(try RecordedTrack.points(of: name))
            var options = CleaningOptions(speedCap: 200 / 3.6, collapsesStops: false)
            denoised = TrackCleaner.clean(columns, options).samples
            options.collapsesStops = true
            collapsed = TrackCleaner.clean(columns, options).samples
        }
    }

    private func with(_ engine: Valhalla, patience: Int64 = 60_000, _ body: (RoadClient) async throws -> Void)
        async throws
    {
        let transport = HTTPRoadTransport(engine.url, connections: 4, connecting: 60_000)
        let client = RoadClient(
            transport, settings: .init(callPatience: patience, requestPatience: 2 * patience), logger: quiet
        ) { MonotonicTime(milliseconds: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)) }
        do {
            try await body(client)
        } catch {
            await transport.shutdown()
            throw error
        }
        await transport.shutdown()
    }

    @Test func theLoopIsAsLongAsItWasDriven() async throws {
        let (engine, drive) = (try Valhalla(liechtenstein), try Drive(loop))
        try await with(engine) { client in
            let errand = client.errand()
            let match = await client.match(drive.collapsed, errand)
            guard case .used(let matched?) = match.state else {
                Issue.record("\(match.state)")
                return
            }
            #expect(matched > 0.95)
            // Driven: 33,646.7 m, and 37,762 m with the interruption.
            let length = match.track.length()
            #expect(abs(length.driven / 33_667 - 1) < 0.005, "\(length.driven)")
            let routes = await client.routes(length.interruptions, errand)
            #expect(routes.state == .used(matched: nil))
            let total = length.total(.routes(routes.answers.map { $0?.metres }, factor: 1)).metres
            #expect(abs(total / 37_787 - 1) < 0.005, "\(total)")
            // Speeding by the limits of the roads: seconds from the start, and durations.
            let behaviour = match.track.behaviour(DrivingOptions(), denoised: drive.denoised)
            let start = try #require(drive.denoised.first).timestamp
            #expect(
                behaviour.speeding.map { [$0.start.time, $0.end.time].map { $0.milliseconds(since: start) / 1000 } }
                    == [[193, 208], [214, 260], [320, 325]])
            let calls = client.counters.counts.durations.count
            let again = await client.match(drive.collapsed, client.errand())
            #expect(again.track == match.track && client.counters.counts.durations.count == calls)
        }
    }

    @Test func theTunnelIsBridgedAndTheTollIsCounted() async throws {
        let (engine, drive) = (try Valhalla(andorra), try Drive(tunnel))
        try await with(engine) { client in
            let match = await client.match(drive.collapsed, client.errand())
            // Driven: 25,596 m, the last 755 m of it on a toll road.
            let driven = match.track.length().driven
            #expect(abs(driven / 25_605 - 1) < 0.005, "\(driven)")
            #expect(abs(match.track.toll - 755.6) < 8, "\(match.track.toll)")
        }
    }

    @Test func elsewhereThereAreNoRoads() async throws {
        let (engine, drive) = (try Valhalla(andorra), try Drive(loop))
        try await with(engine) { client in
            let match = await client.match(drive.collapsed, client.errand())
            #expect(match.state == .none && match.track.samples.map(\.sample) == drive.collapsed)
            let routes = await client.routes(match.track.length().interruptions, client.errand())
            #expect(routes.state == .none && routes.answers.allSatisfy { $0 == nil })
            #expect(!client.isOpen)
        }
    }

    @Test func anEngineThatStopsInTheMiddleComesBack() async throws {
        let (engine, drive) = (try Valhalla(liechtenstein), try Drive(loop))
        try await with(engine, patience: 3000) { client in
            func state(_ owner: String) async -> RoadsState {
                await client.match(drive.collapsed, client.errand(owner)).state
            }
            guard case .used = await state("1/first") else {
                Issue.record("the engine does not work")
                return
            }
            // Frozen: it takes connections and answers nothing.
            engine.signal(SIGSTOP)
            #expect(await state("1/second") == .unavailable(.timeout))
            engine.signal(SIGCONT)
            engine.end()
            guard case .unavailable = await state("1/third") else {
                Issue.record("a dead engine answered")
                return
            }
            // What is known stays known.
            guard case .used = await state("1/first") else {
                Issue.record("what was matched before is forgotten")
                return
            }
            try engine.start()
            let end = ContinuousClock.now + .seconds(120)
            while ContinuousClock.now < end {
                if case .used = await state("1/fourth") { return }
                try await Task.sleep(for: .milliseconds(200))
            }
            Issue.record("the client does not come back")
        }
    }
}
