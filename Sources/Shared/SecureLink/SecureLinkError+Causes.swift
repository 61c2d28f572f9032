internal import COpenSSL
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
