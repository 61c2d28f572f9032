/// Where the metrics are read: a Unix socket, or an address and port.
package enum MetricsAddress: Hashable, Sendable, CustomStringConvertible {
    case unix(path: String)
    /// `host` is an address, never a name. Port 0 lets the kernel choose.
    case internet(host: String, port: Int)

    /// From `/run/saker/metrics.sock`, `127.0.0.1:9443` or `[::1]:9443`; nil when it is none of these.
    package init?(_ text: String) {
        if text.hasPrefix("/") {
            self = .unix(path: text)
            return
        }
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
            port <= 65_535
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":"), host.utf8.allSatisfy({ Self.isHexadecimal($0) || $0 == 0x3A || $0 == 0x2E })
            else { return nil }
        } else {
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 4, parts.allSatisfy({ UInt8($0) != nil && $0.count <= 3 && !$0.hasPrefix("+") })
            else { return nil }
        }
        self = .internet(host: String(host), port: port)
    }

    /// What a configuration that breaks the rule is told.
    package static let rule =
        "an address and port such as \"127.0.0.1:9443\" or \"[::1]:9443\", or the path of a Unix socket that begins with /"

    /// Whether only programs on this machine can reach it.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .internet(let host, _): host.hasPrefix("127.") || host == "::1"
        }
    }

    package var description: String {
        switch self {
        case .unix(let path): path
        case .internet(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
