import AgentControl
import JSON
import NIOCore
import NIOPosix
import ProgramTestKit
import Varlink

/// An agent that answers what the test wrote down, behind a real socket.
final class ScriptedAgent: VarlinkInterface {
    enum Answer: Sendable {
        case reply(JSONValue)
        case error(String, [String: JSONValue])
        /// Each on a stream; then the stream stays open, or ends with the error.
        case events([JSONValue], VarlinkError? = nil)
        /// No answer while the connection stands.
        case never
        /// One after the other, the last again and again.
        indirect case turns([Answer])
    }

    struct Asked: Hashable, Sendable {
        let method: String
        let parameters: [String: JSONValue]
    }

    let name = AgentInterface.name
    let interfaceDescription = AgentInterface.description
    let methods: Set<String>
    private let answers: [String: Answer]
    private(set) var asked: [Asked] = []
    private var turns: [String: Int] = [:]

    init(_ answers: [String: Answer]) {
        self.answers = answers
        methods = Set(answers.keys)
    }

    func answer(_ call: VarlinkCall, on loop: any EventLoop) -> VarlinkAnswer {
        asked.append(Asked(method: call.method, parameters: call.parameters))
        return answer(call, answers[call.method], on: loop)
    }

    private func answer(_ call: VarlinkCall, _ answer: Answer?, on loop: any EventLoop) -> VarlinkAnswer {
        switch answer {
        case .reply(let reply): return .reply(loop.makeSucceededFuture(reply))
        case .error(let name, let parameters):
            return .failure(VarlinkError(name: name, parameters: parameters), on: loop)
        case .events(let events, let error):
            return .stream { stream in
                for event in events { _ = stream.send(event) }
                if let error { stream.fail(error) }
            }
        case .never:
            let promise = loop.makePromise(of: JSONValue.self)
            call.connection?.closed.whenComplete { _ in promise.succeed([:]) }
            return .reply(promise.futureResult)
        case .turns(let answers):
            let turn = min(turns[call.method, default: 0], answers.count - 1)
            turns[call.method] = turn + 1
            return self.answer(call, answers[turn], on: loop)
        case nil: return .failure(.methodNotFound(call.method), on: loop)
        }
    }
}

struct ScriptedServer: Sendable {
    let path: String
    private let server: VarlinkServer
    private let loop: any EventLoop
    private let agent: NIOLoopBound<ScriptedAgent>
    private let directory: TemporaryDirectory

    static func start(_ answers: [String: ScriptedAgent.Answer]) async throws -> ScriptedServer {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/agent"
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (server, agent) = try await loop.flatSubmit {
            let agent = ScriptedAgent(answers)
            let bound = NIOLoopBound(agent, eventLoop: loop)
            let options = VarlinkServer.Options(
                path: path, service: VarlinkServiceInfo(vendor: "Saker", product: "test", version: "1", url: ""))
            return VarlinkServer.start(options, interfaces: [agent], on: loop).map { ($0, bound) }
        }.get()
        return ScriptedServer(path: path, server: server, loop: loop, agent: agent, directory: directory)
    }

    /// Runs `saker` against this agent.
    func saker(_ arguments: String..., input: String? = nil) async throws -> SakerProgram.Result {
        try await SakerProgram.run(arguments + ["--socket", path], input: input)
    }

    /// Runs `saker attributes provide` against this agent; what follows `--` is the command.
    func provide(_ command: [String], input: String? = nil) async throws -> SakerProgram.Result {
        try await SakerProgram.run(["attributes", "provide", "--socket", path] + command, input: input)
    }

    var asked: [ScriptedAgent.Asked] {
        get async throws { try await loop.submit { [agent] in agent.value.asked }.get() }
    }

    func stop() async throws {
        try await server.close().get()
    }
}

/// Statuses that the formatting tests show.
enum SampleStatus {
    static let settings = AgentSettings([
        "gather_interval": 5, "pack_interval": 30, "cache_limit": 268_435_456, "distance_filter": 2.5,
        "activity": "automotive",
    ])

    /// Everything as it should be, 2026-03-05 00:20:30 UTC.
    static let tracked = AgentStatus(
        version: "1.2.3", time: 1_772_670_030_000, startedTime: 1_772_662_630_000, entity: "货车 07", tracked: true,
        reason: "gathering, and connected to the server",
        service: ServiceStatus(state: .running, since: 1_772_662_631_000, entity: "货车 07"),
        gather: GatherStatus(state: .gathering, since: 1_772_662_632_000, lastPointTime: 1_772_670_029_000),
        feed: FeedStatus(
            state: .fix, since: 1_772_662_633_000, source: "127.0.0.1:2947", device: "/dev/ttyACM0",
            lastFix: FixReport(
                time: 1_772_670_029_500, age: 500, latitude: 31.2281, longitude: 121.4771, speed: 12.5, course: 220.4,
                altitude: 14.6, accuracy: 3.5, mode: 3, satellites: 11)),
        link: LinkStatus(
            state: .online, since: 1_772_662_634_000, server: "track.example.org:7443", session: "s-1",
            encryption: "TLSv1.3"),
        cache: CacheStatus(
            state: .disk, points: 6, bytes: 1_048_576, limit: 268_435_456, firstTime: 1_772_670_000_000,
            lastTime: 1_772_670_029_000, unacknowledged: 2, timeToFull: 1_123_200_000),
        counters: AgentCounters(
            fixes: 10_000, gathered: 2_000, uploaded: 1_996, acknowledged: 1_994,
            skipped: ["not_due": 7_900, "inaccurate": 100, "old": 0], lost: [:], sessions: 1), settings: settings)

    /// Nothing as it should be.
    static let lost = AgentStatus(
        version: "1.2.3", time: 1_772_670_030_000, startedTime: 1_772_670_000_000, tracked: false,
        reason: "gpsd does not answer",
        service: ServiceStatus(state: .starting), gather: GatherStatus(state: .waiting),
        feed: FeedStatus(state: .unreachable, source: "127.0.0.1:2947", lastError: "connection refused"),
        link: LinkStatus(
            state: .waiting, since: 1_772_670_010_000, server: "track.example.org:7443", lastError: "no route to host",
            nextTryTime: 1_772_670_042_000, attempts: 3, offlineSince: 1_772_669_000_000),
        cache: CacheStatus(
            state: .memory, lastError: "no space left on device", points: 0, bytes: 0, unacknowledged: 0),
        counters: AgentCounters(lost: ["memory_full": 12], lastLossTime: 1_772_670_020_000), settings: settings)
}
