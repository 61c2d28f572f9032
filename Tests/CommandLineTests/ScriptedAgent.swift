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
