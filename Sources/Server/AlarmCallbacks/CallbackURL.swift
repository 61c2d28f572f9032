/// The URL of an operator's server in the parts of which a request is made. It takes only plain URLs, so that every reader
/// finds the same host in one.
package struct CallbackURL: Hashable, Sendable {
    package struct Problem: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    package static let mostBytes = 1024

    package let isSecure: Bool
    /// In small letters; an IPv6 address without its brackets.
    package let host: String
    package let port: Int
    /// Path and query, with the leading `/`.
    package let path: String

    package init(_ text: String) throws(Problem) {
        let bytes = Array(text.utf8)
        guard (1...Self.mostBytes).contains(bytes.count) else {
            throw Problem(description: "it has 1 to \(Self.mostBytes) bytes, not \(bytes.count)")
        }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) && !"\"<>\\^`{|}#".utf8.contains($0) }) else {
            throw Problem(description: "it has only the characters of URLs, no spaces and no #")
        }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
            ["http", "https"].contains(text[..<colon].lowercased())
        else { throw Problem(description: "it begins with http:// or https://") }
        isSecure = text[..<colon].lowercased() == "https"
        let rest = text[text.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { throw Problem(description: "it has no user and no password") }
        let (name, portText) = Self.split(authority)
        host = name.lowercased()
        if let portText {
            guard !portText.isEmpty, portText.utf8.count <= 5, portText.utf8.allSatisfy(Self.isDigit),
                let number = Int(portText), (1...65_535).contains(number)
            else { throw Problem(description: "its port is 1 to 65535") }
            port = number
        } else {
            port = isSecure ? 443 : 80
        }
        guard Self.isHost(host) else {
            throw Problem(
                description:
                    "its host is a name of letters, digits, - and ., an IPv4 address, or an IPv6 address in [ ]")
        }
        let tail = rest[end...]
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
    }

    /// The same URL, written in one way.
    package var text: String {
        "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)\(path)"
    }

    private static func split(_ authority: Substring) -> (host: Substring, port: Substring?) {
        if authority.hasPrefix("["), let bracket = authority.firstIndex(of: "]") {
            let host = authority[authority.index(after: authority.startIndex)..<bracket]
            let rest = authority[authority.index(after: bracket)...]
            guard host.contains(":"), rest.isEmpty || rest.hasPrefix(":") else { return ("", nil) }
            return (host, rest.isEmpty ? nil : rest.dropFirst())
        }
        guard let colon = authority.firstIndex(of: ":") else { return (authority, nil) }
        return (authority[..<colon], authority[authority.index(after: colon)...])
    }

    private static func isHost(_ host: String) -> Bool {
        let bytes = host.utf8
        guard (1...253).contains(bytes.count) else { return false }
        if host.contains(":") {
            return bytes.allSatisfy {
                isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) || $0 == 0x3A || $0 == 0x2E
            }
        }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy {
                    isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-")
                        || $0 == UInt8(ascii: "_")
                }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
