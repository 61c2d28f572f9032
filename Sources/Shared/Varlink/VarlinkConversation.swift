package import JSON
package import NIOCore

/// Calls one after the other on one connection, for a service that remembers its clients. Made by
/// ``VarlinkClient/converse()``; ends with ``close()``.
package struct VarlinkConversation: Sendable {
    private let replies: VarlinkReplies

    init(_ replies: VarlinkReplies) {
        self.replies = replies
    }

    /// Calls `method` (with its interface's name) and returns the parameters of its only reply; one call at a time.
    ///
    /// Throws as ``VarlinkClient/call(_:_:timeout:)``; `timeout` nil waits for ever. After a ``VarlinkError`` the
    /// connection stands, after all else it is of no use. Cancelling closes it.
    package func call(
        _ method: String, _ parameters: [String: JSONValue] = [:], timeout: TimeAmount?
    ) async throws -> JSONValue {
        replies.channel.writeAndFlush(VarlinkFrame(calling: method, parameters).bytes, promise: nil)
        return try await withTaskCancellationHandler {
            try await replies.next(within: timeout).get().parameters
        } onCancel: {
            replies.close()
        }
    }

    package func close() {
        replies.close()
    }
}
