internal import COpenSSL
internal import Glibc

/// The name that the server's certificate must hold: a DNS name or an IP address.
struct ServerIdentity: Hashable, Sendable {
    /// In the form for comparing: without the root's dot, and without an address's zone.
    let name: String
    let isAddress: Bool

    /// Throws `configuration` when `host` is neither a host name nor an address.
    init(host: String) throws(SecureLinkError) {
        // An IPv6 zone (fe80::1%eth0) names the interface to use, not the server.
        let bare = host.contains(":") ? String(host.prefix { $0 != "%" }) : host
        if Self.isAddress(bare) {
            name = bare
            isAddress = true
            return
        }
        let dns = bare.hasSuffix(".") ? String(bare.dropLast()) : bare
        // Less strict than RFC 1123. It only keeps out names that OpenSSL would cut or read in another way.
        let valid = dns.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard valid, (1...253).contains(dns.utf8.count), !dns.hasPrefix(".") else {
            throw SecureLinkError(
                .configuration,
                "\"\(host.printable(limit: 80))\" is not a host name or IP address; write an international name in its "
                    + "xn-- form")
        }
        name = dns
        isAddress = false
    }

    /// Sets the name that OpenSSL compares with the certificate and, for a DNS name, sends to the server (SNI, RFC
    /// 6066).
    func require(of ssl: OpaquePointer) throws(SecureLinkError) {
        let parameters = unsafe SSL_get0_param(ssl)
        // The subject's common name does not count, only the alternative names (RFC 6125, section 6.4.4).
        unsafe X509_VERIFY_PARAM_set_hostflags(
            parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        let set =
            isAddress
            ? unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name)
            : unsafe X509_VERIFY_PARAM_set1_host(parameters, name, 0) & saker_SSL_set_tlsext_host_name(ssl, name)
        guard set == 1 else {
            throw SecureLinkError(.configuration, "OpenSSL does not take \"\(name)\" as a server's name")
        }
    }

    /// Whether the certificate holds the name, whoever signed it.
    func isHeld(by certificate: OpaquePointer) -> Bool {
        if isAddress { return unsafe X509_check_ip_asc(certificate, name, 0) == 1 }
        let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        return unsafe X509_check_host(certificate, name, 0, flags, nil) == 1
    }

    private static func isAddress(_ text: String) -> Bool {
        // Room for an IPv4 or an IPv6 address. The system's types for them would need two more modules.
        var address: (UInt64, UInt64) = (0, 0)
        return unsafe inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }
}
