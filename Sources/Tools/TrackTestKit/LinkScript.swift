package import NIOCore

/// One connection of the contract: what either side does, and when it counts as failed.
package struct LinkScript: Sendable {
    /// Who answers, and how.
    package enum Peer: Hashable, Sendable {
        /// Nobody listens.
        case refuses
        /// Something takes the connection and never says a word.
        case swallows
        /// Sends back what it gets.
        case echoes
        /// Takes what it gets.
        case listens
        /// Reads nothing.
        case stalls
        /// Speaks so many bytes at once, then does what is said.
        case greets(bytes: Int, then: Ending)
    }

    package enum Ending: Hashable, Sendable {
        case stays, closes, resets
    }

    /// When this side closes.
    package enum Close: Hashable, Sendable {
        /// Leaves it to the peer.
        case never
        /// As soon as it is told that it is connected, behind what it wrote.
        case whenConnected
        /// When so many bytes have arrived.
        case afterReceiving(Int)
    }

    package var peer: Peer
    /// Sizes of the pieces that are written, and flushed one by one, when the connection is there.
    package var writes: [Int] = []
    /// Bytes written behind our own close.
    package var writesAfterClose = 0
    package var close = Close.never
    /// The initializer of the channel fails.
    package var failsToInitialize = false
    /// Seconds since 1970; nil for the system's clock.
    package var verificationTime: Int64?
    /// How long the whole may take.
    package var limit = TimeAmount.seconds(60)

    package init(_ peer: Peer) { self.peer = peer }

    /// Bytes whose period is no divisor of any buffer's size.
    package static func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            bytes += period[((start + bytes.count) % period.count)...].prefix(count - bytes.count)
        }
        return bytes
    }

    private static let period = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31) }
}

/// What this side and the peer saw of one connection.
package struct LinkRecord: Sendable {
    package enum Event: Sendable {
        case active, bytes(Int), error(any Error), inactive
    }

    /// Of the handlers behind the link; runs of bytes are one event.
    package internal(set) var events: [Event] = []
    package internal(set) var received: [UInt8] = []
    package internal(set) var timesConnected = 0
    package internal(set) var connectError: (any Error)?
    /// Whether the handlers had been told that they are connected when the owner was.
    package internal(set) var wasActiveWhenConnected = false
    /// Of the write behind our close: nil while nobody answered.
    package internal(set) var lateWriteFailed: Bool?
    /// Virtual or real, from the call to the end.
    package internal(set) var duration = TimeAmount.zero
    /// Neither refused nor closed within the limit.
    package internal(set) var isUnfinished = false
    package var peer = LinkPeerRecord()
}

/// What the other side saw.
package struct LinkPeerRecord: Sendable {
    package internal(set) var received: [UInt8] = []
    package internal(set) var ends = 0

    package init() {}
}
