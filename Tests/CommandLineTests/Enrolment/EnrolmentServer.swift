import Dispatch
import Foundation
import JSON
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A TLS server that answers claims and renewals as it is told, the last way for all further ones.
final class EnrolmentServer: Sendable {
    enum Way: Sendable {
        /// `web`: the address that it tells; nil: its own.
        case issue(days: Int = 90, entity: String = "van_07", authority: Bool = true, web: String? = nil)
        case json(String, status: String = "200 OK")
        /// These bytes, then the end of the connection.
        case raw(String)
        case hang
    }

    static let device = "0198c0de-0000-7000-8000-000000000001"

    private let authority: TestAuthority
    private let ways: Mutex<[Way]>
    private let heard = Mutex<[(path: String, body: JSONValue)]>([])
    private let channel = Mutex<(any Channel)?>(nil)
    /// What happens on the vehicle while it waits for an answer.
    private let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)
    /// One element for each request.
    let arrived: AsyncStream<Void>
    private let arrivals: AsyncStream<Void>.Continuation

    private init(_ authority: TestAuthority, _ ways: [Way]) {
        (arrived, arrivals) = AsyncStream.makeStream()
        self.authority = authority
        self.ways = Mutex(ways)
    }

    static func start(_ authority: TestAuthority, _ ways: Way...) async throws -> EnrolmentServer {
        let server = EnrolmentServer(authority, ways)
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(authority.chain).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: authority.key, format: .pem))))
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Handler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.channel.withLock { $0 = channel }
        return server
    }

    var port: UInt16 { UInt16(channel.withLock { $0?.localAddress?.port } ?? 0) }
    var requests: [(path: String, body: JSONValue)] { heard.withLock { $0 } }
    /// From now on it answers so.
    func answers(_ way: Way) { ways.withLock { $0 = [way] } }
    func meanwhile(_ body: @escaping @Sendable () -> Void) { meanwhile.withLock { $0 = body } }
    func stop() async throws { try await channel.withLock { $0 }?.close().get() }

    /// The answer's bytes; nil: none.
    fileprivate func answer(_ path: String, _ body: JSONValue) throws -> String? {
        heard.withLock { $0.append((path, body)) }
        arrivals.yield()
        meanwhile.withLock { $0 }?()
        let way = ways.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        switch way {
        case .hang: return nil
        case .raw(let text): return text
        case .json(let text, let status): return Self.http(text, status)
        case .issue(let days, let entity, let hasAuthority, let web):
            let certificate = try authority.issue(body["request"]?.stringValue ?? "", days: days)
            var members: [String: JSONValue] = [
                "status": "issued", "device": .string(Self.device), "entity": .string(entity), "service": 7,
                "host": "localhost", "port": 7443, "web_address": .string(web ?? "https://localhost:\(port)"),
                "certificate": .string(certificate), "not_after": 0,
            ]
            if hasAuthority { members["authority"] = .string(try authority.text(authority.certificate)) }
            var writer = JSONWriter()
            writer.value(.object(members))
            return Self.http(String(decoding: writer.bytes, as: UTF8.self), "200 OK")
        }
    }

    private static func http(_ body: String, _ status: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let server: EnrolmentServer
        private var text = ""

        init(_ server: EnrolmentServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard let end = text.range(of: "\r\n\r\n"),
                let length = text.firstMatch(of: /Content-Length: (\d+)/).flatMap({ Int($0.1) }),
                text[end.upperBound...].utf8.count >= length
            else { return }
            let path = String(text.split(separator: " ")[1])
            let body = (try? JSONReader.value(of: Array(text[end.upperBound...].utf8), JSONRules())) ?? .null
            let channel = context.channel
            // Signing waits for a program, and other servers share the loop.
            DispatchQueue.global().async { [server] in
                guard let answer = try? server.answer(path, body) else { return }
                channel.writeAndFlush(ByteBuffer(string: answer)).whenComplete { _ in channel.close(promise: nil) }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
