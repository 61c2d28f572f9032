import Crypto
import Foundation
import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import SwiftASN1
import Testing
import TrackModel
import TrackTestKit
import TrackWire
import X509

@testable import AgentRuntime

/// A TLS server on a port of the kernel's choosing that plays one peer of the contract, and the connector that reaches it.
///
/// Everything is on one event loop: both ends are read there.
struct LinkServer {
    private let directory: URL
    private let channel: any Channel
    private let loop: any EventLoop
    private let connector: NIOLoopBound<SecureConnector>
    private let address: AgentConfiguration.Server
    private let peers: NIOLoopBoundBox<[LinkPeer]>
    private let isStalling: Bool

    init(_ behaviour: LinkScript.Peer) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let directory = FileManager.default.temporaryDirectory.appending(path: "saker-link-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let identity = try Self.identity()
        let authority = directory.appending(path: "authority.pem")
        try Data(identity.certificate.utf8).write(to: authority)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate.utf8))
                .map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.key.utf8), format: .pem)))
        configuration.applicationProtocols = ["saker/1"]
        let context = try NIOSSLContext(configuration: configuration)
        let peers = NIOLoopBoundBox<[LinkPeer]>.makeBoxSendingValue([], eventLoop: loop)
        let channel = try await ServerBootstrap(group: loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard behaviour != .swallows else { return }
                    let cutter = Cutter()
                    let peer = LinkPeer(behaviour) { cutter.cut() }
                    peers.value.append(peer)
                    try channel.pipeline.syncOperations.addHandlers([
                        cutter, NIOSSLServerHandler(context: context), Entrance(stalls: behaviour == .stalls), peer,
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        if behaviour == .refuses { try await channel.close().get() }
        address = AgentConfiguration.Server(
            host: "127.0.0.1", port: port, name: "localhost", certificateAuthorityFile: authority.path(),
            pinnedKey: nil, clientCertificateFile: nil, clientKey: nil, minimumTLS: .v13)
        let address = address
        connector = try await loop.submit { NIOLoopBound(SecureConnector(address), eventLoop: loop) }.get()
        self.directory = directory
        self.channel = channel
        self.loop = loop
        self.peers = peers
        isStalling = behaviour == .stalls
    }

    /// The record of one connection, the peer's view included once the peer has seen its end too.
    func play(_ script: LinkScript) async throws -> LinkRecord {
        let record = try await loop.flatSubmit { [loop, connector, address] in
            LinkProbe.run(script, on: loop) { verificationTime, initializer in
                connector.value.connect(
                    to: address, verificationTime: verificationTime, on: loop, initializer: initializer)
            }
        }.get()
        let deadline = NIODeadline.now() + .seconds(120)
        while try await !loop.submit({ [self] in everyPeerKnows }).get(), .now() < deadline { await Task.yield() }
        return try await loop.submit { [peers] in
            var record = record
            if let peer = peers.value.last { record.peer = peer.record }
            return record
        }.get()
    }

    /// Of the end, as far as it reads at all.
    private var everyPeerKnows: Bool {
        isStalling || peers.value.allSatisfy { $0.record.ends > 0 || $0.record.received.isEmpty }
    }

    func stop() async throws {
        if channel.isActive { try await channel.close().get() }
        try FileManager.default.removeItem(at: directory)
    }

    /// A self-signed certificate for `localhost`, made for one test.
    static func identity(
        from: Date = Date(timeIntervalSinceNow: -3600), to: Date = Date(timeIntervalSinceNow: 3600)
    ) throws -> (certificate: String, key: String) {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("localhost") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: from, notValidAfter: to,
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName("localhost")])
            }, issuerPrivateKey: Certificate.PrivateKey(key))
        return (try certificate.serializeAsPEM().pemString + "\n", key.pemRepresentation + "\n")
    }
}

/// Below TLS: ends the connection as a kernel does whose process died, with a reset and no goodbye.
private final class Cutter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func cut() {
        guard let context else { return }
        // The channel's own loop: done when the call returns.
        _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        context.close(promise: nil)
    }
}

/// Above TLS: the peer is told of its connection when the handshake is done, and a stalling one stops reading then.
private final class Entrance: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let stalls: Bool
    private var isOpen = false

    init(stalls: Bool) { self.stalls = stalls }

    func channelActive(context: ChannelHandlerContext) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard !isOpen, case .handshakeCompleted? = event as? TLSUserEvent else { return }
        isOpen = true
        if stalls { try? context.channel.syncOptions?.setOption(.autoRead, value: false) }
        context.fireChannelActive()
    }
}

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
