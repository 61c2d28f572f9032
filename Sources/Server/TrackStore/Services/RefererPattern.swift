/// Pages from which a browser may use a key, such as `*.example.net` or `example.net/fleet/*`. `*` stands for any text.
///
/// A pattern without `/` is about the host of the page. A pattern with `/` is about host and path.
package struct RefererPattern: Hashable, Sendable {
    /// Longest text, bytes of UTF-8.
    package static let mostBytes = 256

    /// In small letters.
    package let text: String

    /// Nil for a text that is empty, too long, or has spaces, control characters or `://` in it.
    package init?(_ text: String) {
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard (1...Self.mostBytes).contains(text.utf8.count), isPlain, !text.contains("://") else { return nil }
        self.text = text.lowercased()
    }

    /// Also a request that names no page.
    var isAny: Bool { text == "*" }

    /// `referer`: the address of the page.
    func matches(_ referer: String) -> Bool {
        guard !isAny else { return true }
        guard let scheme = referer.firstRange(of: "://") else { return false }
        let rest = referer[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let authority = rest.prefix { $0 != "/" }
        // What stands before an `@` is no host.
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
        let path = rest.dropFirst(authority.count)
        return Self.fits(Array((text.contains("/") ? name + path : name).lowercased().utf8), Array(text.utf8))
    }

    /// Takes a time that grows with the product of the lengths, whatever the texts are.
    private static func fits(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        let star = UInt8(ascii: "*")
        var (at, place) = (0, 0)
        var retry: (at: Int, place: Int)?
        while at < text.count {
            if place < pattern.count, pattern[place] == star {
                retry = (at, place + 1)
                place += 1
            } else if place < pattern.count, pattern[place] == text[at] {
                (at, place) = (at + 1, place + 1)
            } else if let last = retry {
                retry = (last.at + 1, last.place)
                (at, place) = (last.at + 1, last.place)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == star }
    }
}
