internal import AgentLogic
internal import SecureLink
internal import TrackWire

extension LinkTrouble {
    /// What went wrong while a link was made, or ended it.
    ///
    /// `isConnecting`: no server was verified yet.
    init(_ error: any Error, isConnecting: Bool = false) {
        guard let error = error as? SecureLinkError else {
            self.init(.network, "the connection failed: \(error)")
            return
        }
        let kind: Kind
        switch error.code {
        case .connectTimeout, .handshakeTimeout, .peerSilent: kind = .timeout
        case .clientCertificateRefused, .clientCertificateExpired, .certificateExpired, .certificateUntrusted,
            .certificateWrongName, .pinMismatch:
            kind = .authentication
        case .notTLS, .plainHTTP, .signInPage, .foreignServer, .protocolVersion, .alpnMismatch, .certificateNotYetValid:
            kind = .tls
        case .configuration, .pinRefused: kind = .configuration
        case .nameResolution, .connectRefused, .networkUnreachable, .closedByPeer, .reset, .sendBufferFull, .cancelled,
            .other:
            kind = .network
        }
        let isCut = isConnecting && (error.code == .closedByPeer || error.code == .reset)
        self.init(kind, error.detail, cause: isCut ? .handshakeCut : .init(error.code))
    }

    init(_ refused: Refused) {
        let reason = refused.reason.isEmpty ? "the server refused the login" : refused.reason
        switch refused.code {
        case .authentication: self.init(.authentication, reason, cause: .keyRefused)
        case .service: self.init(.authentication, reason, cause: .serviceUnknown)
        case .revoked: self.init(.authentication, reason, cause: .revoked)
        case .cloned: self.init(.authentication, reason, cause: .cloned)
        case .parameter:
            self.init(
                .parameter, reason, cause: .parameterRefused, entity: refused.entity.isEmpty ? nil : refused.entity)
        case .protocol: self.init(.protocolViolation, reason)
        case .unable: self.init(.server, reason, cause: .serverUnable)
        case .busy, .internal, .unspecified, .UNRECOGNIZED: self.init(.server, reason)
        }
    }
}

extension LinkTrouble {
    init(_ closing: Closing) {
        let reason = "the server closes: \(closing.reason.isEmpty ? "no reason given" : closing.reason)"
        switch closing.code {
        case .cloned: self.init(.authentication, closing.reason, cause: .cloned)
        case .unable: self.init(.server, closing.reason, cause: .serverUnable)
        case .unspecified, .shutdown, .replaced, .protocol, .busy, .idle, .internal, .UNRECOGNIZED:
            self.init(.server, reason)
        }
    }
}

extension LinkTrouble.Cause {
    /// Nil for a trouble that only time can mend.
    init?(_ code: SecureLinkError.Code) {
        switch code {
        case .nameResolution: self = .nameResolution
        case .connectTimeout: self = .connectTimeout
        case .connectRefused: self = .connectRefused
        case .networkUnreachable: self = .networkUnreachable
        case .notTLS: self = .notTLS
        case .plainHTTP: self = .plainHTTP
        case .signInPage: self = .signInPage
        case .foreignServer: self = .foreignServer
        case .handshakeTimeout: self = .handshakeTimeout
        case .protocolVersion: self = .protocolVersion
        case .alpnMismatch: self = .protocolMismatch
        case .certificateExpired: self = .certificateExpired
        case .certificateNotYetValid: self = .certificateNotYetValid
        case .certificateUntrusted: self = .certificateUntrusted
        case .certificateWrongName: self = .certificateWrongName
        case .pinMismatch: self = .pinMismatch
        case .clientCertificateRefused: self = .clientCertificateRefused
        case .clientCertificateExpired: self = .clientCertificateExpired
        case .configuration, .pinRefused: self = .credentialsUnusable
        case .closedByPeer, .reset, .peerSilent, .sendBufferFull, .cancelled, .other: return nil
        }
    }
}
