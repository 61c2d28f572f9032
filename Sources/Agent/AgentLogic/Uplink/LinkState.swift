package import TrackModel

/// The number of one attempt at a connection; later attempts have greater numbers. By the number the machine knows
/// events of an earlier link, and ignores them.
package struct LinkID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// One read of the cache, for one link.
package struct ReadID: Hashable, Sendable {
    package let link: LinkID
    package let number: UInt64

    package init(link: LinkID, number: UInt64) {
        self.link = link
        self.number = number
    }
}

/// The state of the connection.
package enum LinkState: Hashable, Sendable {
    /// Not wanted.
    case closed
    /// Name resolution and TCP.
    case connecting
    /// TLS.
    case handshaking
    case loggingIn
    case online
    /// The agent tries again by itself at the time.
    case waiting(until: MonotonicTime, LinkTrouble)
    /// The server refuses this agent as it is configured. The agent tries again slowly, at the time.
    case refused(until: MonotonicTime, LinkTrouble)
    /// The agent uploads the remaining points, then says goodbye.
    case closing
}

/// Why there is no connection.
package struct LinkTrouble: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// No name, no route, refused, reset, closed.
        case network
        /// An answer did not come in time.
        case timeout
        /// TLS failed, or the server's certificate is not trusted.
        case tls
        /// The access key, application code or client certificate is refused.
        case authentication
        /// The server refuses a value: the entity's name, the service's number.
        case parameter
        /// The agent cannot use its own configuration for a connection: a name, a certificate, a key.
        case configuration
        /// A peer does not keep to the protocol, or speaks another version.
        case protocolViolation
        /// The server is busy, failed or closes on purpose.
        case server
    }

    /// What exactly went wrong, for programs that say what to do about it. Programs read the raw values, so the raw
    /// values never change.
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        case nameResolution = "name_resolution"
        case connectTimeout = "connect_timeout"
        case connectRefused = "connect_refused"
        case networkUnreachable = "network_unreachable"
        case notTLS = "not_tls"
        case handshakeTimeout = "handshake_timeout"
        case protocolVersion = "protocol_version"
        case protocolMismatch = "alpn_mismatch"
        case certificateExpired = "certificate_expired"
        case certificateNotYetValid = "certificate_not_yet_valid"
        case certificateUntrusted = "certificate_untrusted"
        case certificateWrongName = "certificate_wrong_name"
        case pinMismatch = "pin_mismatch"
        case clientCertificateRefused = "client_certificate_refused"
        /// The server says that this vehicle's certificate has ended, or is not valid yet.
        case clientCertificateExpired = "client_certificate_expired"
        /// The access key or the application code.
        case keyRefused = "key_refused"
        case serviceUnknown = "service_unknown"
        /// The operator has revoked this device.
        case revoked = "revoked"
        /// Another computer that runs at the same time has this device's certificate: one is a copy of the other's disk.
        case cloned = "cloned"
        /// A value of the login, such as the entity's name.
        case parameterRefused = "parameter_refused"
        case loginTimeout = "login_timeout"
        /// An HTTP server without TLS.
        case plainHTTP = "plain_http"
        /// A network's sign-in page.
        case signInPage = "sign_in_page"
        /// Neither the server's name nor an authority that is trusted.
        case foreignServer = "foreign_server"
        /// Closed or reset when TLS began.
        case handshakeCut = "handshake_cut"
        /// A certificate, a key or a name of this agent's own configuration cannot be used.
        case credentialsUnusable = "credentials_unusable"
        /// The server can store nothing until a person helps there.
        case serverUnable = "server_unable"
    }

    package let kind: Kind
    /// A sentence for people, without secrets.
    package let reason: String
    /// Nil when nobody can mend the cause.
    package let cause: Cause?
    /// As which entity the server lets this device in; nil: another one would not help.
    package let entity: String?

    package init(_ kind: Kind, _ reason: String, cause: Cause? = nil, entity: String? = nil) {
        self.entity = entity
        self.kind = kind
        self.reason = reason
        self.cause = cause
    }

    static let reconnecting = LinkTrouble(.network, "the connection is being made anew")

    /// Whether only another configuration can help. Then the agent tries rarely.
    var isLasting: Bool {
        switch kind {
        case .authentication, .parameter, .configuration: true
        case .network, .timeout, .tls, .protocolViolation, .server: false
        }
    }

    /// Whether nothing but a person helps, on this vehicle or at the server. A vehicle with such a trouble is not tracked.
    ///
    /// A network that cannot be reached, or that leads to a foreign server, is none: the vehicle comes to another one. Neither is a
    /// server that is busy or away.
    package var needsPerson: Bool {
        switch cause {
        // Another time may make such a certificate good: the first fix, a clock that is set. Where none can, this is said by the kind.
        case .certificateExpired, .certificateNotYetValid: kind == .authentication
        case .certificateUntrusted, .certificateWrongName, .pinMismatch, .clientCertificateRefused,
            .clientCertificateExpired, .keyRefused, .serviceUnknown, .revoked, .cloned, .parameterRefused,
            .credentialsUnusable, .protocolVersion, .protocolMismatch, .serverUnable:
            true
        case .nameResolution, .connectTimeout, .connectRefused, .networkUnreachable, .notTLS, .handshakeTimeout,
            .loginTimeout, .plainHTTP, .signInPage, .foreignServer, .handshakeCut:
            false
        case nil:
            switch kind {
            case .authentication, .parameter, .configuration, .protocolViolation: true
            case .network, .timeout, .tls, .server: false
            }
        }
    }

    /// Whether this vehicle refuses what answers as its server, not the server this vehicle.
    package var isOwnRefusal: Bool {
        switch cause {
        case .certificateExpired, .certificateNotYetValid, .certificateUntrusted, .certificateWrongName, .pinMismatch,
            .protocolVersion, .protocolMismatch:
            true
        default: false
        }
    }

    /// Whether a certificate is refused for the time at which it was judged.
    package var isOfTime: Bool { cause == .certificateExpired || cause == .certificateNotYetValid }

    /// Whether the network that the machine is in may be the cause: a proxy that answers in the server's place. Then
    /// the agent tries again in another network.
    package var mayBeTheNetworks: Bool {
        switch cause {
        case .certificateUntrusted, .certificateWrongName, .pinMismatch: true
        default: false
        }
    }
}

/// Milliseconds, all of them.
package struct UplinkTiming: Hashable, Sendable {
    /// For name resolution and TCP.
    package var connect: Int64 = 10_000
    /// For TLS.
    package var handshake: Int64 = 10_000
    /// For the server's answer to the login.
    package var login: Int64 = 10_000
    /// Without an acknowledgement or an answer to a heartbeat, a link is dead.
    package var acknowledgement: Int64 = 20_000
    /// The longest time that an arriving frame may hold up an acknowledgement.
    package var arrival: Int64 = 120_000
    /// Between two tries after a lasting refusal.
    package var refused: Int64 = 300_000
    /// Longest wait that a server may ask for.
    package var longestRetryAfter: Int64 = 3_600_000
    /// Between the beginnings of two attempts that a change of network causes.
    package var networkChange: Int64 = 1000
    /// When the network changes, an attempt that has lasted so long is given up for a new one.
    package var staleAttempt: Int64 = 5000
    package var backoff = Backoff.Range()

    package init() {}
}

/// The limits that the server sets, and never more than the agent's own limits.
package struct UplinkLimits: Hashable, Sendable {
    /// Points of one batch, 1 ... 1000.
    package let batchPoints: Int
    /// Batches without acknowledgement, 1 ... 16.
    package let windowBatches: Int
    /// Their bytes, 1 ... 262,144.
    package let windowBytes: Int

    /// 0 leaves a limit to the agent.
    package init(batchPoints: UInt32 = 0, windowBatches: UInt32 = 0, windowBytes: UInt32 = 0) {
        func within(_ largest: Int, _ value: UInt32) -> Int {
            value == 0 ? largest : min(Int(value), largest)
        }
        self.batchPoints = within(1000, batchPoints)
        self.windowBatches = within(16, windowBatches)
        self.windowBytes = within(256 * 1024, windowBytes)
    }
}

/// Counts of an uplink since it was made. They only grow.
package struct UplinkCounters: Hashable, Sendable {
    /// Connections tried.
    package internal(set) var attempts: UInt64 = 0
    /// Tries since the last login.
    package internal(set) var attemptsSinceLogin: UInt64 = 0
    /// Logins that succeeded.
    package internal(set) var sessions: UInt64 = 0
    /// Logins that were refused.
    package internal(set) var refusals: UInt64 = 0
    /// Sent; after a lost connection counted again.
    package internal(set) var batches: UInt64 = 0
    package internal(set) var points: UInt64 = 0
    package internal(set) var bytes: UInt64 = 0
    /// Links given up because no answer came.
    package internal(set) var deadLinks: UInt64 = 0
    /// Times that the server claimed to have what was never sent.
    package internal(set) var serverAhead: UInt64 = 0
    /// Live hints that were sent.
    package internal(set) var hints: UInt64 = 0
}
