import Glibc
package import JSON
package import NIOCore
import NIOPosix

/// Why a call could not be made or its answer not be read. An error that the service answered is ``VarlinkError``.
package struct VarlinkClientError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// There is no socket: the service does not run, or elsewhere.
        case missing
        /// There is a socket and nobody listens: the service ended without removing it.
        case refused
        /// The caller may not open the socket.
        case permissionDenied
        /// No answer in time.
        case timeout
        /// The service closed the connection before the answer was complete.
        case closed
        /// What came is no Varlink reply.
        case malformed
        case system
    }
    package let code: Code
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail }
}

/// Calls a Varlink service on a Unix socket, each call on a connection of its own.
package struct VarlinkClient: Sendable {
    package let path: String
    private let group: any EventLoopGroup
    private let connectTime: TimeAmount
    private let maximumMessageBytes: Int

    package init(
        path: String, on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        connectTime: TimeAmount = .seconds(5), maximumMessageBytes: Int = 16 << 20
    ) {
        self.path = path
        self.group = group
        self.connectTime = connectTime
        self.maximumMessageBytes = maximumMessageBytes
    }

    /// Calls `method` (with its interface's name) and returns the parameters of its only reply.
    ///
    /// Throws ``VarlinkError`` when the service answers with an error, ``VarlinkClientError`` when it does not answer
    /// as it should or within `timeout`.
    package func call(
        _ method: String, _ parameters: [String: JSONValue] = [:], timeout: TimeAmount = .seconds(30)
    ) async throws -> JSONValue {
        let replies = try await open(VarlinkFrame(calling: method, parameters))
        defer { replies.close() }
        return try await withTaskCancellationHandler {
            try await replies.next(within: timeout).get().parameters
        } onCancel: {
            replies.close()
        }
    }

    /// Calls `method` and gives the parameters of each of its replies as they come and are asked for. The connection ends
    /// with the sequence, or when nobody holds it any more.
    package func stream(
        _ method: String, _ parameters: [String: JSONValue] = [:]
    ) -> AsyncThrowingStream<JSONValue, any Error> {
        let source = VarlinkReplySource(client: self, call: VarlinkFrame(calling: method, parameters, more: true))
        return AsyncThrowingStream { try await source.next() }
    }

    /// Opens a connection for several calls; throws ``VarlinkClientError`` when there is no way to the service.
    package func converse() async throws -> VarlinkConversation {
        VarlinkConversation(try await connect())
    }

    func open(_ call: VarlinkFrame) async throws -> VarlinkReplies {
        let replies = try await connect()
        // The answer tells whether it arrived; a service that refuses may close before it has read all.
        replies.channel.writeAndFlush(call.bytes, promise: nil)
        return replies
    }

    private func connect() async throws -> VarlinkReplies {
        let loop = group.next()
        let size = maximumMessageBytes
        do {
            // The reader is made with the channel: one that the service closes at once has lost it when asked later.
            return try await ClientBootstrap(group: loop)
                .connectTimeout(connectTime)
                .channelOption(.autoRead, value: false)
                .connect(unixDomainSocketPath: path) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let reader = VarlinkReplyReader(maximumMessageBytes: size)
                        try channel.pipeline.syncOperations.addHandler(reader)
                        return VarlinkReplies(
                            channel: channel, reader: NIOLoopBound(reader, eventLoop: channel.eventLoop))
                    }
                }
        } catch {
            throw Self.error(error, path: path)
        }
    }

    private static func error(_ error: any Error, path: String) -> any Error {
        switch error {
        case let error as IOError:
            switch error.errnoCode {
            case ENOENT, ENOTDIR: VarlinkClientError(.missing, "there is no socket at \(path)")
            case ECONNREFUSED: VarlinkClientError(.refused, "nobody listens on the socket \(path)")
            case EAGAIN: VarlinkClientError(.refused, "too many wait on the socket \(path) already")
            case EACCES, EPERM: VarlinkClientError(.permissionDenied, "you may not open the socket \(path)")
            default:
                VarlinkClientError(
                    .system, "cannot open the socket \(path): \(String(cString: strerror(error.errnoCode)))")
            }
        case ChannelError.connectTimeout:
            VarlinkClientError(.timeout, "the socket \(path) does not take connections")
        case let error as SocketAddressError where error == .unixDomainSocketPathTooLong:
            VarlinkClientError(.system, "the socket path \(path) is too long for the system: at most 107 bytes")
        default: error
        }
    }
}

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
