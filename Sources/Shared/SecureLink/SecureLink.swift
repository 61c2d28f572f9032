package import NIOCore
internal import NIOPosix

/// The way to a server: a TCP connection whose server TLS has verified.
package enum SecureLink {
    /// Limits for times and sizes. Every wait and every buffer of a connection has one.
    package struct Limits: Hashable, Sendable {
        /// Time from the name to an open TCP connection.
        package var connect: TimeAmount
        /// Time from the open connection to a verified server.
        package var handshake: TimeAmount
        /// How long closing waits for the peer's goodbye.
        package var goodbye: TimeAmount
        /// How long sent bytes may stay unacknowledged by the peer's kernel (TCP_USER_TIMEOUT).
        package var unacknowledged: TimeAmount
        /// The most bytes that are written and that the socket has not taken. A larger write closes the connection
        /// (`sendBufferFull`).
        package var unsentBytes: Int

        package init(
            connect: TimeAmount = .seconds(10), handshake: TimeAmount = .seconds(10), goodbye: TimeAmount = .seconds(2),
            unacknowledged: TimeAmount = .seconds(20), unsentBytes: Int = 4 << 20
        ) {
            self.connect = connect
            self.handshake = handshake
            self.goodbye = goodbye
            self.unacknowledged = unacknowledged
            self.unsentBytes = unsentBytes
        }
    }

    /// Connects and verifies; the future completes with a channel of plain `ByteBuffer`s, on `loop`, or fails with a
    /// ``SecureLinkError``.
    ///
    /// `initializer` adds the caller's handlers; they get `channelActive` and then a ``TLSPeer`` event when the server
    /// is verified, and later errors as ``SecureLinkError`` through `errorCaught`, each followed by `channelInactive`.
    /// With TLS 1.3 the server judges the client's certificate after the client has finished: `clientCertificateRefused`
    /// then comes through `errorCaught`, soon after the future has succeeded.
    ///
    /// Names are resolved by `getaddrinfo` on threads of their own, whose number is bounded, and may take four fifths of
    /// the time for connecting; addresses are tried as RFC 8305 says. A key in a token or TPM signs on `loop`, in the
    /// handshake.
    ///
    /// - Parameters:
    ///   - host: a DNS name or an IP address, without brackets.
    ///   - name: what the certificate must be for, when it is not `host`: `host` is an address of this name then.
    ///   - port: 1...65535.
    ///   - loop: one of a `MultiThreadedEventLoopGroup`'s.
    ///   - context: trust and identity; keep it for all connections to one server.
    ///   - verificationTime: seconds since 1970 at which certificates are judged; nil: the system clock's time.
    ///   - limits: times and sizes.
    ///   - initializer: called on `loop`, once, when TCP has connected.
    /// - Returns: the channel, secure and with the initializer's handlers in place.
    package static func connect(
        to host: String, named name: String? = nil, port: Int, on loop: any EventLoop, context: TLSContext,
        verificationTime: Int64? = nil, limits: Limits = Limits(),
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        open(to: host, port: port, on: loop, limits: limits).flatMap { channel in
            secure(
                channel, host: name ?? host, context: context, verificationTime: verificationTime, limits: limits,
                initializer: initializer)
        }
    }

    /// Connects without TLS, for an address of this machine; else as
    /// ``connect(to:named:port:on:context:verificationTime:limits:initializer:)``.
    package static func connectPlainly(
        to host: String, port: Int, on loop: any EventLoop, limits: Limits = Limits(),
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        open(to: host, port: port, on: loop, limits: limits).flatMap { channel in
            initializer(channel).flatMap { channel.setOption(.autoRead, value: true) }.map { channel }
        }
    }

    /// A TCP connection that nothing is read from yet.
    private static func open(
        to host: String, port: Int, on loop: any EventLoop, limits: Limits
    ) -> EventLoopFuture<any Channel> {
        guard (1...65_535).contains(port) else {
            return loop.makeFailedFuture(SecureLinkError(.configuration, "the port is \(port); give 1...65535"))
        }
        let userTimeout = limits.unacknowledged.nanoseconds / 1_000_000
        // The rest of the time is for connecting, so that a late answer is still useful.
        let query = NameQuery(on: loop, limit: .nanoseconds(limits.connect.nanoseconds / 5 * 4))
        return ClientBootstrap(group: loop)
            .resolver(query)
            .connectTimeout(limits.connect)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(
                .tcpOption(NIOBSDSocket.Option(rawValue: tcpUserTimeout)),
                value: SocketOptionValue(clamping: userTimeout)
            )
            .channelOption(.socketOption(.so_keepalive), value: 1)
            // Nothing may be read before the handlers are in place.
            .channelOption(.autoRead, value: false)
            .connect(host: host, port: port)
            .flatMapErrorThrowing { error in
                throw SecureLinkError(connecting: error, to: host, port: port)
            }
    }

    /// `TCP_USER_TIMEOUT` of linux/tcp.h.
    private static let tcpUserTimeout: CInt = 18

    /// As ``connect(to:named:port:on:context:verificationTime:limits:initializer:)`` on a TCP connection that the caller has made, and that
    /// does not read by itself yet (`autoRead` is off). Call it on the loop of the channel.
    package static func secure(
        _ channel: any Channel, host: String, context: TLSContext, verificationTime: Int64? = nil,
        limits: Limits = Limits(),
        initializer: @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        let verified = channel.eventLoop.makePromise(of: TLSPeer.self)
        do {
            let session = try TLSSession(context: context, host: host, verificationTime: verificationTime)
            try channel.pipeline.syncOperations.addHandler(
                OpenSSLHandler(session: session, limits: limits, verified: verified))
        } catch {
            verified.fail(
                (error as? SecureLinkError) ?? SecureLinkError(.reset, "the connection closed at once: \(error)"))
            channel.close(promise: nil)
            return verified.futureResult.map { _ in channel }
        }
        initializer(channel)
            .flatMap { channel.setOption(.autoRead, value: true) }
            .whenFailure { error in
                // If the handler has told a reason already, that reason stays.
                verified.fail(SecureLinkError(.other, "the connection could not be set up: \(error)"))
                channel.close(promise: nil)
            }
        return verified.futureResult.map { _ in channel }
    }
}

/// What the handlers behind a server's TLS are told, as user events.
package enum TLSServerEvent: Hashable, Sendable {
    /// The client has shown what the listener wants of it. The protocol that both know; nil: there is none, or the client named none.
    case handshakeCompleted(applicationProtocol: String?)
    /// The client has said goodbye (close_notify).
    case goodbye
}

// The server's side.
extension SecureLink {
    /// Puts TLS into the pipeline of a connection that a listener has taken, before the handlers of its owner. Call it on the loop of
    /// the channel.
    ///
    /// The owner's handlers get ``TLSServerEvent/handshakeCompleted(applicationProtocol:)`` after the handshake, and before that nothing but `channelActive`;
    /// ``SecureLinkError`` through `errorCaught`, followed by `channelInactive`, when the handshake fails, and for later errors. Of `limits`
    /// `handshake`, `goodbye` and `unsentBytes` count.
    package static func secure(
        _ channel: any Channel, with context: TLSServerContext, limits: Limits = Limits()
    ) throws {
        let session = try TLSSession(context: context)
        try channel.pipeline.syncOperations.addHandler(
            OpenSSLHandler(session: session, limits: limits, verified: nil))
    }

    /// What the client of a secured channel has shown; nil: nothing, the handshake goes on, or the channel is not secured. Call it on the
    /// loop of the channel.
    package static func clientCertificate(on channel: any Channel) -> TLSClientCertificate? {
        (try? channel.pipeline.syncOperations.handler(type: OpenSSLHandler.self))?.clientCertificate
    }

    /// The certificate that the peer of a secured channel has shown, in DER; nil: none, or the handshake goes on. Call it on the loop of
    /// the channel.
    package static func peerCertificate(on channel: any Channel) -> [UInt8]? {
        (try? channel.pipeline.syncOperations.handler(type: OpenSSLHandler.self))?.peerCertificate
    }

    /// Closes a channel at once, secured or not: without a goodbye, and without waiting for anything. Call it on the loop of the channel.
    package static func cutOff(_ channel: any Channel) {
        let secured = try? channel.pipeline.syncOperations.context(handlerType: OpenSSLHandler.self)
        if let secured { secured.close(promise: nil) } else { channel.close(promise: nil) }
    }
}
