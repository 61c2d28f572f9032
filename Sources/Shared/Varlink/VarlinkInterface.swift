package import JSON
package import LocalSocket
package import NIOCore

/// One interface that a ``VarlinkServer`` serves. Confined to the server's event loop.
package protocol VarlinkInterface: AnyObject {
    /// Reverse-domain name, as in `io.saker.Agent`.
    var name: String { get }
    /// The interface in Varlink's description language.
    var interfaceDescription: String { get }
    /// Methods without the interface's name; a call of any other is answered without asking.
    var methods: Set<String> { get }

    /// Answers one call, on the event loop. Called once per request; a connection's next request waits for the answer.
    func answer(_ call: VarlinkCall, on loop: any EventLoop) -> VarlinkAnswer
}

/// One request as the handler sees it.
package struct VarlinkCall: Sendable {
    /// Without the interface's name.
    package let method: String
    package let parameters: [String: JSONValue]
    /// Who is at the other end, as the kernel says.
    package let peer: PeerCredentials
    /// The client takes any number of replies.
    package let more: Bool
    /// The client takes no reply, nor an error.
    package let oneway: Bool
    /// Nil for a call that came on no connection.
    package let connection: VarlinkClientConnection?

    package init(
        method: String, parameters: [String: JSONValue] = [:], peer: PeerCredentials, more: Bool = false,
        oneway: Bool = false, connection: VarlinkClientConnection? = nil
    ) {
        self.method = method
        self.parameters = parameters
        self.peer = peer
        self.more = more
        self.oneway = oneway
        self.connection = connection
    }
}

/// The connection that calls come on: what a handler remembers of a client from one call to the next.
package struct VarlinkClientConnection: Sendable {
    /// Unique among all connections of the server's life.
    package let number: UInt64
    /// Completes on the event loop when the connection is closed.
    package let closed: EventLoopFuture<Void>

    package init(number: UInt64, closed: EventLoopFuture<Void>) {
        self.number = number
        self.closed = closed
    }
}

/// How a call is answered.
package enum VarlinkAnswer {
    /// One reply; a failure that is a ``VarlinkError`` goes to the client as it is, any other closes the connection.
    case reply(EventLoopFuture<JSONValue>)
    /// Many replies: the closure gets the stream and may use it at once and later. A call without `more` is answered
    /// with `ExpectedMore` and the closure is not called.
    case stream((VarlinkReplyStream) -> Void)

    /// One error.
    package static func failure(_ error: VarlinkError, on loop: any EventLoop) -> Self {
        .reply(loop.makeFailedFuture(error))
    }
}

/// Many replies to one call, confined to the server's event loop.
///
/// What the client has not taken is bounded: past ``VarlinkServer/Limits/streamBytes`` nothing more is written.
package final class VarlinkReplyStream {
    private weak var connection: VarlinkConnection?
    private var closed: (() -> Void)?

    init(connection: VarlinkConnection) {
        self.connection = connection
    }

    /// False once the client is gone or the stream finished.
    package var isOpen: Bool { connection != nil }

    /// Sends one reply that others will follow. False when nothing was sent, because the stream is over or the client
    /// takes too little: end it then with ``fail(_:)``.
    package func send(_ parameters: JSONValue) -> Bool {
        send(VarlinkFrame(continuing: parameters))
    }

    /// As ``send(_:)`` with a reply that was encoded once for many streams.
    package func send(_ frame: VarlinkFrame) -> Bool {
        connection?.streamReply(frame) ?? false
    }

    /// Sends the last reply.
    package func finish(_ parameters: JSONValue) {
        end()?.finishStream(VarlinkFrame(last: parameters))
    }

    /// Ends the stream with an error. A client that does not take it within the write deadline is dropped.
    package func fail(_ error: VarlinkError) {
        end()?.finishStream(VarlinkFrame(error: error))
    }

    /// Called once when the stream is over because the client went away; not after ``finish(_:)`` or ``fail(_:)``.
    package func whenClosed(_ action: @escaping () -> Void) {
        if isOpen { closed = action } else { action() }
    }

    private func end() -> VarlinkConnection? {
        defer {
            connection = nil
            closed = nil
        }
        return connection
    }

    func peerGone() {
        connection = nil
        let action = closed
        closed = nil
        action?()
    }
}
