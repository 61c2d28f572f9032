import AgentControl
import ConfigurationFile
import Foundation
import Logging
import MetricsText
import NIOCore
import NIOPosix
import ProgramTestKit
import Synchronization
import Testing

@testable import AgentRuntime

@Suite(.timeLimit(.minutes(5))) struct MetricsTests {
    // MARK: The page

    /// The value of a series, by its name with its labels.
    private func value(_ series: String, in page: MetricsPage) -> Double? {
        String(decoding: page.text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(series + " ") }
            .flatMap { Double($0.dropFirst(series.count + 1)) }
    }

    private func page(of agent: RunningAgent) async throws -> MetricsPage {
        try await agent.on { $0.agent.metrics() }
    }

    @Test func theAgentTellsWhatItDoes() async throws {
        let agent = try await RunningAgent.start()
        let before = try await page(of: agent)
        #expect(value("saker_agent_fix_age_seconds", in: before) == nil)
        #expect(value("saker_agent_points_lost_total{reason=\"bound\"}", in: before) == 0)
        try await agent.fix(0)
        try await agent.fix(1)
        try await agent.fix(5)
        try await agent.wait("two points") { $0.agent.cacheStatus.points == 2 }
        // Nobody answers at the server's address: the time without a session grows.
        try await agent.wait("some time without a link") {
            self.value("saker_agent_link_offline_seconds", in: $0.agent.metrics()) ?? 0 > 0
        }
        let after = try await page(of: agent)
        #expect(value("saker_agent_fixes_total", in: after) == 3)
        #expect(value("saker_agent_points_gathered_total", in: after) == 2)
        #expect(value("saker_agent_fixes_skipped_total{reason=\"not_due\"}", in: after) == 1)
        #expect(value("saker_agent_cache_points", in: after) == 2)
        #expect(value("saker_agent_last_point_timestamp_seconds", in: after) == 1_780_000_005)
        #expect(value("saker_agent_cache_oldest_point_timestamp_seconds", in: after) == 1_780_000_000)
        #expect(value("saker_agent_fix_mode", in: after) == 3)
        #expect(value("saker_agent_gathering", in: after) == 1)
        #expect(value("saker_agent_gather_interval_seconds", in: after) == 5)
        #expect(try #require(value("saker_agent_cache_appended_bytes_total", in: after)) >= 56)
        #expect(try #require(value("saker_agent_link_offline_seconds", in: after)) > 0)
        #expect(value("saker_agent_link_state{state=\"online\"}", in: after) == 0)
        #expect(value("saker_agent_cache_limit_bytes", in: after) == 268_435_456)
        // Exactly one state holds.
        for name in ["link", "feed"] {
            let states = String(decoding: after.text, as: UTF8.self).split(separator: "\n")
                .filter { $0.hasPrefix("saker_agent_\(name)_state{") }
            #expect(states.count { $0.hasSuffix(" 1") } == 1, "\(states)")
        }
        // Nobody learns from it who it is or where.
        let text = String(decoding: after.text, as: UTF8.self)
        for secret in ["van", "0123456789abcdef", "127.0.0.1", "52.00005", "4.32198"] {
            #expect(!text.contains(secret))
        }
        _ = try await agent.stop()
    }

    // MARK: The text file

    /// A text file on its loop.
    private struct Textfile: Sendable {
        let file: NIOLoopBound<MetricsTextfile>
        let loop: any EventLoop

        init(_ path: String) async throws {
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            self.loop = loop
            file = try await loop.submit { NIOLoopBound(MetricsTextfile(path: path), eventLoop: loop) }.get()
        }

        /// All at once.
        func write(_ pages: String...) async throws -> [String?] {
            try await loop.flatSubmit { [file, loop] in
                EventLoopFuture.whenAllSucceed(pages.map { file.value.write(Array($0.utf8), on: loop) }, on: loop)
            }.get()
        }

        func remove() async throws {
            try await loop.flatSubmit { [file, loop] in file.value.remove(on: loop) }.get()
        }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func eachPageTakesThePlaceOfTheOneBefore() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("saker.prom")
        let file = try await Textfile(path)
        #expect(try await file.write("a 1\n") == [nil])
        let held = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        #expect(try await file.write("a 2\n") == [nil])
        // Who reads the old one reads it to its end.
        #expect(try held.readToEnd() == Data("a 1\n".utf8))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "a 2\n")
        #expect(try mode(path) == 0o644)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["saker.prom"])
        try await file.remove()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        #expect(try await file.write("a 3\n") != [nil])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func pagesDoNotQueueUp() async throws {
        let directory = try TemporaryDirectory()
        let file = try await Textfile(directory.file("saker.prom"))
        let outcomes = try await file.write("a 1\n", "a 2\n", "a 3\n")
        #expect(outcomes[0] == nil)
        #expect(outcomes.dropFirst().allSatisfy { $0?.contains("still being written") == true })
        #expect(try String(contentsOfFile: directory.file("saker.prom"), encoding: .utf8) == "a 1\n")
        try await file.remove()
    }

    @Test func whatCannotBeWrittenIsExplainedAndLeavesNothing() async throws {
        let directory = try TemporaryDirectory()
        let missing = try await Textfile(directory.file("no/saker.prom"))
        #expect(try await missing.write("a 1\n")[0]?.hasSuffix("its directory does not exist") == true)
        try await missing.remove()
        // A directory in its place: all but the last step works.
        let taken = directory.file("taken.prom")
        try FileManager.default.createDirectory(atPath: taken + "/inside", withIntermediateDirectories: true)
        let file = try await Textfile(taken)
        #expect(try await file.write("a 1\n")[0]?.contains(taken) == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["taken.prom"])
        try await file.remove()
        #expect(FileManager.default.fileExists(atPath: taken + "/inside"))
    }

    @Test func aLinkThatSomebodyPutThereIsNotFollowed() async throws {
        let directory = try TemporaryDirectory()
        let victim = directory.file("victim")
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        let path = directory.file("saker.prom")
        for place in [path, path + ".new"] {
            try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: victim)
        }
        let file = try await Textfile(path)
        #expect(try await file.write("a 1\n") == [nil])
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "a 1\n")
        try await file.remove()
    }

    // MARK: The ways out

    /// What was logged, from any thread.
    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func logger() -> Logger {
            Logger(label: "metrics") { _ in Handler(log: self) }
        }

        private struct Handler: LogHandler {
            let log: Log
            var metadata = Logger.Metadata()
            var logLevel = Logger.Level.info

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                log.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
            }
        }
    }

    @Test func aDirectoryThatComesLaterIsWrittenToAndATroubleIsToldOnce() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("later/saker.prom")
        let agent = try await RunningAgent.start()
        let log = Log()
        let output = try await agent.loop.submit { [agent] in
            let output = MetricsOutput(
                agent.parts.value.agent, .init(textfile: path, interval: 3600, listen: nil), log: log.logger(),
                loop: agent.loop, isControlOpen: { true })
            output.start()
            return NIOLoopBound(output, eventLoop: agent.loop)
        }.get()
        try await agent.wait("the first failure") { _ in output.value.textfileFailures == 1 }
        for count in UInt64(2)...4 {
            try await agent.on { _ in output.value.writeTextfile() }
            try await agent.wait("a further failure") { _ in output.value.textfileFailures >= count }
        }
        #expect(log.all.count == 1, "\(log.all)")
        try FileManager.default.createDirectory(atPath: directory.file("later"), withIntermediateDirectories: true)
        try await agent.on { _ in output.value.writeTextfile() }
        try await agent.wait("the file") { _ in FileManager.default.fileExists(atPath: path) }
        try await agent.wait("the news") { _ in log.all.count == 2 }
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("saker_agent_textfile_failures_total 4\n"))
        try await agent.loop.flatSubmit { output.value.stop() }.get()
        #expect(!FileManager.default.fileExists(atPath: path))
        _ = try await agent.stop()
    }

    // MARK: The configuration

    private func read(_ metrics: String) throws -> AgentConfiguration.Metrics {
        let text =
            "[server]\nhost = \"h\"\n[service]\nid = 7\nak = \"k\"\nentity = \"van\"\n[metrics]\n" + metrics
        return try AgentConfiguration.read(ConfigurationReader(text: text, path: "/etc/saker/agent.toml")).metrics
    }

    @Test func nothingIsOfferedUnlessAsked() throws {
        #expect(try read("") == .init(textfile: nil, interval: 30, listen: nil))
        #expect(
            try read("textfile = \"/d/s.prom\"\ninterval = 5\nlisten = \"[::1]:0\"")
                == .init(textfile: "/d/s.prom", interval: 5, listen: .internet(host: "::1", port: 0)))
        #expect(try read("listen = \"/run/m.sock\"").listen == .unix(path: "/run/m.sock"))
    }

    @Test(arguments: [
        ("textfile = \"/d/s.txt\"", ".prom"), ("textfile = \"s.prom\"", "begin with /"),
        ("listen = \"9444\"", "127.0.0.1:9443"), ("listen = \"0.0.0.0:9444\"", "this machine alone"),
        ("listen = \"localhost:9444\"", "it must be"), ("interval = 0", "1...3600"), ("lisen = \"x\"", "listen"),
    ])
    func aMistakeIsNamed(text: String, rule: String) {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        let told = error?.description ?? ""
        #expect(told.contains(":8:") && told.contains(rule), "\(told)")
    }
}
