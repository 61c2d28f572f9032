import Glibc
import JSON
import NIOCore
import Synchronization

/// One reply as the client takes it.
struct VarlinkReply: Hashable, Sendable {
    let parameters: JSONValue
    /// Others follow.
    let continues: Bool

    init(_ message: JSONValue) throws {
        guard case .object(let members) = message else {
            throw VarlinkClientError(.malformed, "the service sent something that is no reply")
        }
        if let name = members["error"], name != .null {
            guard let name = name.stringValue else {
                throw VarlinkClientError(.malformed, "the service sent an error without a name")
            }
            throw VarlinkError(name: name, parameters: members["parameters"]?.objectValue ?? [:])
        }
        parameters = members["parameters"] ?? [:]
        continues = members["continues"]?.boolValue ?? false
    }
}

/// Reads replies as they are asked for: what nobody asks for stays in the kernel and holds the service back.
final class VarlinkReplyReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var splitter: MessageSplitter
    private var waiting: EventLoopPromise<VarlinkReply>?
    private var failure: (any Error)?
    private var context: ChannelHandlerContext?

    init(maximumMessageBytes: Int) {
        splitter = MessageSplitter(maximumMessageBytes: maximumMessageBytes)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// The next reply. One call at a time; `time` nil waits for ever.
    func next(within time: TimeAmount?, on loop: any EventLoop) -> EventLoopFuture<VarlinkReply> {
        let promise = loop.makePromise(of: VarlinkReply.self)
        waiting?.fail(CancellationError())
        waiting = promise
        if let time {
            let timer = loop.assumeIsolated().scheduleTask(in: time) {
                self.fail(
                    VarlinkClientError(
                        .timeout, "no answer within \(time.nanoseconds / 1_000_000_000) s: the service is stuck or busy"
                    ))
            }
            promise.futureResult.whenComplete { _ in timer.cancel() }
        }
        advance()
        return promise.futureResult
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        splitter.append(&bytes)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        advance()
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended(with: VarlinkClientError(.closed, "the service closed the connection before it answered"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A service that closes while the request is still being written: what it answered first is still there to read.
        guard (error as? IOError)?.errnoCode != EPIPE else { return }
        ended(with: VarlinkClientError(.closed, "the service broke the connection before it answered"))
    }

    /// A page of alarms has more values than a request may have; its bytes bound them.
    private static let rules = JSONRules(maximumValues: 1 << 20)

    private func ended(with error: any Error) {
        failure = failure ?? error
        advance()
    }

    private func fail(_ error: any Error) {
        failure = failure ?? error
        waiting?.fail(error)
        waiting = nil
        context?.close(promise: nil)
    }

    private func advance() {
        guard let promise = waiting else { return }
        switch splitter.next() {
        case .message(let bytes):
            waiting = nil
            do {
                promise.succeed(try VarlinkReply(JSONReader.value(of: bytes, Self.rules)))
            } catch let error as JSONError {
                promise.fail(VarlinkClientError(.malformed, "the service sent a reply that is \(error)"))
            } catch {
                promise.fail(error)
            }
        case .tooLarge: fail(VarlinkClientError(.malformed, "the service sent a reply that is too large"))
        case .incomplete:
            if let failure { return fail(failure) }
            context?.read()
        }
    }
}

/// The replies to one call on its connection.
struct VarlinkReplies: Sendable {
    let channel: any Channel
    let reader: NIOLoopBound<VarlinkReplyReader>

    func next(within time: TimeAmount?) -> EventLoopFuture<VarlinkReply> {
        channel.eventLoop.flatSubmit { [channel, reader] in reader.value.next(within: time, on: channel.eventLoop) }
    }

    func close() {
        channel.close(promise: nil)
    }
}

/// Replies pulled one by one; the connection is made with the first and ends with the last, or with this object.
final class VarlinkReplySource: Sendable {
    private enum State {
        case fresh
        case open(VarlinkReplies)
        case over
    }

    private let client: VarlinkClient
    private let call: VarlinkFrame
    private let state = Mutex(State.fresh)

    init(client: VarlinkClient, call: VarlinkFrame) {
        self.client = client
        self.call = call
    }

    deinit {
        end()
    }

    func next() async throws -> JSONValue? {
        let replies: VarlinkReplies
        switch state.withLock({ $0 }) {
        case .over: return nil
        case .open(let open): replies = open
        case .fresh:
            replies = try await client.open(call)
            state.withLock { $0 = .open(replies) }
        }
        do {
            let reply = try await withTaskCancellationHandler {
                try await replies.next(within: nil).get()
            } onCancel: {
                replies.close()
            }
            if !reply.continues { end() }
            return reply.parameters
        } catch {
            end()
            if Task.isCancelled { throw CancellationError() }
            throw error
        }
    }

    private func end() {
        state.withLock { state in
            if case .open(let replies) = state { replies.close() }
            state = .over
        }
    }
}
