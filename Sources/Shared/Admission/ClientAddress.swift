internal import Glibc
package import NIOCore

/// Whom a connection comes from, as far as limits go.
package enum ClientAddress {
    /// An IPv4 address; the first 64 bits of an IPv6 address, which is what one client has; one name for all others, such as
    /// the clients of a Unix socket.
    package static func group(_ address: SocketAddress?) -> String {
        group(ofText: address?.ipAddress)
    }

    /// The same of an address as text; nil: nobody knows it.
    package static func group(ofText text: String?) -> String {
        guard let text else { return "unknown" }
        guard let bytes = sixteen(text) else { return text }
        return isMapped(bytes) ? bytes[12...].map { String($0) }.joined(separator: ".") : prefix(bytes, bits: 64)
    }

    /// What one customer of a provider may have: the first 48 bits of an IPv6 address. Nil for all others.
    package static func site(_ address: SocketAddress?) -> String? {
        guard let bytes = address?.ipAddress.flatMap(sixteen), !isMapped(bytes) else { return nil }
        return prefix(bytes, bits: 48)
    }

    /// Of an IPv6 address.
    private static func sixteen(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }

    /// ::ffff:0:0/96 carries IPv4.
    private static func isMapped(_ bytes: [UInt8]) -> Bool {
        bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    }

    private static func prefix(_ bytes: [UInt8], bits: Int) -> String {
        bytes[..<(bits / 8)].map { String($0, radix: 16) }.joined(separator: ":") + "::/\(bits)"
    }
}
