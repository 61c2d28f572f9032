/// Why a secure connection could not be made, or why it ended.
///
/// Two errors with the same ``code`` are equal. ``detail`` is for people and never holds a secret.
package struct SecureLinkError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        // Finding the way
        case nameResolution
        case connectTimeout
        case connectRefused
        case networkUnreachable

        // Who answers
        /// The peer does not speak TLS: another service uses that port.
        case notTLS
        /// An HTTP server without TLS answers.
        case plainHTTP
        /// A captive portal answers: HTTP that redirects to another page.
        case signInPage
        case handshakeTimeout
        /// Client and server have no TLS version in common.
        case protocolVersion
        /// The server did not choose the wanted application protocol.
        case alpnMismatch
        case certificateExpired
        /// The certificate is not valid yet: it is new, or the clock is behind.
        case certificateNotYetValid
        /// The certificate has the right name, but no trusted authority signed it. Either the authority is missing
        /// here, or something on the way answers in the server's place.
        case certificateUntrusted
        /// Neither a trusted authority nor the right name: another server answers.
        case foreignServer
        case certificateWrongName
        case pinMismatch
        /// The server wants a client certificate. None was given, or the server refused it.
        case clientCertificateRefused
        /// The server says that the client's certificate has ended, or is not valid yet.
        case clientCertificateExpired

        // The life of a connection
        /// The peer closed the connection during the handshake, or later without TLS's goodbye.
        case closedByPeer
        case reset
        /// The peer's computer stopped acknowledging bytes.
        case peerSilent
        /// More bytes were written than the connection may hold unsent.
        case sendBufferFull
        /// This side closed the connection before the handshake was done.
        case cancelled

        /// A setting, or a file that a setting names, cannot be used.
        case configuration
        /// A token refused its PIN.
        case pinRefused
        case other
    }

    package let code: Code

    /// What happened to what, and what to do.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }

    package var description: String { "\(code.rawValue): \(detail)" }
}

extension StringProtocol {
    /// The text with control characters as `?`, cut after `limit` characters: for details shown to people.
    func printable(limit: Int) -> String {
        let safe = unicodeScalars.prefix(limit).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
                Character("?")
            default: Character(scalar)
            }
        }
        return unicodeScalars.count > limit ? String(safe) + "…" : String(safe)
    }
}
