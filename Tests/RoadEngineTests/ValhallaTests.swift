import Foundation
import Geodesy
import Glibc
import MetricsText
import NIOCore
import ProgramTestKit
import Testing
import TrackAnalysis
import TrackModel

@testable import RoadEngine
@testable import RoadMatching

private let liechtenstein = "roads/liechtenstein.osm.pbf"
private let andorra = "roads/andorra.osm.pbf"
private let loop = "roads/li-loop.gpx"
private let truth = "roads/li-loop-truth.csv"
private let tunnel = "roads/ad-tunnel.gpx"
private let delft = "roads/delft-partial.osm.pbf"

/// The client with a real Valhalla, on two drives whose truth is known, and on a map that has few of a drive's roads.
@Suite(
    .serialized, .timeLimit(.minutes(15)),
    .needs(.recordings([liechtenstein, andorra, delft, loop, truth, tunnel, Recordings.theHague]), .valhalla))
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

    private func with(_ engine: Valhalla, timeout: Int64 = 60_000, _ body: (RoadClient) async throws -> Void)
        async throws
    {
        let transport = HTTPRoadTransport(engine.url, connections: 4, connecting: 60_000)
        let client = RoadClient(
            transport, settings: .init(callTimeout: timeout, requestTimeout: 2 * timeout), logger: quiet
        ) { MonotonicTime(milliseconds: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)) }
        do {
            try await body(client)
        } catch {
            await transport.shutdown()
            throw error
        }
        await transport.shutdown()
    }

    /// The way of OpenStreetMap on which the loop was driven, for each second from its start.
    private static func ways() throws -> [Int64] {
        try String(contentsOfFile: Recordings.path(truth), encoding: .utf8).split(separator: "\n").dropFirst().map {
            try #require(Int64($0.split(separator: ",", omittingEmptySubsequences: false)[4]))
        }
    }

    @Test func theLoopIsAsLongAsItWasDriven() async throws {
        let (engine, drive) = (try Valhalla(liechtenstein), try Drive(loop))
        try await with(engine) { client in
            let context = client.context()
            let match = await client.match(drive.collapsed, context)
            guard case .used(let matched?) = match.state else {
                Issue.record("\(match.state)")
                return
            }
            #expect(matched > 0.95)
            // The reference has 98.2 % on the right way of OpenStreetMap.
            let ways = try Self.ways()
            let start = try #require(drive.denoised.first).timestamp
            let right = match.track.samples.count {
                $0.edge?.way == ways[Int($0.sample.timestamp.milliseconds(since: start) / 1000)]
            }
            let share = Double(right) / Double(match.track.samples.count)
            #expect(abs(share - 0.982) < 0.005, "\(right) of \(match.track.samples.count)")
            // Driven: 33,646.7 m, and 37,762 m with the interruption.
            let length = match.track.length()
            #expect(abs(length.driven / 33_667 - 1) < 0.005, "\(length.driven)")
            let routes = await client.routes(length.interruptions, context)
            #expect(routes.state == .used(matched: nil))
            let total = length.total(.routes(routes.answers.map { $0?.metres }, factor: 1)).metres
            #expect(abs(total / 37_787 - 1) < 0.005, "\(total)")
            // Speeding by the limits of the roads: seconds from the start, and durations.
            let behaviour = match.track.behaviour(DrivingOptions(), denoised: drive.denoised)
            #expect(
                behaviour.speeding.map { [$0.start.time, $0.end.time].map { $0.milliseconds(since: start) / 1000 } }
                    == [[193, 208], [214, 260], [320, 325]])
            let calls = client.counters.counts.durations.count
            let again = await client.match(drive.collapsed, client.context())
            #expect(again.track == match.track && client.counters.counts.durations.count == calls)
        }
    }

    @Test func theTunnelIsBridgedAndTheTollIsCounted() async throws {
        let (engine, drive) = (try Valhalla(andorra), try Drive(tunnel))
        try await with(engine) { client in
            let match = await client.match(drive.collapsed, client.context())
            // Driven: 25,596 m, the last 755 m of it on a toll road.
            let driven = match.track.length().driven
            #expect(abs(driven / 25_605 - 1) < 0.005, "\(driven)")
            #expect(abs(match.track.toll - 755.6) < 8, "\(match.track.toll)")
        }
    }

    /// The map has the university of Delft and the main roads around it. Most of the drive is elsewhere.
    ///
    /// The reference has 1,074 points in 13 runs, 12.2 km of roads, and tells no cleaning: it has what the engine says when
    /// every fix is sent. The client sends a third of the fixes and believes no match over 25 m off, where the right road
    /// is missing. Then the fixes beside such a match stay where they are too. So it has fewer points on the same roads.
    ///
    /// Of 3,453 points five are excursions, at which the receiver says 0 on the move, and 475 are drift of stops.
    @Test func aMapWithHolesMatchesWhatItHas() async throws {
        let (engine, drive) = (try Valhalla(delft), try Drive(Recordings.theHague))
        try await with(engine) { client in
            let answer = try await Self.answer(engine, drive.denoised)
            let known = answer.points.map { $0 != nil }
            #expect((1069...1079).contains(known.count { $0 }), "\(known.count { $0 }) of \(known.count)")
            #expect(Self.runs(known) == 13)

            let match = await client.match(drive.collapsed, client.context())
            guard case .partly(let share) = match.state else {
                Issue.record("\(match.state)")
                return
            }
            let samples = match.track.samples
            let placed = samples.map { $0.edge != nil }
            let count = placed.count { $0 }
            #expect(share == Double(count) / Double(samples.count))
            #expect((775...797).contains(count) && samples.count == 2973, "\(count) of \(samples.count)")
            #expect((11...13).contains(Self.runs(placed)), "\(Self.runs(placed))")
            let onRoads = samples.compactMap(\.path).reduce(0, +)
            #expect(abs(onRoads / 12_200 - 1) < 0.015, "\(onRoads)")
            // No point is lost, none is far from its fix, and none moves where no road is known.
            for (road, fix) in zip(samples, drive.collapsed) {
                let moved = road.sample.distance(to: fix)
                #expect(road.sample.index == fix.index)
                #expect(moved <= (road.edge == nil ? 0 : max(25.1, 2 * (fix.radius ?? 0))), "\(moved) m at \(fix.time)")
            }
            let (roads, cleaned) = (match.track.length().driven, LengthMeter.length(of: drive.collapsed).driven)
            #expect(abs(roads / cleaned - 1) < 0.005, "\(roads), \(cleaned)")
        }
    }

    /// 1,847 of 2,710 points when every point is sent. The client sends a part of them: some of the others, where two ways
    /// meet, get the way beside theirs.
    @Test func theLimitsOfTheLoopAreThoseOfItsMap() async throws {
        let (engine, drive) = (try Valhalla(liechtenstein), try Drive(loop))
        try await with(engine) { client in
            let answer = try await Self.answer(engine, drive.collapsed)
            let sent = answer.points.count { $0.flatMap { answer.edges[$0.edge].limit } != nil }
            let placed = await client.match(drive.collapsed, client.context()).track.samples.count {
                $0.edge?.limit != nil
            }
            #expect(drive.collapsed.count == 2710)
            for limited in [sent, placed] { #expect((1838...1856).contains(limited), "\(sent), \(placed)") }
        }
    }

    /// What the engine says of fixes that are all sent, in one call.
    private static func answer(_ engine: Valhalla, _ fixes: [TrackSample]) async throws -> TraceAnswer {
        let transport = HTTPRoadTransport(engine.url, connections: 1, connecting: 60_000)
        let reply: Result<RoadReply, RoadFailure>
        do throws(RoadFailure) {
            reply = .success(try await transport.exchange(TraceRequest.request(for: fixes, .car), within: 60_000))
        } catch {
            reply = .failure(error)
        }
        await transport.shutdown()
        return try TraceAnswer(try reply.get(), count: fixes.count)
    }

    /// How many times in a row flags are set.
    private static func runs(_ flags: [Bool]) -> Int {
        zip(flags, [false] + flags).count { $0 && !$1 }
    }

    @Test func elsewhereThereAreNoRoads() async throws {
        let (engine, drive) = (try Valhalla(andorra), try Drive(loop))
        try await with(engine) { client in
            let match = await client.match(drive.collapsed, client.context())
            #expect(match.state == .none && match.track.samples.map(\.sample) == drive.collapsed)
            let routes = await client.routes(match.track.length().interruptions, client.context())
            #expect(routes.state == .none && routes.answers.allSatisfy { $0 == nil })
            #expect(!client.isFallingBack)
        }
    }

    @Test func anEngineThatStopsInTheMiddleComesBack() async throws {
        let (engine, drive) = (try Valhalla(liechtenstein), try Drive(loop))
        try await with(engine, timeout: 3000) { client in
            func state(_ owner: String) async -> RoadsState {
                await client.match(drive.collapsed, client.context(owner)).state
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
