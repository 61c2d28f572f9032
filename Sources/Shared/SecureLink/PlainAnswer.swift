internal import COpenSSL

/// Recognises a peer that does not speak TLS by its first bytes.
struct PlainAnswer {
    /// Enough bytes for the head of an HTTP answer up to its `Location`.
    static let bytesKept = 2048

    private let bytes: [UInt8]

    /// Nil when the bytes may be a TLS record, or when there are too few bytes to decide.
    init?(_ bytes: [UInt8]) {
        // A first record is an alert or a handshake, and its version begins with 3 in every TLS.
        guard let type = bytes.first, let major = bytes.dropFirst().first else { return nil }
        guard !(type == SSL3_RT_ALERT || type == SSL3_RT_HANDSHAKE) || major != 3 else { return nil }
        self.bytes = bytes
    }

    var error: SecureLinkError {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("HTTP/") else {
            let start = text.printable(limit: 16)
            return SecureLinkError(
                .notTLS, "the peer does not speak TLS, its answer begins with \"\(start)\"; is the port right?")
        }
        // Split bytes, not characters: CR LF is one character of a String.
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

    /// The target of a `Location` line, without the query, which may identify the visitor.
    private static func location(_ line: String) -> String? {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "location" else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        let place = String(value.prefix { !"?#; ".contains($0) })
        return place.isEmpty ? nil : place.printable(limit: 100)
    }
}
