import AgentControl
import AgentLogic
import ConfigurationFile
import DiskRing
import Foundation
import GNSSFeed
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Testing
import TrackModel
import TrackTestKit
import TrackWire
import Varlink

@testable import AgentRuntime

/// A real agent on a real event loop, with a real ring and control socket; the test plays the receiver, and there is no
/// server.
struct RunningAgent: Sendable {
    struct Parts {
        let agent: Agent
        let server: VarlinkServer
        let feed: ScriptedFeed
    }

    let loop: any EventLoop
    let parts: NIOLoopBound<Parts>
    let socket: String
    private let directory: String

    /// Gathers each second as the entity `van`. `server` is what stands under `[server]`; `reaches` makes the way to it.
    /// `isCacheObstructed`: a file stands where the ring's directory should be.
    static func start(
        server table: String = "host = \"127.0.0.1\"", clock: any SystemClockSource & Sendable = KernelClock(),
        stateStore: (any DurableStateStore & Sendable)? = nil, isCacheObstructed: Bool = false,
        reaches: @escaping @Sendable (AgentConfiguration.Server) throws -> any LinkConnector = { _ in NoServer() }
    ) async throws -> RunningAgent {
        let directory = NSTemporaryDirectory() + "saker-agent-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        if isCacheObstructed { try Data().write(to: URL(fileURLWithPath: directory + "/cache")) }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let socket = directory + "/agent.varlink"
        let parts = try await loop.flatSubmit {
            do {
                let opened = NIOLoopBound(try open(directory, loop, table, clock, stateStore, reaches), eventLoop: loop)
                let control = AgentControlService(
                    handler: opened.value.agent, policy: ControlPolicy(group: nil, user: getuid()))
                let options = VarlinkServer.Options(
                    path: socket, service: VarlinkServiceInfo(vendor: "Saker", product: "test", version: "1", url: ""))
                return VarlinkServer.start(options, interfaces: [control], on: loop).map { server in
                    let (agent, feed) = opened.value
                    agent.start()
                    return NIOLoopBound(Parts(agent: agent, server: server, feed: feed), eventLoop: loop)
                }
            } catch {
                return loop.makeFailedFuture(error)
            }
        }.get()
        return RunningAgent(loop: loop, parts: parts, socket: socket, directory: directory)
    }

    private static func open(
        _ directory: String, _ loop: any EventLoop, _ table: String, _ clock: any SystemClockSource,
        _ stateStore: (any DurableStateStore)?, _ reaches: (AgentConfiguration.Server) throws -> any LinkConnector
    ) throws -> (agent: Agent, feed: ScriptedFeed) {
        let text = """
            [server]
            \(table)
            [service]
            id = 1
            ak = "0123456789abcdefghjkmnpqrstvwxyz"
            entity = "van"
            [gnss]
            system_clock = false
            [cache]
            directory = "\(directory)/cache"
            [state]
            directory = "\(directory)"
            """
        let configuration = try AgentConfiguration.read(ConfigurationReader(text: text, path: "/etc/agent.toml"))
        let log = Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() }
        let feed = ScriptedFeed()
        let opened = try OpenedAgent(configuration, remembered: StateFile(directory: directory).read(), log: log) {
            options in
            let (disk, snapshot) = try CacheWorker.open(
                directory: configuration.cache.directory, options: options, now: MonotonicTime(.now()))
            return (
                AgentDependencies(
                    clock: clock, connector: try reaches(configuration.server), feeds: feed, disk: disk,
                    stateStore: stateStore ?? StateWorker(directory: directory, disk: disk), seed: 1),
                snapshot
            )
        }
        return (Agent(opened, log: log, loop: loop), feed)
    }

    /// Removes the file that stands where the ring's directory should be.
    func clearTheWay() throws { try FileManager.default.removeItem(atPath: directory + "/cache") }

    /// What the agent remembers stands here.
    var stateFile: StateFile { StateFile(directory: directory) }

    var client: AgentControlClient { AgentControlClient(path: socket, timeout: .minutes(2)) }

    /// Does something with the agent on its loop.
    @discardableResult
    func on<Value: Sendable>(_ body: @escaping @Sendable (Parts) -> Value) async throws -> Value {
        try await loop.submit { [parts] in body(parts.value) }.get()
    }

    /// The longitude of every fix, in degrees. No duration that an agent measures has these digits.
    static let longitude = 4.321_987_654

    /// The receiver has a fix at a second of the test's time; with the default interval each fifth makes a point.
    func fix(_ second: Int64) async throws {
        try await report(second)
        try await on { $0.feed.say(.silence) }
    }

    /// The same, and the epoch has not ended yet.
    func report(_ second: Int64) async throws {
        try await on { parts in
            parts.feed.say(.state(.fix))
            parts.feed.say(
                .report(
                    GNSSReport(
                        time: Timestamp(seconds: 1_780_000_000 + second), mode: 3,
                        latitude: 52 + Double(second % 100_000) / 1e5,
                        longitude: Self.longitude)))
        }
    }

    func wait(_ what: String, until condition: @escaping @Sendable (Parts) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try await !on(condition) {
            try #require(ContinuousClock.now < deadline, "waited two minutes in vain: \(what)")
            await Task.yield()
        }
    }

    /// Stops as SIGTERM does, and returns what the ring then holds, with the second of the test's time of each.
    func stop() async throws -> [(second: Int64, attributes: [String: AttributeValue])] {
        try await loop.flatSubmit { [parts, loop] in
            parts.value.server.close().hop(to: loop).flatMap { parts.value.agent.shutDown() }
        }.get()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cache = try DiskRing(directory: directory + "/cache", now: 0)
        defer { cache.close(now: 0) }
        var found: [(Int64, [String: AttributeValue])] = []
        var position: UInt64 = 0
        while let batch = cache.read(after: position, maximumCount: 1000, maximumBytes: 1 << 20, now: 0) {
            for record in batch.records {
                let point = try PointRecord.decode(record.payload)
                found.append((point.fix.time.seconds - 1_780_000_000, point.attributes))
            }
            position = batch.lastSequence
        }
        return found
    }
}

/// gpsd and its receiver, as the test says.
final class ScriptedFeed: FeedSource {
    private let deliver = Mutex<(@Sendable (FeedEvent) -> Void)?>(nil)

    private final class Watch: OpenFeed {
        func stop() {}
    }

    func open(
        _ gnss: AgentConfiguration.GNSS, deliver: @escaping @Sendable (FeedEvent) -> Void
    ) throws(GNSSFeedError) -> any OpenFeed {
        self.deliver.withLock { $0 = deliver }
        return Watch()
    }

    func say(_ event: FeedEvent) {
        deliver.withLock { $0 }?(event)
    }
}

/// A server that cannot be reached. What becomes of a try is given.
final class NoServer: LinkConnector {
    struct Unreachable: Error {}

    private let attempt: (any EventLoop) -> EventLoopFuture<any Channel>

    init(attempt: @escaping (any EventLoop) -> EventLoopFuture<any Channel> = { $0.makeFailedFuture(Unreachable()) }) {
        self.attempt = attempt
    }

    func connect(
        to server: AgentConfiguration.Server, verificationTime: Int64?, on loop: any EventLoop,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        attempt(loop)
    }

    func reload(_ server: AgentConfiguration.Server, on loop: any EventLoop) -> EventLoopFuture<[String]> {
        loop.makeSucceededFuture([])
    }
}
