internal import COpenSSL
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import TrackModel

/// The options of the connection, which help to explain a peer's short alert.
struct TLSFailureSituation {
    let minimumVersion: MinimumTLS
    let applicationProtocol: String
    let clientCertificateRequested: Bool
    let clientCertificateGiven: Bool
}

extension SecureLinkError {
    /// The error for OpenSSL's reasons.
    init(_ errors: [OpenSSLError], situation: TLSFailureSituation) {
        let alert = errors.lazy.compactMap(\.receivedAlert).first
        if let alert, let told = Self(alert: alert, summary: errors.summary, situation: situation) {
            self = told
            return
        }
        let reasons = errors.compactMap(\.tlsReason)
        func has(_ some: Int32...) -> Bool { reasons.contains { some.contains($0) } }
        if has(SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_VERSION_TOO_LOW, SSL_R_NO_PROTOCOLS_AVAILABLE)
        {
            self.init(
                .protocolVersion,
                "the server speaks no TLS from \(situation.minimumVersion.rawValue) on: \(errors.summary)")
        } else if has(SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_UNKNOWN_PROTOCOL)
        {
            self.init(.notTLS, "the peer does not speak TLS: \(errors.summary)")
        } else if has(SSL_R_UNEXPECTED_EOF_WHILE_READING) {
            self.init(.closedByPeer, "the server closed the connection")
        } else {
            self.init(.other, "TLS failed: \(errors.summary)")
        }
    }

    /// The error of a server whose client ended the handshake, or did not go on rightly.
    init(ofClient errors: [OpenSSLError]) {
        let reasons = errors.compactMap(\.tlsReason)
        func has(_ some: Int32...) -> Bool { reasons.contains { some.contains($0) } }
        if has(SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_VERSION_TOO_LOW) {
            self.init(.protocolVersion, "the client speaks no TLS that is allowed here: \(errors.summary)")
        } else if has(
            SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_UNKNOWN_PROTOCOL)
        {
            self.init(.notTLS, "the client does not speak TLS: \(errors.summary)")
        } else if has(SSL_R_CERTIFICATE_VERIFY_FAILED, SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
            self.init(.clientCertificateRefused, "the client's certificate is refused: \(errors.summary)")
        } else {
            self.init(.other, "TLS failed: \(errors.summary)")
        }
    }

    private init?(alert: Int32, summary: String, situation: TLSFailureSituation) {
        switch alert {
        case SSL_AD_PROTOCOL_VERSION:
            self.init(
                .protocolVersion,
                "the server refuses TLS \(situation.minimumVersion.rawValue); let it speak that, or lower the minimum "
                    + "version here")
        case SSL_AD_NO_APPLICATION_PROTOCOL:
            self.init(
                .alpnMismatch,
                "the server does not speak \"\(situation.applicationProtocol)\"; is this the port of a Saker gateway?")
        case SSL_AD_CERTIFICATE_REQUIRED:
            self.init(.clientCertificateRefused, Self.certificateWanted)
        case SSL_AD_HANDSHAKE_FAILURE where situation.clientCertificateRequested && !situation.clientCertificateGiven:
            // TLS 1.2 has no separate alert for a missing certificate.
            self.init(.clientCertificateRefused, Self.certificateWanted)
        case SSL_AD_CERTIFICATE_EXPIRED where situation.clientCertificateGiven:
            self.init(
                .clientCertificateExpired, "the server says that the client certificate is not valid now: \(summary)")
        case SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_REVOKED,
            SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA, SSL_AD_ACCESS_DENIED,
            SSL_AD_DECRYPT_ERROR:
            let whose = situation.clientCertificateGiven ? "the client certificate" : "the missing client certificate"
            self.init(.clientCertificateRefused, "the server refuses \(whose): \(summary)")
        default:
            self.init(.other, "the server ended the TLS session: \(summary)")
        }
    }

    private static var certificateWanted: String {
        "the server requires a client certificate and none is configured; set its certificate and key"
    }
}

// Handshakes that did not come to their end. The peer is the server, or the client.
extension SecureLinkError {
    static func cutInHandshake(byServer: Bool) -> Self {
        Self(
            .closedByPeer,
            byServer
                ? "the connection was closed when TLS began: by the server, or by a proxy or firewall on the way that lets no TLS "
                    + "through here" : "the client closed the connection before TLS was made")
    }

    static let resetInHandshake = Self(
        .reset,
        "the connection was reset when TLS began: by the server, or by a firewall on the way that lets no TLS through here"
    )

    static func handshakeTimeout(_ limit: TimeAmount, ofServer: Bool) -> Self {
        Self(
            .handshakeTimeout,
            "no TLS handshake within \(limit.seconds)"
                + (ofServer
                    ? ": the port took the connection and then said nothing; a firewall or proxy that holds it, or a server that "
                        + "hangs" : ""))
    }
}

extension SecureLinkError {
    /// The error for NIO's report about a failed attempt to connect.
    init(connecting error: any Error, to host: String, port: Int) {
        let target = "\(host.printable(limit: 100)):\(port)"
        switch error {
        case let error as NIOConnectionError:
            let failures = error.connectionErrors.map { Self(ofSocket: $0.error) }
            if let best = Self.nearest(of: failures) {
                self.init(best.code, "\(target): \(best.detail)")
            } else if let unknown = error.dnsAAAAError ?? error.dnsAError {
                self.init(.nameResolution, "\(target): \(Self.text(ofResolution: unknown))")
            } else {
                self.init(.nameResolution, "\(target): the name has no addresses")
            }
        case ChannelError.connectTimeout(let limit):
            self.init(
                .connectTimeout,
                "\(target): no connection within \(limit.seconds); is there a network, and does it let this port through?"
            )
        default:
            let told = Self(ofSocket: error)
            self.init(told.code, "\(target): \(told.detail)")
        }
    }

    /// The error for a socket's report.
    init(ofSocket error: any Error) {
        guard let error = error as? IOError else {
            if case ChannelError.connectTimeout(let limit) = error {
                self.init(.connectTimeout, "no connection within \(limit.seconds)")
            } else {
                self.init(.other, "the connection failed: \(error)")
            }
            return
        }
        let reason = unsafe String(cString: strerror(error.errnoCode))
        switch error.errnoCode {
        case ECONNREFUSED: self.init(.connectRefused, "\(reason); does the server listen there?")
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, ENONET:
            self.init(.networkUnreachable, reason)
        case ECONNRESET, EPIPE, ECONNABORTED: self.init(.reset, "the connection was reset: \(reason)")
        case ETIMEDOUT: self.init(.peerSilent, "the peer acknowledges nothing: \(reason)")
        default: self.init(.other, "the connection failed: \(reason)")
        }
    }

    /// The failure of the address that came nearest to a connection: a reset connection was made, a refusal is an
    /// answer, an unreachable network is neither.
    static func nearest(of failures: [SecureLinkError]) -> SecureLinkError? {
        let order: [Code] = [.reset, .connectRefused, .connectTimeout, .networkUnreachable]
        return order.lazy.compactMap { code in failures.first { $0.code == code } }.first ?? failures.first
    }

    private static func text(ofResolution error: any Error) -> String {
        (error as? SecureLinkError)?.detail ?? "the name is not found: \(error)"
    }
}

extension TimeAmount {
    /// `10 s` or `1500 ms`.
    var seconds: String {
        nanoseconds % 1_000_000_000 == 0 ? "\(nanoseconds / 1_000_000_000) s" : "\(nanoseconds / 1_000_000) ms"
    }
}
