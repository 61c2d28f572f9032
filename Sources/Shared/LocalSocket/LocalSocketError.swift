internal import Glibc

/// Why a local socket could not be opened.
package struct LocalSocketError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case pathTooLong
        /// A file that is not a socket has the path.
        case notASocket
        /// Another process answers on the path.
        case inUse
        case system
    }

    package let code: Code
    /// A sentence for people.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail }

    static func system(_ what: String, _ number: CInt) -> Self {
        Self(.system, "\(what): \(String(cString: strerror(number)))")
    }
}
