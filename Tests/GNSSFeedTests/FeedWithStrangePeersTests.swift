import AgentLogic
import Foundation
import ProgramTestKit
import Testing

@testable import GNSSFeed

/// The feed and what is not, or not quite, gpsd.
@Suite(.timeLimit(.minutes(5)))
struct FeedWithStrangePeersTests {
    private static let greeting = #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#
    private static let devices =
        #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/x","activated":"2026-01-01T00:00:00.000Z"}]}"#

    private func tpv(_ second: Int) -> String {
        #"{"class":"TPV","device":"/dev/x","mode":3,"time":"2026-01-01T00:00:0\#(second).000Z","lat":1,"lon":\#(second)}"#
    }

    private func feed(
        _ host: String = "127.0.0.1", port: UInt16, into log: EventLog, _ adjust: (inout FeedTiming) -> Void = { _ in }
    ) throws -> GNSSFeed {
        var timing = FeedTiming()
        timing.firstBackoff = 20
        timing.longestBackoff = 40
        adjust(&timing)
        let configuration = try FeedConfiguration(host: host, port: port, timing: timing)
        let feed = try GNSSFeed(configuration: configuration) { log.add($0) }
        try feed.start()
        return feed
    }

    /// Seconds: more than a busy machine takes to run a thread that has been woken, less than any wait of ``unhurried``.
    private static let prompt = 20.0

    /// Every wait is longer than a test.
    private static func unhurried(_ timing: inout FeedTiming) {
        (timing.connect, timing.greeting, timing.quiet, timing.answer) = (600_000, 600_000, 600_000, 600_000)
        (timing.silence, timing.stale) = (600_000, 600_000)
        (timing.firstBackoff, timing.longestBackoff) = (600_000, 600_000)
    }

    /// Stops the feed and tells how long its last event took, in seconds.
    private func stopTime(_ feed: GNSSFeed, _ log: EventLog) async -> Double {
        let start = ContinuousClock.now
        feed.stop()
        #expect(await log.wait { $0.last == .state(.stopped) })
        // The moment of telling: the test itself may be kept waiting by others.
        return start.duration(to: log.times.last ?? .now) / .seconds(1)
    }

    @Test func linesThatArriveTogetherAreReportedTogether() async throws {
        let listener = try LoopbackListener()
        let log = EventLog()
        let feed = try feed(port: listener.port, into: log)
        let client = try await onThread { listener.accept() }
        let lines = [Self.greeting, Self.devices] + (0..<9).map(tpv)
        client?.send(lines.joined(separator: "\r\n") + "\r\n")
        // No further byte comes; nothing may be left waiting for one.
        #expect(
            await log.wait { events in
                events.count { if case .report = $0 { true } else { false } } == 9
            })
        #expect(log.reports.map(\.longitude) == (0..<9).map { Double($0) })
        #expect(await stopTime(feed, log) < Self.prompt)
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "{\"class\":\"TPV\",\"mode\":3}\n", "\n", "{}\n",
        String(repeating: "x", count: 200_000),
    ]) func whatDoesNotGreetAsGPSDDoesIsUnreachable(answer: String) async throws {
        let listener = try LoopbackListener()
        let log = EventLog()
        let feed = try feed(port: listener.port, into: log)
        let client = try await onThread { listener.accept() }
        client?.send(answer)
        #expect(await log.wait(for: \.isUnreachable))
        #expect(log.reports.isEmpty)
        #expect(await stopTime(feed, log) < Self.prompt)
    }

    /// In a process of its own: only there is the growth of the process that of the feed.
    @Test func garbageNeitherCrashesNorGrowsNorEndsTheFeed() async {
        await #expect(processExitsWith: .success) { try await FeedWithStrangePeersTests().attack() }
    }

    private func attack() async throws {
        let listener = try LoopbackListener()
        let log = EventLog()
        let feed = try feed(port: listener.port, into: log)
        let seed = UInt64.random(in: 0 ... .max)
        print("seed \(seed)")
        let attacks = Self.attacks(seed: seed)
        let before = try residentKilobytes()
        try await onThread {
            for attack in attacks {
                guard let client = listener.accept() else { break }
                client.send(Self.greeting + "\n" + Self.devices + "\n")
                // The end of the connection is what makes the feed leave, if nothing did before.
                client.send(attack)
            }
        }
        let count = log.events.count
        let client = try await onThread { listener.accept() }
        client?.send([Self.greeting, Self.devices, tpv(7)].joined(separator: "\n") + "\n")
        #expect(
            await log.wait { events in
                events.dropFirst(count).contains {
                    if case .report(let report) = $0 { report.longitude == 7 } else { false }
                }
            })
        #expect(feed.counters.rejectedLines > 0)
        let grown = try residentKilobytes() - before
        print("grown by \(grown) KiB")
        // Far less than the longest line.
        #expect(grown < 10_000)
        #expect(await stopTime(feed, log) < Self.prompt)
    }

    private static func attacks(seed: UInt64) -> [[UInt8]] {
        var random = seed
        func next() -> UInt8 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: random >> 40)
        }
        return [
            (0..<1_000_000).map { _ in next() },
            [UInt8](repeating: UInt8(ascii: "{"), count: 3_000_000),
            Array((#"{"class":"TPV","mode":3,"x":""# + String(repeating: "y", count: 20_000_000) + "\"}\n").utf8),
            Array(String(repeating: "{\"class\":\"TPV\",\"mode\":[{\"class\":\"TPV\"}]}\n", count: 2000).utf8),
            Array(String(repeating: "{\"class\":\"TPV\",\"lat\":1e999,\"lon\":\"\",\"mode\":77}\n", count: 1000).utf8),
            [0], [0x0A], [UInt8](repeating: 0x0A, count: 100_000),
        ]
    }

    private func residentKilobytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return Int(line?.split(separator: " ").dropFirst().first ?? "") ?? 0
    }

    @Test func aFloodIsReadNoFasterThanTheBudgetAllows() async throws {
        let listener = try LoopbackListener()
        let log = EventLog()
        let feed = try feed(port: listener.port, into: log)
        let client = try await onThread { listener.accept() }
        client?.send(Self.greeting + "\n" + Self.devices + "\n")
        #expect(await log.wait(for: \.hasReceiver))
        let before = log.events.count
        try await onThread { [text = tpv(1) + "\n"] in
            for _ in 0..<2500 { guard client?.send(text) == true else { return } }
        }
        #expect(await log.wait { $0.count { if case .report = $0 { true } else { false } } == 2500 })
        // A thousand at once and then 500 a second, except that a full buffer of some 700 is always finished.
        let (first, last) = (log.times[before], try #require(log.times.last))
        #expect(first.duration(to: last) > .seconds(1.4))
        #expect(await stopTime(feed, log) < Self.prompt)
    }

    @Test func stopIsPromptWhereverTheFeedIs() async throws {
        // Waiting to try again.
        let free = try UInt16(freePort())
        var log = EventLog()
        var feed = try feed(port: free, into: log, Self.unhurried)
        #expect(await log.wait(for: \.isUnreachable))
        #expect(await stopTime(feed, log) < Self.prompt)

        // Waiting for a greeting.
        let listener = try LoopbackListener()
        log = EventLog()
        feed = try self.feed(port: listener.port, into: log, Self.unhurried)
        let silent = try await onThread { listener.accept() }
        #expect(await stopTime(feed, log) < Self.prompt)

        // Watching.
        log = EventLog()
        feed = try self.feed(port: listener.port, into: log, Self.unhurried)
        let client = try await onThread { listener.accept() }
        client?.send(Self.greeting + "\n" + Self.devices + "\n")
        #expect(await log.wait(for: \.hasReceiver))
        #expect(await stopTime(feed, log) < Self.prompt)

        // Connecting to what does not answer: the kernel drops the attempts on a full backlog.
        let full = try LoopbackListener(backlog: 0)
        let first = try LoopbackConnection(to: full.port)
        log = EventLog()
        feed = try self.feed(port: full.port, into: log, Self.unhurried)
        #expect(await log.wait(for: { $0 == .connecting }))
        let second = try self.feed(port: full.port, into: EventLog(), Self.unhurried)
        #expect(await stopTime(feed, log) < Self.prompt)
        second.stop()

        // Never started: there is nothing to tell.
        let unstarted = try GNSSFeed(configuration: FeedConfiguration()) { _ in Issue.record("told something") }
        unstarted.stop()
        withExtendedLifetime((silent, first)) {}
    }

    @Test func stopIsPromptWhileANameIsLookedUp() async throws {
        let log = EventLog()
        let feed = try feed("no-such-host.invalid", port: 2947, into: log, Self.unhurried)
        #expect(await log.wait(for: { $0 == .connecting }))
        #expect(await stopTime(feed, log) < Self.prompt)
    }

    @Test func anUnknownNameIsUnreachable() async throws {
        let log = EventLog()
        let feed = try feed("no-such-host.invalid", port: 2947, into: log)
        #expect(await log.wait(for: \.isUnreachable))
        #expect(await stopTime(feed, log) < Self.prompt)
    }

    @Test func aNameIsLookedUp() async throws {
        let listener = try LoopbackListener()
        let log = EventLog()
        let feed = try feed("localhost", port: listener.port, into: log)
        let client = try await onThread { listener.accept() }
        client?.send([Self.greeting, Self.devices, tpv(1)].joined(separator: "\n") + "\n")
        #expect(await log.wait(for: \.isFix))
        #expect(await stopTime(feed, log) < Self.prompt)
    }

    @Test func aFeedThatIsLetGoEndsByItself() async throws {
        let listener = try LoopbackListener()
        let log = EventLog()
        do {
            let feed = try feed(port: listener.port, into: log)
            _ = feed.counters
        }
        #expect(await log.wait { $0.last == .state(.stopped) })
    }
}
