import NIOCore
import Testing
import TrackModel

@testable import SecureLink

/// Against OpenSSL's own server, which is another than the gateway's.
@Suite(.timeLimit(.minutes(5))) struct OpenSSLServerTests {
    let workshop: Workshop
    var options: TLSClientOptions { TLSClientOptions(trust: .authorities(file: workshop.authority.certificate)) }

    init() throws { workshop = try Workshop() }

    /// `openssl s_server` on a port of the kernel's choosing.
    private func server(_ arguments: [String]) throws -> (conversation: Conversation, port: Int) {
        let identity = try workshop.issue("server")
        let conversation = try Command.converse(
            [
                "openssl", "s_server", "-accept", "127.0.0.1:0", "-alpn", "saker/1", "-cert", identity.certificate,
                "-key", identity.key,
            ] + arguments)
        // Its first line tells the port: ACCEPT 127.0.0.1:40123.
        let line = try conversation.line(containing: "ACCEPT 127.0.0.1:")
        return (conversation, try #require(line.split(separator: ":").last.flatMap { Int($0) }))
    }

    @Test(arguments: ["-tls1_3", "-tls1_2"])
    func aClientCertificateAndAResumptionAreUnderstood(version: String) async throws {
        let box = try workshop.issue("box")
        let (conversation, port) = try server([
            "-rev", version, "-Verify", "1", "-verify_return_error", "-CAfile", workshop.authority.certificate,
        ])
        var options = options
        options.minimumVersion = .v12
        options.clientCertificate = .init(chainFile: box.certificate, key: .file(box.key))
        let context = try TLSContext(options)
        var resumed: [Bool] = []
        for _ in 0..<2 {
            let link = try await TestLink.connect(port: port, context)
            let answer = try await link.exchangeNotingPeer(Array("saker\n".utf8)) { resumed.append($0.resumed) }
            #expect(answer == Array("rekas\n".utf8), "\(conversation.heard)")
            try await link.close()
        }
        #expect(resumed == [false, true])
    }

    @Test func aKeyUpdateIsAnsweredAndBothWaysGoOn() async throws {
        let (conversation, port) = try server(["-tls1_3", "-no_ticket"])
        let link = try await TestLink.connect(port: port, TLSContext(options))
        var received: [UInt8] = []
        func receive(_ count: Int) async {
            for await event in link.listener.events {
                if case .bytes(let bytes) = event { received += bytes.readableBytesView }
                if received.count >= count { break }
            }
        }
        conversation.say("before")
        await receive(7)
        // K at the start of its input asks for a new key both ways, in a record of its own; any other line is sent.
        let raw = RecordSizes()
        try await link.channel.pipeline.addHandler(raw, position: .first).get()
        conversation.say("K")
        var records = raw.sizes.makeAsyncIterator()
        #expect(await records.next() == 5 + 4 + 1 + 1 + 16)
        conversation.say("after")
        await receive(13)
        #expect(String(decoding: received, as: UTF8.self) == "before\nafter\n")
        try await link.channel.writeAndFlush(ByteBuffer(string: "with the new key\n")).get()
        #expect(try conversation.line(containing: "new key") == "with the new key")
        try await link.close()
    }

    @Test func aRenegotiationIsRefused() async throws {
        let (conversation, port) = try server(["-tls1_2"])
        var options = options
        options.minimumVersion = .v12
        let link = try await TestLink.connect(port: port, TLSContext(options))
        // r asks the client to begin anew: it declines, which this server takes as the end.
        conversation.say("r")
        #expect(try conversation.line(containing: "no renegotiation").contains("error"))
        #expect(await link.listener.errorsUntilEnd().count == 1)
    }
}

/// Tells the sizes of what arrives from the socket.
private final class RecordSizes: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let sizes: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() { (sizes, continuation) = AsyncStream.makeStream() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        continuation.yield(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
    }
}
