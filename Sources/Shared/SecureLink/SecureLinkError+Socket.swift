internal import Glibc
internal import NIOCore
internal import NIOPosix

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
