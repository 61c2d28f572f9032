import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import SecureLink

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
