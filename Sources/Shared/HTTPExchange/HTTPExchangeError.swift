/// Why there is no answer. Two errors with the same ``code`` are equal.
package struct HTTPExchangeError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The address or the request cannot be one.
        case address
        /// No connection, or it broke.
        case unreachable
        /// The time for the whole exchange is over.
        case timeout
        /// The server's certificate is not trusted, has another name, or is not valid now.
        case untrusted
        /// A file with authorities, or another setting, cannot be used.
        case configuration
        /// The connection ended before the answer did.
        case cut
        /// The answer breaks a rule of HTTP/1.1, or is no HTTP.
        case notHTTP
        /// The answer is longer than the limit.
        case tooLarge
    }

    package let code: Code
    /// For people; holds nothing of the request but its address.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
    package var description: String { detail }
}
