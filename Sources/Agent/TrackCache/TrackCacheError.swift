/// Why a cache could not be opened, or refused a request.
package struct TrackCacheError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// Another process holds the directory. A retry helps once that process has ended.
        case inUse
        /// The configured path can never be the cache's directory; only another configuration helps.
        case directory
        /// Too many separate clears are still in force. Clearing everything always works.
        case tooManyClears
    }

    package let code: Code
    /// For people; names the directory, never a position.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}

/// Where new records go.
package enum TrackCacheState: Hashable, Sendable, CustomStringConvertible {
    /// To the disk: they survive a power cut once synchronised.
    case disk
    /// To memory, because of this error: they are lost with the power, and the oldest is dropped when memory is full.
    case memory(CacheFileError)
    /// After `close()`.
    case closed

    package var description: String {
        switch self {
        case .disk: "on disk"
        case .memory(let error): "in memory, because the disk refused: \(error)"
        case .closed: "closed"
        }
    }
}
