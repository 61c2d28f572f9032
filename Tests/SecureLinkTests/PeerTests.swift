import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import ProgramTestKit
import Synchronization
import Testing
import TrackModel

@testable import SecureLink

/// Peers that are not what they should be.
@Suite(.timeLimit(.minutes(5))) struct PeerTests {
    let workshop: Workshop
    var options: TLSClientOptions { TLSClientOptions(trust: .authorities(file: workshop.authority.certificate)) }

    init() throws { workshop = try Workshop() }

    private func failure(
        of server: TestServer, _ options: TLSClientOptions? = nil, limits: SecureLink.Limits = .patient
    ) async throws -> SecureLinkError? {
        let error = try await TestLink.failure(server, options ?? self.options, limits: limits)
        try await server.stop()
        return error
    }

    @Test func tls12IsSpokenOnlyWhenAllowed() async throws {
        let identity = try workshop.issue("old")
        var error = try await failure(of: TestServer.tls(identity) { $0.maximumTLSVersion = .tlsv12 })
        #expect(error?.code == .protocolVersion)
        var old = options
        old.minimumVersion = .v12
        error = try await failure(of: TestServer.tls(identity) { $0.maximumTLSVersion = .tlsv12 }, old)
        #expect(error == nil)
        error = try await failure(
            of: TestServer.tls(identity) {
                $0.minimumTLSVersion = .tlsv1
                $0.maximumTLSVersion = .tlsv11
            }, old)
        #expect(error?.code == .protocolVersion)
    }

    @Test(arguments: [[], ["http/1.1"], ["saker/2", "saker/11"]])
    func aServerWithoutOurApplicationProtocolIsRefused(protocols: [String]) async throws {
        let server = try await TestServer.tls(workshop.issue("other")) { $0.applicationProtocols = protocols }
        let error = try await failure(of: server)
        #expect(error?.code == .alpnMismatch)
        #expect(error?.detail.contains("saker/1") == true)
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "220 mail.example ESMTP\r\n",
        "\0\0\0\0\0\0\0\0\0\0\0\0", "\u{16}\u{1}\u{1}\u{0}\u{10}aaaaaaaaaaaaaaaaaaaa",
    ])
    func whatSpeaksNoTLSIsRecognised(greeting: String) async throws {
        let error = try await failure(of: TestServer.raw { [Greeter(Array(greeting.utf8))] })
        #expect(error?.code == .notTLS)
    }

    @Test func randomAnswersFailAndNeverHang() async throws {
        let context = try TLSContext(options)
        for seed in 0..<50 as Range<UInt64> {
            var random = Dice(seed: seed)
            var answer = (0..<Int.random(in: 1...400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // Half of them begin as TLS does.
            if seed.isMultiple(of: 2) { answer.replaceSubrange(0..<min(3, answer.count), with: [22, 3, 3]) }
            let server = try await TestServer.raw { [answer] in [Greeter(answer, closes: true)] }
            await #expect(throws: SecureLinkError.self, "seed \(seed)") {
                try await TestLink.connect(port: server.port, context)
            }
            try await server.stop()
        }
    }

    @Test func aServerThatClosesAtOnceIsToldApart() async throws {
        let error = try await failure(of: TestServer.raw { [Greeter([], closes: true)] })
        #expect(error?.code == .closedByPeer || error?.code == .reset)
    }

    /// `localhost` has two addresses, and most servers here listen on one: what the other says must not hide a reset.
    @Test func theAddressThatCameNearestIsTold() {
        let refused = SecureLinkError(.connectRefused, "::1")
        let reset = SecureLinkError(.reset, "127.0.0.1")
        #expect(SecureLinkError.nearest(of: [refused, reset])?.code == .reset)
        #expect(
            SecureLinkError.nearest(of: [SecureLinkError(.networkUnreachable, ""), refused])?.code == .connectRefused)
        #expect(SecureLinkError.nearest(of: [SecureLinkError(.other, "")])?.code == .other)
        #expect(SecureLinkError.nearest(of: []) == nil)
    }

    @Test func aServerThatNeverAnswersMeetsTheDeadline() async throws {
        let error = try await failure(
            of: TestServer.raw { [Greeter([])] }, limits: SecureLink.Limits(handshake: .milliseconds(50)))
        #expect(error?.code == .handshakeTimeout)
        #expect(error?.detail.contains("50 ms") == true)
    }

    @Test func aPortNobodyListensOnRefuses() async throws {
        // Bound, so that nobody else gets the port, but not listening.
        let (holder, port) = try LoopbackSocket.bound()
        defer { close(holder) }
        let context = try TLSContext(options)
        let error = await #expect(throws: SecureLinkError.self) {
            try await TestLink.connect(to: "127.0.0.1", port: port, context)
        }
        #expect(error?.code == .connectRefused)
        #expect(error?.detail.contains("127.0.0.1:\(port)") == true)
    }

    @Test func aPortThatNeverAnswersMeetsTheDeadline() async throws {
        let (listener, port) = try LoopbackSocket.bound()
        defer { close(listener) }
        // The kernel ignores whoever comes when the queue of a listener that accepts nobody is full.
        #expect(listen(listener, 0) == 0)
        let fillers = (0..<4).map { _ in LoopbackSocket.knock(port: port) }
        defer { for filler in fillers { close(filler) } }
        let context = try TLSContext(options)
        await #expect(throws: SecureLinkError(.connectTimeout, "")) {
            try await TestLink.connect(
                to: "127.0.0.1", port: port, context, limits: SecureLink.Limits(connect: .milliseconds(200)))
        }
    }

    @Test func aNameThatDoesNotExistIsToldApart() async throws {
        let context = try TLSContext(options)
        let error = await #expect(throws: SecureLinkError.self) {
            try await TestLink.connect(to: "no-such-host.invalid", port: 1, context)
        }
        #expect(error?.code == .nameResolution)
    }

    @Test(arguments: [0, -1, 65_536])
    func aPortOutOfRangeIsAConfigurationError(port: Int) async throws {
        let context = try TLSContext(options)
        await #expect(throws: SecureLinkError(.configuration, "")) {
            try await TestLink.connect(port: port, context)
        }
    }

    @Test func aFailingInitializerFailsTheConnection() async throws {
        struct Refusal: Error {}
        let server = try await TestServer.tls(workshop.issue("good"))
        let context = try TLSContext(options)
        await #expect(throws: SecureLinkError(.other, "")) {
            try await SecureLink.connect(
                to: "localhost", port: server.port, on: TestServer.group.next(), context: context
            ) { channel in channel.eventLoop.makeFailedFuture(Refusal()) }.get()
        }
        try await server.stop()
    }

    @Test(arguments: [
        (ENETUNREACH, SecureLinkError.Code.networkUnreachable), (EHOSTUNREACH, .networkUnreachable),
        (ECONNREFUSED, .connectRefused), (ECONNRESET, .reset), (EPIPE, .reset), (ETIMEDOUT, .peerSilent),
        (EIO, .other),
    ])
    func socketErrorsHaveCodes(number: Int32, code: SecureLinkError.Code) {
        #expect(SecureLinkError(ofSocket: IOError(errnoCode: number, reason: "test")).code == code)
    }

    @Test func aConnectionCutInTheMiddleOfARecordIsNoCleanEnd() async throws {
        let armed = Flag()
        let server = try await TestServer.tls(
            workshop.issue("good"), below: { [Cutter(armed: armed)] }, above: { [Arming(armed: armed), Echo()] })
        let link = try await TestLink.connect(server, options)
        try await link.channel.writeAndFlush(ByteBuffer(string: "cut here")).get()
        var events: [Listener.Event] = []
        for await event in link.listener.events { events.append(event) }
        #expect(events.contains(.error(SecureLinkError(.closedByPeer, ""))))
        #expect(!events.contains { if case .bytes = $0 { true } else { false } })
        #expect(events.last == .inactive)
        try await server.stop()
    }

    @Test func aServersGoodbyeIsACleanEnd() async throws {
        let server = try await TestServer.tls(workshop.issue("good"), above: { [CloseOnRead()] })
        let link = try await TestLink.connect(server, options)
        try await link.channel.writeAndFlush(ByteBuffer(string: "bye")).get()
        var events: [Listener.Event] = []
        for await event in link.listener.events { events.append(event) }
        #expect(events.count == 3 && events.first == .active && events.last == .inactive)
        try await server.stop()
    }
}

final class Flag: Sendable {
    let isSet = Atomic(false)
}

/// Lets everything pass until armed, then half of the next write, and closes.
final class Cutter: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = ByteBuffer
    let armed: Flag

    init(armed: Flag) { self.armed = armed }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = unwrapOutboundIn(data)
        guard armed.isSet.load(ordering: .relaxed), let half = bytes.readSlice(length: bytes.readableBytes / 2) else {
            context.write(data, promise: promise)
            return
        }
        context.writeAndFlush(NIOAny(half), promise: nil)
        context.close(promise: promise)
    }
}

/// Arms a ``Cutter`` with the first bytes that arrive.
final class Arming: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let armed: Flag

    init(armed: Flag) { self.armed = armed }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        armed.isSet.store(true, ordering: .relaxed)
        context.fireChannelRead(data)
    }
}

final class CloseOnRead: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.close(promise: nil) }
}

/// Networks in which somebody else answers in the server's place.
@Suite(.timeLimit(.minutes(5))) struct StrangerTests {
    let workshop: Workshop
    var options: TLSClientOptions { TLSClientOptions(trust: .authorities(file: workshop.authority.certificate)) }

    init() throws { workshop = try Workshop() }

    private func failure(of server: TestServer, limits: SecureLink.Limits = .patient) async throws -> SecureLinkError? {
        let error = try await TestLink.failure(server, options, limits: limits)
        try await server.stop()
        return error
    }

    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", SecureLinkError.Code.plainHTTP, "400"),
        ("HTTP/1.0 200 OK\r\nLocation: http://a.example/\r\n\r\n", .plainHTTP, "200"),
        (
            "HTTP/1.1 302 Found\r\nServer: x\r\nLOCATION:  http://login.example/hotspot?mac=00:11\r\n\r\n", .signInPage,
            "302 to http://login.example/hotspot)"
        ),
        ("HTTP/1.1 511 Network Authentication Required\r\n\r\n", .signInPage, "511"),
        ("HTTP/1.1 307 \nLocation: /login\n\n", .signInPage, "/login"),
        ("HTTP/", .plainHTTP, "HTTP/"), ("SSH-2.0-OpenSSH_9.2\r\n", .notTLS, "SSH-2.0"),
    ])
    func plainAnswersAreToldApart(answer: String, code: SecureLinkError.Code, told: String) async throws {
        let error = try await failure(of: TestServer.raw { [Greeter(Array(answer.utf8))] })
        #expect(error?.code == code)
        #expect(error?.detail.contains(told) == true, "\(error?.detail ?? "")")
        #expect(error?.detail.contains("mac=") == false)
    }

    @Test func aProxyThatOpensTLSIsNamed() async throws {
        let proxy = try Workshop()
        let error = try await failure(of: TestServer.tls(proxy.issue("intercepted")))
        #expect(error?.code == .certificateUntrusted)
        for word in ["localhost", "Test Authority", "not trusted here", "answers in its place"] {
            #expect(error?.detail.contains(word) == true, "\(error?.detail ?? "")")
        }
    }

    @Test func aSignInPageWithACertificateOfItsOwnIsAnotherServer() async throws {
        let portal = try Workshop()
        let error = try await failure(of: TestServer.tls(portal.issue("portal", names: "DNS:login.example")))
        #expect(error?.code == .foreignServer)
        for word in ["login.example", "not for localhost", "Test Authority"] {
            #expect(error?.detail.contains(word) == true, "\(error?.detail ?? "")")
        }
    }

    @Test func aPinnedKeyNamesWhoSignedTheOther() async throws {
        let server = try await TestServer.tls(workshop.issue("proxy"))
        var options = options
        options.pins = [try PublicKeyPin(parsing: "sha256//" + String(repeating: "B", count: 42) + "A=")]
        let error = try await TestLink.failure(server, options)
        try await server.stop()
        #expect(error?.code == .pinMismatch && error?.detail.contains("Test Authority") == true)
    }

    /// A firewall that lets the connection through and cuts it when it sees TLS.
    @Test func aResetInTheHandshakeIsToldAsOne() async throws {
        let error = try await failure(of: TestServer.raw { [Resetter()] })
        #expect(error?.code == .reset)
        #expect(error?.detail.contains("when TLS began") == true, "\(error?.detail ?? "")")
    }

    @Test func anEndInTheHandshakeIsToldAsOne() async throws {
        let error = try await failure(of: TestServer.raw { [Closer()] })
        #expect(error?.code == .closedByPeer || error?.code == .reset)
        #expect(error?.detail.contains("when TLS began") == true, "\(error?.detail ?? "")")
    }

    @Test func silenceAfterTheConnectionIsToldAsSuch() async throws {
        let error = try await failure(
            of: TestServer.raw { [Greeter([])] }, limits: SecureLink.Limits(handshake: .milliseconds(50)))
        #expect(error?.code == .handshakeTimeout)
        #expect(error?.detail.contains("took the connection and then said nothing") == true)
    }
}

/// Resets the connection at its first bytes: the kernel does that when a socket is closed with bytes not yet read.
private final class Resetter: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    func handlerAdded(context: ChannelHandlerContext) {
        let oneByte = FixedSizeRecvByteBufferAllocator(capacity: 1)
        #expect(throws: Never.self) {
            try context.channel.syncOptions?.setOption(.recvAllocator, value: oneByte)
            try context.channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.close(promise: nil)
    }
}

/// Ends the connection in order at its first bytes.
private final class Closer: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.close(promise: nil) }
}
