internal import Glibc
package import NIOCore

/// Whom a connection comes from, as far as limits go.
package enum ClientAddress {
    /// An IPv4 address; the first 64 bits of an IPv6 address, which is what one client has; one name for all others, such as
    /// the clients of a Unix socket.
    package static func group(_ address: SocketAddress?) -> String {
        guard let text = address?.ipAddress else { return "unknown" }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &bytes) == 1 else { return text }
        // ::ffff:0:0/96 carries IPv4.
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped
            ? bytes[12...].map { String($0) }.joined(separator: ".")
            : bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
    }
}
