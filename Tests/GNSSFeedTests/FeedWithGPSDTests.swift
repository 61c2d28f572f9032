import AgentLogic
import Foundation
import ProgramTestKit
import Synchronization
import Testing
import TrackModel

@testable import GNSSFeed

/// The feed and a real gpsd.
@Suite(.needs(.gpsd), .timeLimit(.minutes(5)))
struct FeedWithGPSDTests {
    private func feed(
        port: UInt16, device: String? = nil, into log: EventLog, _ adjust: (inout FeedTiming) -> Void = { _ in }
    ) throws -> GNSSFeed {
        var timing = FeedTiming()
        timing.firstBackoff = 50
        timing.longestBackoff = 200
        adjust(&timing)
        let configuration = try FeedConfiguration(host: "127.0.0.1", port: port, device: device, timing: timing)
        let feed = try GNSSFeed(configuration: configuration) { log.add($0) }
        try feed.start()
        return feed
    }

    private func stop(_ feed: GNSSFeed, _ log: EventLog) async {
        feed.stop()
        #expect(await log.wait { $0.last == .state(.stopped) })
    }

    /// Sends the epochs, each a moment after the other, until the log holds what is wanted.
    private func drive(
        _ connection: LoopbackConnection, from second: Int, until isMet: @escaping @Sendable () -> Bool
    ) async throws {
        try await onThread {
            for second in second..<second + 600 where !isMet() {
                guard connection.send(NMEA.epoch(second)) else { return }
                usleep(20_000)
            }
        }
    }

    @Test(.needs(.allRecordings), arguments: Recordings.receivers)
    func reportsAreWhatGPSDSaysInTheSameSession(recording: String) async throws {
        let bytes = try Recordings.receiver(recording)
        let receiver = try SimulatedReceiver()
        let gpsd = try RealGPSD(sources: [receiver.source])
        let connection = try #require(try await receiver.opened())

        let raw = try RawWatch(port: gpsd.port)
        let log = EventLog()
        let feed = try feed(port: gpsd.port, device: receiver.source, into: log)
        #expect(await log.wait(for: \.hasReceiver))

        try await onThread { connection.play(bytes) }
        // That the receiver is gone is what both watchers hear last.
        #expect(try gpsd.control("-" + receiver.source))
        #expect(await log.wait(for: \.isNoDevice))
        let said = try await onThread { raw.untilGone() }
        await stop(feed, log)

        let reports = log.reports
        #expect(!said.isEmpty)
        #expect(reports.count == said.count)
        for (report, raw) in zip(reports, said) {
            #expect(report.mode == raw.mode)
            #expect(report.time == raw.time)
            #expect(report.device == receiver.source)
            #expect(report.status == raw.status)
            expectSame(report.latitude, raw.latitude)
            expectSame(report.longitude, raw.longitude)
            expectSame(report.speed, raw.speed)
            expectSame(report.course, raw.track)
            expectSame(report.altitudeMSL, raw.altMSL)
            expectSame(report.horizontalError, raw.eph)
            #expect(report.satellitesUsed == raw.satellitesUsed)
        }
        // Each of them found its place.
        #expect(reports.contains { $0.mode >= 2 } && log.states.contains(.fix))
        #expect(feed.counters.rejectedLines == 0)
    }

    private func expectSame(_ ours: Double?, _ theirs: Double?, sourceLocation: SourceLocation = #_sourceLocation) {
        guard let ours, let theirs else {
            #expect(ours == nil && theirs == nil, sourceLocation: sourceLocation)
            return
        }
        // Two readers of the same decimal digits.
        #expect(abs(ours - theirs) <= 1e-12 * max(1, abs(theirs)), sourceLocation: sourceLocation)
    }

    @Test func gpsdAbsentAtTheStartIsFoundWhenItComes() async throws {
        let receiver = try SimulatedReceiver()
        let port = try UInt16(freePort())
        let log = EventLog()
        let feed = try feed(port: port, into: log) { $0.firstBackoff = 60_000 }
        #expect(await log.wait(for: \.isUnreachable))
        let gpsd = try RealGPSD(port: port, sources: [receiver.source])
        // The wait of a minute is cut short.
        feed.wake()
        let connection = try #require(try await receiver.opened())
        try await drive(connection, from: 0) { log.states.last == .fix }
        #expect(await log.wait(for: \.isFix))
        await stop(feed, log)
        withExtendedLifetime(gpsd) {}
    }

    @Test func aKilledGPSDIsFoundAgainAndTheReportsGoOn() async throws {
        let receiver = try SimulatedReceiver()
        let gpsd = try RealGPSD(sources: [receiver.source])
        let log = EventLog()
        // However slowly the test gets on: only the loss of gpsd ends a run of reports here.
        let feed = try feed(port: gpsd.port, into: log) { ($0.silence, $0.stale) = (60_000, 60_000) }
        var connection = try #require(try await receiver.opened())
        try await drive(connection, from: 0) { log.reports.count > 5 }
        for round in 1...3 {
            let before = log.events.count
            gpsd.kill()
            #expect(await log.wait(after: before, for: \.isUnreachable), "round \(round)")
            // What was under way has been told to be over.
            let ended = log.events.dropFirst(before)
            let silence = ended.firstIndex(of: .silence)
            let lost = ended.firstIndex { if case .state(.unreachable) = $0 { true } else { false } }
            #expect(try #require(silence) < #require(lost))
            try gpsd.launch(sources: [receiver.source])
            connection = try #require(try await receiver.opened())
            let reports = log.reports.count
            try await drive(connection, from: round * 700) { log.reports.count > reports + 5 }
            #expect(await log.wait(after: before, for: \.isFix), "round \(round)")
        }
        #expect(feed.counters.connections == 4)
        await stop(feed, log)
    }

    @Test func aFrozenGPSDIsLeftAndFoundAgain() async throws {
        let receiver = try SimulatedReceiver()
        let gpsd = try RealGPSD(sources: [receiver.source])
        let log = EventLog()
        let feed = try feed(port: gpsd.port, into: log) {
            ($0.quiet, $0.answer, $0.greeting) = (500, 5000, 5000)
        }
        #expect(await log.wait(for: \.hasReceiver))
        let connection = try #require(try await receiver.opened())
        // A quiet receiver alone is no reason to leave: gpsd answers.
        #expect(await log.wait(seconds: 7, for: \.isUnreachable) == false)
        gpsd.freeze(true)
        #expect(await log.wait(for: \.isUnreachable))
        gpsd.freeze(false)
        try await drive(connection, from: 0) { log.states.last == .fix }
        #expect(await log.wait(for: \.isFix))
        await stop(feed, log)
    }

    @Test func aReceiverMayComeAndGo() async throws {
        let receiver = try SimulatedReceiver()
        let gpsd = try RealGPSD()
        let log = EventLog()
        let feed = try feed(port: gpsd.port, into: log)
        #expect(await log.wait { $0.last == .state(.noDevice(reason: "gpsd has no receiver")) })
        for round in 1...2 {
            let before = log.events.count
            #expect(try gpsd.control("+" + receiver.source))
            let connection = try #require(try await receiver.opened())
            #expect(await log.wait(after: before, for: \.hasReceiver), "round \(round)")
            try await drive(connection, from: round * 700) { log.states.last == .fix }
            #expect(await log.wait(after: before, for: \.isFix), "round \(round)")
            let fixed = log.events.count
            #expect(try gpsd.control("-" + receiver.source))
            #expect(await log.wait(after: fixed, for: \.isNoDevice), "round \(round)")
        }
        #expect(feed.counters.connections == 1)
        await stop(feed, log)
    }

    @Test func aWantedReceiverThatComesLateIsFound() async throws {
        let receiver = try SimulatedReceiver()
        let gpsd = try RealGPSD()
        let log = EventLog()
        let feed = try feed(port: gpsd.port, device: receiver.source, into: log) { $0.quiet = 300 }
        #expect(await log.wait(for: \.isNoDevice))
        #expect(try gpsd.control("+" + receiver.source))
        let connection = try #require(try await receiver.opened())
        #expect(await log.wait(for: \.hasReceiver))
        try await drive(connection, from: 0) { log.states.last == .fix }
        #expect(await log.wait(for: \.isFix))
        await stop(feed, log)
    }

    @Test func aReceiverThatFallsSilentIsTold() async throws {
        let receiver = try SimulatedReceiver()
        let gpsd = try RealGPSD(sources: [receiver.source])
        let log = EventLog()
        let feed = try feed(port: gpsd.port, into: log) { ($0.silence, $0.stale) = (300, 600) }
        let connection = try #require(try await receiver.opened())
        try await drive(connection, from: 0) { log.reports.count > 3 }
        #expect(await log.wait { $0.contains(.silence) })
        #expect(await log.wait { $0.last == .state(.noFix) })
        await stop(feed, log)
        withExtendedLifetime(gpsd) {}
    }
}

/// gpsd's own words: a watch of its socket, read without libgps.
final class RawWatch: Sendable {
    struct Position: Sendable {
        var mode: Int
        var time: Timestamp?
        var latitude, longitude, speed, track, altMSL, eph: Double?
        var status: Int?
        var satellitesUsed: Int?
    }

    private let connection: LoopbackConnection

    /// Returns once gpsd has confirmed the watch.
    init(port: UInt16) throws {
        connection = try LoopbackConnection(to: port)
        connection.send("?WATCH={\"enable\":true,\"json\":true};\n")
        guard connection.receive(until: "\"class\":\"WATCH\"") else { throw SocketFailure("no answer to WATCH") }
    }

    /// Everything up to the message that the receiver is gone.
    func untilGone() -> [Position] {
        var positions: [Position] = []
        var pending: [UInt8] = []
        var used: Int?
        while let bytes = connection.receive() {
            pending += bytes
            while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = pending[..<end]
                pending.removeSubrange(...end)
                guard let object = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
                    continue
                }
                switch object["class"] as? String {
                case "TPV": positions.append(Self.position(object, used: used))
                case "SKY":
                    if let satellites = object["satellites"] as? [[String: Any]] {
                        used = satellites.count { $0["used"] as? Bool == true }
                    }
                case "DEVICE" where (object["activated"] as? Int) == 0: return positions
                default: break
                }
            }
        }
        return positions
    }

    private static func position(_ object: [String: Any], used: Int?) -> Position {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let date = (object["time"] as? String).flatMap { try? format.parse($0) }
        return Position(
            mode: object["mode"] as? Int ?? 0,
            time: date.map { Timestamp(milliseconds: Int64(($0.timeIntervalSince1970 * 1000).rounded())) },
            latitude: object["lat"] as? Double, longitude: object["lon"] as? Double, speed: object["speed"] as? Double,
            track: object["track"] as? Double, altMSL: object["altMSL"] as? Double, eph: object["eph"] as? Double,
            status: object["status"] as? Int, satellitesUsed: used)
    }
}
