package import NIOCore
internal import SecureLink

/// What the agent relies on of a `LinkConnector`, as a list of checks that any test can run against any implementation.
package enum LinkContract {
    package static let checks: [LinkCheck] = [
        LinkCheck(
            "connected is told once, and to the handlers before the owner",
            LinkScript(.echoes) {
                $0.writes = [10]
                $0.close = .afterReceiving(10)
            }
        ) { record in
            try record.requireConnected()
            try require(record.wasActiveWhenConnected, "the owner was told before the handlers")
        },
        LinkCheck(
            "bytes arrive whole and in order in both directions, however they are cut",
            LinkScript(.echoes) {
                $0.writes = [1, 2, 70_000, 1, 16_384, 16_385, 100_000, 3]
                $0.close = .afterReceiving(202_776)
            }
        ) { record in
            try record.requireConnected()
            let sent = LinkScript.pattern(202_776)
            try require(record.peer.received == sent, "the peer got \(record.peer.received.count) bytes, or others")
            try require(record.received == sent, "\(record.received.count) bytes came back, or others")
        },
        LinkCheck(
            "a peer that speaks first is heard from its first byte",
            LinkScript(.greets(bytes: 50_000, then: .stays)) {
                $0.close = .afterReceiving(50_000)
            }
        ) { record in
            try record.requireConnected()
            try require(record.received == LinkScript.pattern(50_000), "the greeting is not what was said")
        },
        LinkCheck(
            "a close by the peer comes after its last byte, and without an error",
            LinkScript(.greets(bytes: 50_000, then: .closes))
        ) { record in
            try record.requireConnected()
            try require(record.received == LinkScript.pattern(50_000), "its last bytes are missing")
            try record.requireEnd(errors: 0)
        },
        LinkCheck("a reset is one error, then the end", LinkScript(.greets(bytes: 10, then: .resets))) { record in
            try record.requireConnected()
            try record.requireEnd(errors: 1)
            try require([.reset, .closedByPeer].contains(record.errorCode), "\(record.told)")
        },
        LinkCheck(
            "our own close is told once, without an error, and the peer sees an end",
            LinkScript(.echoes) {
                $0.writes = [100]
                $0.close = .afterReceiving(100)
            }
        ) { record in
            try record.requireConnected()
            try record.requireEnd(errors: 0)
            try require(record.peer.ends == 1, "the peer saw \(record.peer.ends) ends")
        },
        LinkCheck(
            "a close right after connecting is told once, and what was written before leaves",
            LinkScript(.listens) {
                $0.writes = [30_000]
                $0.close = .whenConnected
            }
        ) { record in
            try record.requireConnected()
            try record.requireEnd(errors: 0)
            try require(record.peer.received == LinkScript.pattern(30_000), "\(record.peer.received.count) bytes left")
        },
        LinkCheck(
            "after our close nothing is heard, and a write fails and does nothing",
            LinkScript(.echoes) {
                $0.writes = [1000, 50_000]
                $0.writesAfterClose = 7
                $0.close = .afterReceiving(1)
            }
        ) { record in
            try record.requireConnected()
            try record.requireEnd(errors: 0)
            try require(record.lateWriteFailed == true, "the write after the close did not fail")
            let sent = LinkScript.pattern(record.peer.received.count)
            try require(record.peer.received == sent, "the peer got what was written after the close")
        },
        LinkCheck(
            "what a peer does not take is bounded: the link ends with one error",
            LinkScript(.stalls) {
                $0.writes = [Int](repeating: 1 << 20, count: 30)
            }
        ) { record in
            try record.requireConnected()
            try record.requireEnd(errors: 1)
            try require(record.errorCode == .sendBufferFull, "\(record.told)")
        },
        LinkCheck("a refused connection fails at once, and nothing else is told", LinkScript(.refuses)) { record in
            try record.requireFailure([.connectRefused])
        },
        LinkCheck("a connection that nobody answers fails within 21 seconds", LinkScript(.swallows)) { record in
            try record.requireFailure([.connectTimeout, .handshakeTimeout])
            try require(record.duration <= .seconds(21), "it took \(record.duration.nanoseconds / 1_000_000) ms")
        },
        LinkCheck(
            "a certificate is judged at the time handed over",
            LinkScript(.echoes) {
                $0.verificationTime = 1_000_000_000
            }
        ) { record in
            try record.requireFailure([.certificateNotYetValid])
        },
        LinkCheck(
            "handlers that cannot be added fail the connection, and the peer sees its end",
            LinkScript(.echoes) {
                $0.failsToInitialize = true
            }
        ) { record in
            try record.requireFailure([.other])
            try require(record.peer.received.isEmpty && record.peer.ends <= 1, "the peer was left with a connection")
        },
    ]
}

/// One sentence of the contract.
package struct LinkCheck: Sendable, CustomStringConvertible {
    package let description: String
    package let script: LinkScript
    /// Throws ``ContractViolation`` when an implementation breaks it.
    package let judge: @Sendable (LinkRecord) throws -> Void

    init(_ description: String, _ script: LinkScript, _ judge: @escaping @Sendable (LinkRecord) throws -> Void) {
        self.description = description
        self.script = script
        self.judge = judge
    }
}

extension LinkScript {
    fileprivate init(_ peer: Peer, _ change: (inout LinkScript) -> Void) {
        self.init(peer)
        change(&self)
    }
}

extension LinkRecord {
    /// The events, for people.
    var told: String { events.map { "\($0)" }.joined(separator: ", ") }

    /// Of the first error told, when it is one of this link's.
    var errorCode: SecureLinkError.Code? {
        for case .error(let error) in events { return (error as? SecureLinkError)?.code }
        return nil
    }

    /// Connected once, told of it once and first, and at the end told of that once and last.
    func requireConnected() throws {
        try require(connectError == nil, "connecting failed: \(connectError.map { "\($0)" } ?? "")")
        try require(!isUnfinished, "it has no end: \(told)")
        try require(timesConnected == 1, "connected \(timesConnected) times")
        let activities = events.count { if case .active = $0 { true } else { false } }
        let ends = events.count { if case .inactive = $0 { true } else { false } }
        try require(activities == 1 && ends == 1, "told: \(told)")
        guard case .active = events.first, case .inactive = events.last else {
            throw ContractViolation(description: "told in another order: \(told)")
        }
    }

    func requireEnd(errors: Int) throws {
        let count = events.count { if case .error = $0 { true } else { false } }
        try require(count == errors, "\(count) errors instead of \(errors): \(told)")
    }

    func requireFailure(_ codes: Set<SecureLinkError.Code>) throws {
        try require(!isUnfinished, "it neither failed nor succeeded")
        try require(timesConnected == 0 && events.isEmpty, "connected \(timesConnected) times, told: \(told)")
        guard let error = connectError as? SecureLinkError, codes.contains(error.code) else {
            throw ContractViolation(
                description: "failed with \(connectError.map { "\($0)" } ?? "nothing"), not one of \(codes)")
        }
    }
}

private func require(_ holds: Bool, _ otherwise: @autoclosure () -> String) throws {
    if !holds { throw ContractViolation(description: otherwise()) }
}

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
