/// Why a secure connection could not be made, or ended.
///
/// Equality is by ``code`` alone; ``detail`` is for people and never holds a secret.
package struct SecureLinkError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        // Finding the way
        case nameResolution
        case connectTimeout
        case connectRefused
        case networkUnreachable

        // Who answers
        /// What answers does not speak TLS: another service on that port.
        case notTLS
        /// An HTTP server without TLS answers.
        case plainHTTP
        /// A captive portal answers: HTTP that leads elsewhere.
        case signInPage
        case handshakeTimeout
        /// Client and server have no TLS version in common.
        case protocolVersion
        /// The server did not choose the application protocol asked for.
        case alpnMismatch
        case certificateExpired
        /// Judged too early: a server's fresh certificate, or a clock that is behind.
        case certificateNotYetValid
        /// No trusted authority vouches for the certificate, which has the right name: the authority is missing here, or
        /// something on the way answers in the server's place.
        case certificateUntrusted
        /// Neither a trusted authority nor the right name: this is another server.
        case foreignServer
        case certificateWrongName
        case pinMismatch
        /// The server wants a client certificate: none was given, or it refused the one given.
        case clientCertificateRefused

        // The life of a connection
        /// The peer closed: during the handshake, or later without TLS's goodbye.
        case closedByPeer
        case reset
        /// The peer's machine stopped acknowledging bytes.
        case peerSilent
        /// More was written than the connection may hold unsent.
        case sendBufferFull
        /// This side closed the connection before the handshake was done.
        case cancelled

        /// A setting, or a file that it names, cannot be used.
        case configuration
        /// A token did not take its PIN.
        case pinRefused
        case other
    }

    package let code: Code

    /// What happened, to what, and what to do about it.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }

    package var description: String { "\(code.rawValue): \(detail)" }

    /// Whether the same attempt may succeed later with nothing changed by a person, here or at the server.
    package var retryCanHelp: Bool {
        switch code {
        case .nameResolution, .connectTimeout, .connectRefused, .networkUnreachable, .notTLS, .plainHTTP, .signInPage,
            .foreignServer,
            .handshakeTimeout,
            .certificateNotYetValid, .closedByPeer, .reset, .peerSilent, .sendBufferFull, .cancelled, .other:
            true
        case .protocolVersion, .alpnMismatch, .certificateExpired, .certificateUntrusted, .certificateWrongName,
            .pinMismatch, .clientCertificateRefused, .configuration, .pinRefused:
            false
        }
    }

    /// Whether one side did not accept who the other is: to be said at once and retried slowly.
    package var isAuthenticationFailure: Bool {
        switch code {
        case .certificateExpired, .certificateUntrusted, .certificateWrongName, .pinMismatch,
            .clientCertificateRefused:
            true
        case .nameResolution, .connectTimeout, .connectRefused, .networkUnreachable, .notTLS, .plainHTTP, .signInPage,
            .foreignServer,
            .handshakeTimeout,
            .certificateNotYetValid, .closedByPeer, .reset, .peerSilent, .sendBufferFull, .cancelled, .other,
            .protocolVersion, .alpnMismatch, .configuration, .pinRefused:
            false
        }
    }
}
