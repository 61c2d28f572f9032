internal import AgentControl
internal import AgentLogic
internal import Logging
internal import SecureLink
internal import Systemd
internal import TrackModel
internal import TrackWire

/// What people are told of the link.
struct LinkLog {
    private(set) var state = LinkState.closed
    private var since: SystemTime
    var session: String?
    /// TLS version and cipher of the present link.
    var encryption: String?
    private var lastError: String?
    private var lastErrorCause: LinkTrouble.Cause?
    /// What keeps the vehicle from a session until a person helps, since it was met first; nil: nothing does. What a network may have
    /// caused counts only as long as the next try meets it too.
    private(set) var refusal: (trouble: LinkTrouble, since: MonotonicTime)?
    /// Why the server refused points of the batch that it has answered last, and since when it refuses; nil: it stored that batch, or
    /// nobody knows what it would say now.
    private(set) var refusing: (reason: String, since: MonotonicTime)?
    private var nextTry: SystemTime?
    /// Since when there has been no session, by both clocks; nil while there is a session, and while none is wanted.
    private var offline: (since: SystemTime, at: MonotonicTime)?

    init(since: SystemTime) {
        self.since = since
    }

    /// False when the same trouble goes on: the agent tells a trouble once, not at each try.
    mutating func change(_ new: LinkState, now: MonotonicTime, at time: SystemTime) -> Bool {
        let before = lastError
        if state != new { since = time }
        state = new
        nextTry = nil
        switch new {
        case .online, .closed: offline = nil
        case .connecting, .handshaking, .loggingIn, .waiting, .refused: offline = offline ?? (time, now)
        case .closing: break
        }
        switch new {
        case .connecting, .waiting, .refused, .closed: encryption = nil
        case .handshaking, .loggingIn, .online, .closing: break
        }
        switch new {
        case .online:
            (lastError, lastErrorCause) = (nil, nil)
            refusal = nil
        case .waiting(let until, let trouble), .refused(let until, let trouble):
            if trouble.needsPerson {
                refusal = (trouble, refusal?.since ?? now)
            } else if refusal?.trouble.mayBeTheNetworks == true {
                refusal = nil
            }
            (lastError, lastErrorCause) = (trouble.reason, trouble.cause)
            session = nil
            nextTry = SystemTime(milliseconds: time.milliseconds + max(0, until - now))
        case .closed:
            session = nil
            (lastError, lastErrorCause) = (nil, nil)
            forgetRefusal()
        case .connecting, .handshaking, .loggingIn, .closing: break
        }
        return lastError != before
    }

    /// Server, login or certificates are others now: nobody knows whether they are refused too.
    mutating func forgetRefusal() { (refusal, refusing) = (nil, nil) }

    /// The server has answered a batch. `refusing`: why it refused the first point that it did not store; nil: it stored all.
    mutating func answered(refusing reason: String?, now: MonotonicTime) {
        refusing = reason.map { ($0, refusing?.since ?? now) }
    }

    /// Certificates are judged at another time now: nobody knows whether they are refused then too.
    mutating func timeHasChanged() { if refusal?.trouble.isOfTime == true { refusal = nil } }

    /// Seconds without a session although one is wanted.
    func offlineSeconds(now: MonotonicTime) -> Double {
        offline.map { Double(max(0, now - $0.at)) / 1000 } ?? 0
    }

    /// Seconds without a session, 0 with one; nil: none is wanted.
    func silence(now: MonotonicTime) -> Int64? {
        if case .online = state { return 0 }
        return offline.map { max(0, now - $0.at) / 1000 }
    }

    /// `server` as in `track.example.org:7443`; `attempts` since the last login.
    func status(server: String, attempts: UInt64) -> LinkStatus {
        let told: LinkStatus.State
        switch state {
        case .closed: told = .closed
        case .connecting: told = .connecting
        case .handshaking: told = .handshaking
        case .loggingIn: told = .loggingIn
        case .online: told = .online
        case .waiting: told = .waiting
        case .refused: told = .refused
        case .closing: told = .closing
        }
        return LinkStatus(
            state: told, since: since.milliseconds, server: server, session: session, lastError: lastError,
            lastErrorCause: lastErrorCause?.rawValue, nextTryTime: nextTry?.milliseconds,
            attempts: Int64(clamping: attempts), encryption: encryption,
            offlineSince: offline?.since.milliseconds)
    }
}

/// Points that the server has refused since the agent started: they are lost.
struct RefusedPoints {
    var count: UInt64 = 0
    /// Those of them whose date was ahead of the server's clock.
    var forDate: UInt64 = 0
    /// When it refused one last, by both clocks.
    var last: (time: SystemTime, at: MonotonicTime)?
}

extension Logger {
    /// What became of the connection. `isNew`: false while the same trouble goes on. `hadSession`: there was one until now.
    func tell(
        _ state: LinkState, isNew: Bool, hadSession: Bool, session: String?, entity: String, server: String
    ) {
        switch state {
        case .online:
            notice(
                "The server has let this vehicle in",
                metadata: .event(
                    .linkOnline, ["entity": "\(entity)", "server": "\(server)", "session": "\(session ?? "")"]))
        case .waiting(_, let trouble) where isNew:
            warning(
                hadSession
                    ? "The connection to the server is lost, and the agent tries again"
                    : "There is no connection to the server, and the agent tries again",
                metadata: .event(
                    .linkLost, ["reason": "\(trouble.reason)", "entity": "\(entity)", "server": "\(server)"]))
        case .refused(_, let trouble) where isNew && trouble.cause == .credentialsUnusable:
            error(
                "No connection can be made, and points are kept",
                metadata: .event(
                    .linkLost, ["reason": "\(trouble.reason)", "entity": "\(entity)", "server": "\(server)"]))
        case .refused(_, let trouble) where isNew:
            error(
                trouble.isOwnRefusal
                    ? "This vehicle refuses the server, and points are kept"
                    : "The login is refused, and points are kept",
                metadata: .event(
                    .loginRefused, ["reason": "\(trouble.reason)", "entity": "\(entity)", "server": "\(server)"]))
        case .closed, .connecting, .handshaking, .loggingIn, .waiting, .refused, .closing: break
        }
    }
}

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
