internal import COpenSSL

/// The first bytes of a peer that does not speak TLS: who it may be.
struct PlainAnswer {
    /// As much as is looked at: the head of an HTTP answer up to where it sends its visitor.
    static let bytesKept = 2048

    private let bytes: [UInt8]

    /// Nil when the bytes may be a TLS record, or there are too few to say.
    init?(_ bytes: [UInt8]) {
        // Content types that can come first are alert and handshake; the version's first byte is 3 in every TLS.
        guard let type = bytes.first, let major = bytes.dropFirst().first else { return nil }
        guard !(type == SSL3_RT_ALERT || type == SSL3_RT_HANDSHAKE) || major != 3 else { return nil }
        self.bytes = bytes
    }

    var error: SecureLinkError {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("HTTP/") else {
            let start = text.printable(limit: 16)
            return SecureLinkError(
                .notTLS, "what answers does not speak TLS, it begins with \"\(start)\"; is the port right?")
        }
        // Bytes, since CR LF is one character to a text.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0, as: UTF8.self) }
        let first = lines.first ?? ""
        let status = first.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        let place = lines.dropFirst().prefix { !$0.isEmpty }.lazy.compactMap(Self.location).first
        // RFC 9110, section 15.4, and RFC 6585, section 6: "network authentication required".
        guard status == "511" || (status.hasPrefix("3") && place != nil) else {
            return SecureLinkError(
                .plainHTTP,
                "a plain HTTP server answers (\"\(first.printable(limit: 40))\"), no TLS; is the port right, or "
                    + "does a proxy answer in the server's place?")
        }
        let target = place.map { " to \($0)" } ?? ""
        return SecureLinkError(
            .signInPage,
            "a network's sign-in page answers (HTTP \(status.printable(limit: 3))\(target)): sign in there first")
    }

    /// Where a `Location` line leads, without the query, in which a visitor's marks stand.
    private static func location(_ line: String) -> String? {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "location" else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        let place = String(value.prefix { !"?#; ".contains($0) })
        return place.isEmpty ? nil : place.printable(limit: 100)
    }
}
