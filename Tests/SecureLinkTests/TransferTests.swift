import Glibc
import NIOCore
import NIOSSL
import Testing
import TrackModel

@testable import SecureLink

/// Bytes whose period is no divisor of any buffer's size.
private func pattern(_ count: Int) -> [UInt8] {
    let period = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += period.prefix(count - bytes.count) }
    return bytes
}

@Suite(.timeLimit(.minutes(5)), .serialized) struct TransferTests {
    let workshop: Workshop
    var options: TLSClientOptions { TLSClientOptions(trust: .authorities(file: workshop.authority.certificate)) }

    init() throws { workshop = try Workshop() }

    @Test(arguments: [(10_000_000, 60_000), (300_000, 7), (5_000_000, 1_000_000)])
    func whatIsSentComesBackWhole(total: Int, piece: Int) async throws {
        let server = try await TestServer.tls(workshop.issue("good"))
        let link = try await TestLink.connect(server, options)
        let bytes = pattern(total)
        let sending = Task {
            var rest = bytes[...]
            while !rest.isEmpty {
                // Waiting for the socket is this sender's back-pressure; small pieces go a hundred to a flush.
                for _ in 0..<(piece < 1000 ? 100 : 1) where !rest.isEmpty {
                    link.channel.write(ByteBuffer(bytes: rest.prefix(piece)), promise: nil)
                    rest = rest.dropFirst(piece)
                }
                try await link.channel.writeAndFlush(ByteBuffer()).get()
            }
        }
        var received = ByteBuffer()
        receiving: for await event in link.listener.events {
            switch event {
            case .bytes(var buffer):
                received.writeBuffer(&buffer)
                if received.readableBytes >= total { break receiving }
            case .error, .foreignError, .inactive:
                Issue.record("\(event)")
                break receiving
            case .active, .peer, .inputClosed: continue
            }
        }
        try await sending.value
        // Not `==` in the expectation: a failure would print megabytes.
        let same = received == ByteBuffer(bytes: bytes)
        #expect(same, "\(received.readableBytes) of \(total) bytes came back")
        try await link.close()
        try await server.stop()
    }

    @Test func aClosedOutputEndsTheConnectionCleanlyAfterWhatWasWritten() async throws {
        let server = try await TestServer.tls(workshop.issue("good"))
        let link = try await TestLink.connect(server, options)
        let words = Array("last words".utf8)
        #expect(try await link.exchange(words) == words)
        try await link.channel.close(mode: .output).get()
        await #expect(throws: ChannelError.self) {
            try await link.channel.writeAndFlush(ByteBuffer(bytes: words)).get()
        }
        #expect(await link.listener.errorsUntilEnd().isEmpty)
        try await server.stop()
    }

    @Test func theSocketIsToldToFindADeadPeer() async throws {
        let server = try await TestServer.tls(workshop.issue("good"))
        let link = try await TestLink.connect(server, options)
        // TCP_USER_TIMEOUT, in milliseconds.
        let timeout = try await link.channel.getOption(.tcpOption(NIOBSDSocket.Option(rawValue: 18))).get()
        #expect(timeout == 20_000)
        #expect(try await link.channel.getOption(.tcpOption(.tcp_nodelay)).get() == 1)
        #expect(try await link.channel.getOption(.socketOption(.so_keepalive)).get() == 1)
        try await link.close()
        try await server.stop()
    }

    @Test func repeatedConnectionsLeaveNothingBehind() async throws {
        let server = try await TestServer.tls(workshop.issue("good"))
        let context = try TLSContext(options)
        let mistrusting = try TLSContext(TLSClientOptions())
        func round(_ count: Int) async throws {
            for _ in 0..<count {
                let link = try await TestLink.connect(port: server.port, context)
                #expect(try await link.exchange([1]) == [1])
                try await link.close()
                await #expect(throws: SecureLinkError(.certificateUntrusted, "")) {
                    try await TestLink.connect(port: server.port, mistrusting)
                }
            }
        }
        try await round(50)
        var growth: [Int] = []
        for _ in 0..<4 {
            let before = residentPages()
            try await round(75)
            growth.append((residentPages() - before) * Int(sysconf(Int32(_SC_PAGESIZE))))
        }
        // 150 connections of at least 10 KB each, client and server in one process. What is left behind grows with every
        // round; what the other tests of this process take does not.
        let least = try #require(growth.min())
        #expect(least < 750_000, "grew by \(growth) bytes")
        try await server.stop()
    }

    private func residentPages() -> Int {
        Int(Command.text(of: "/proc/self/statm").split(separator: " ").dropFirst().first ?? "") ?? 0
    }
}

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

    @Test(arguments: ["-tls1_3", "-tls1_2"], [true, false])
    func aClientCertificateAndAResumptionAreUnderstood(version: String, resumes: Bool) async throws {
        let box = try workshop.issue("box")
        let (conversation, port) = try server([
            "-rev", version, "-Verify", "1", "-verify_return_error", "-CAfile", workshop.authority.certificate,
        ])
        var options = options
        options.minimumVersion = .v12
        options.clientCertificate = .init(chainFile: box.certificate, key: .file(box.key))
        options.resumesSessions = resumes
        let context = try TLSContext(options)
        var resumed: [Bool] = []
        for _ in 0..<2 {
            let link = try await TestLink.connect(port: port, context)
            let answer = try await link.exchangeNotingPeer(Array("saker\n".utf8)) { resumed.append($0.resumed) }
            #expect(answer == Array("rekas\n".utf8), "\(conversation.heard)")
            try await link.close()
        }
        #expect(resumed == [false, resumes])
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
