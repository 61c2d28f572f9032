import NIOCore
import NIOPosix
import ProgramTestKit
import Synchronization
import TrackTestKit
import Varlink

@testable import AgentControl

/// A ``SampleAgent`` behind a real socket.
struct AgentServer: Sendable {
    struct Parts {
        let agent: SampleAgent
        let service: AgentControlService
    }

    let path: String
    let server: VarlinkServer
    let loop: any EventLoop
    let parts: NIOLoopBound<Parts>
    /// Changing calls that were allowed.
    let allowed: Box
    private let directory: TemporaryDirectory

    final class Box: Sendable {
        let calls = Mutex<[AgentMethod]>([])
    }

    static func start(policy: ControlPolicy = ControlPolicy(group: nil)) async throws -> AgentServer {
        let directory = try TemporaryDirectory()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let path = directory.path + "/agent"
        let allowed = Box()
        let (server, parts) = try await loop.flatSubmit {
            let agent = SampleAgent(loop: loop)
            let service = AgentControlService(handler: agent, policy: policy) { method, _ in
                allowed.calls.withLock { $0.append(method) }
            }
            let parts = NIOLoopBound(Parts(agent: agent, service: service), eventLoop: loop)
            var options = VarlinkServer.Options(
                path: path, mode: 0o666,
                service: VarlinkServiceInfo(
                    vendor: "Saker", product: "sakerd", version: "1.2.3", url: "https://example.org/saker"))
            // A slow client is told so when it reads at last, on a busy machine too.
            options.limits.answerTime = .minutes(2)
            return VarlinkServer.start(options, interfaces: [service], on: loop).map { ($0, parts) }
        }.get()
        return AgentServer(
            path: path, server: server, loop: loop, parts: parts, allowed: allowed, directory: directory)
    }

    /// Does something with the agent on its loop.
    @discardableResult
    func on<Value: Sendable>(_ body: @escaping @Sendable (Parts) -> Value) async throws -> Value {
        try await loop.submit { [parts] in body(parts.value) }.get()
    }

    var client: AgentControlClient { AgentControlClient(path: path, timeout: .minutes(2)) }

    func stop() async throws {
        try await server.close().get()
    }
}
