import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Testing
import TrackWire

@testable import AgentRuntime

/// A TLS server on a port of the kernel's choosing that answers every login alike: with a Welcome, unless told otherwise.
struct WelcomingServer {
    private let channel: any Channel
    private let directory: URL
    /// For the agent's configuration, under `[server]`.
    let table: String

    /// PEM: the authority that the table names.
    let authority: String
    /// The file of the authority.
    let authorityFile: String

    /// `validity`: of the certificate, seconds since 1970. `answer`: to a login; nil: none.
    init(
        validity: ClosedRange<Int64> = 0...4_000_000_000, answer: ServerFrame? = ServerFrame(.welcome(Welcome()))
    ) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "saker-clock-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let identity = try LinkServer.identity(
            from: Date(timeIntervalSince1970: Double(validity.lowerBound)),
            to: Date(timeIntervalSince1970: Double(validity.upperBound)))
        authority = identity.certificate
        authorityFile = directory.appending(path: "authority.pem").path()
        try Data(authority.utf8).write(to: URL(fileURLWithPath: authorityFile))
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate.utf8))
                .map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.key.utf8), format: .pem)))
        configuration.applicationProtocols = ["saker/1"]
        let context = try NIOSSLContext(configuration: configuration)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: context), Welcomer(answer),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        table = "host = \"127.0.0.1\"\nport = \(port)\nserver_name = \"localhost\"\nca_file = \"\(authorityFile)\""
    }

    func stop() async throws {
        try await channel.close().get()
        try FileManager.default.removeItem(at: directory)
    }
}

private final class Welcomer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private var answer: ServerFrame?

    init(_ answer: ServerFrame?) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let answer else { return }
        self.answer = nil
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: WireCodec.encode(answer))), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
