/// Why a feed cannot be made or started. Later problems are a ``FeedState``.
package struct GNSSFeedError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// A value of ``FeedConfiguration`` is impossible.
        case configuration
        /// The kernel gave no event descriptor, thread or memory.
        case resources
    }

    package let code: Code
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail }
}
