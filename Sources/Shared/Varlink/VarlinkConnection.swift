import JSON
internal import LocalSocket
import NIOCore

/// One client's connection: takes its requests one after the other and writes their answers in that order.
///
/// The next request is looked at when the answer before it has left: a client that does not read costs one answer. After a few
/// answers the other connections of the loop are served first: a client that sends many requests ahead delays nobody for long.
final class VarlinkConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// Reading; to `asking` or `streaming` with the next request, to `closing` with rubbish.
        case idle
        /// A handler is at work; to `answering`, or to `idle` after a oneway call.
        case asking
        /// Many replies; to `answering` with the last.
        case streaming(VarlinkReplyStream)
        /// The only or last reply is on its way to the client; to `idle`, or `closing` when it is not taken.
        case answering
        /// Nothing more is read.
        case closing
    }

    private enum Deadline: Hashable {
        case request, restOfRequest, answer
    }

    /// Requests that are answered before the other connections are served.
    static let requestsInARow = 8

    private let router: VarlinkRouter
    private let limits: VarlinkServer.Limits
    private let peer: PeerCredentials
    private let number: UInt64
    private var context: ChannelHandlerContext?
    private var splitter: MessageSplitter
    private var state = State.idle
    private var isAdvancing = false
    /// Requests may be there, and the other connections are served first.
    private var isYielding = false
    private var isReadHeld = false
    /// Bytes written and not yet taken by the kernel.
    private var outstandingBytes = 0
    private var deadline: (Deadline, Scheduled<Void>)?

    init(router: VarlinkRouter, limits: VarlinkServer.Limits, peer: PeerCredentials) {
        self.router = router
        self.limits = limits
        self.peer = peer
        number = router.makeConnectionNumber()
        splitter = MessageSplitter(maximumMessageBytes: limits.messageBytes)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { expect(.request) }
    }

    func channelActive(context: ChannelHandlerContext) {
        expect(.request)
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        over()
    }

    func channelInactive(context: ChannelHandlerContext) {
        over()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close()
    }

    func read(context: ChannelHandlerContext) {
        // What a busy client has sent ahead waits in its own socket buffer.
        if case .idle = state, !isYielding {
            context.read()
        } else if splitter.bufferedBytes < limits.pipelineBytes {
            context.read()
        } else {
            isReadHeld = true
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .closing = state { return }
        var bytes = unwrapInboundIn(data)
        splitter.append(&bytes)
        advance()
    }

    // MARK: - Requests

    private func advance() {
        // An answer may be there and gone before the call returns: a loop, not a recursion as deep as the pipeline.
        guard !isAdvancing, !isYielding else { return }
        isAdvancing = true
        var taken = 0
        while case .idle = state, let loop = context?.eventLoop {
            if taken == Self.requestsInARow {
                yield(on: loop)
                break
            }
            switch splitter.next() {
            case .message(let bytes):
                taken += 1
                take(bytes)
            case .incomplete:
                expect(splitter.bufferedBytes == 0 ? .request : .restOfRequest)
                isAdvancing = false
                return resumeReading()
            case .tooLarge: refuse()
            }
        }
        isAdvancing = false
    }

    /// Goes on after what the loop has to do for others.
    private func yield(on loop: any EventLoop) {
        isYielding = true
        loop.assumeIsolated().execute {
            self.isYielding = false
            self.advance()
        }
    }

    private func resumeReading() {
        guard isReadHeld else { return }
        isReadHeld = false
        context?.read()
    }

    private func take(_ bytes: [UInt8]) {
        expect(nil)
        guard let message = try? JSONReader.value(of: bytes) else { return refuse() }
        let request: VarlinkRequest
        do {
            request = try VarlinkRequest(message)
        } catch {
            return answer(VarlinkFrame(error: error))
        }
        guard let context else { return }
        let loop = context.eventLoop
        let connection = VarlinkClientConnection(number: number, closed: context.channel.closeFuture)
        switch router.answer(request, peer: peer, connection: connection, on: loop) {
        case .reply(let future):
            state = .asking
            future.hop(to: loop).assumeIsolated().whenComplete { result in
                self.answered(request, result)
            }
        case .stream(let open):
            guard request.more, !request.oneway else {
                if request.oneway { return }
                return answer(VarlinkFrame(error: .expectedMore))
            }
            let stream = VarlinkReplyStream(connection: self)
            state = .streaming(stream)
            open(stream)
        }
    }

    private func answered(_ request: VarlinkRequest, _ result: Result<JSONValue, any Error>) {
        guard case .asking = state else { return }
        switch result {
        case _ where request.oneway:
            state = .idle
            advance()
        case .success(let parameters): answer(VarlinkFrame(last: parameters))
        case .failure(let error as VarlinkError): answer(VarlinkFrame(error: error))
        // An interface turns its errors into its own; what it did not, is not for the client's eyes.
        case .failure: close()
        }
    }

    /// Rubbish: there is no telling where the next message would begin.
    private func refuse() {
        answer(VarlinkFrame(error: .invalidParameter("message")), thenClose: true)
    }

    // MARK: - Answers

    func streamReply(_ frame: VarlinkFrame) -> Bool {
        guard case .streaming = state, outstandingBytes + frame.bytes.readableBytes <= limits.streamBytes else {
            return false
        }
        write(frame) {}
        return true
    }

    func finishStream(_ frame: VarlinkFrame) {
        guard case .streaming = state else { return }
        answer(frame)
    }

    private func answer(_ frame: VarlinkFrame, thenClose: Bool = false) {
        state = .answering
        expect(.answer)
        write(frame) {
            guard case .answering = self.state else { return }
            if thenClose { return self.close() }
            self.expect(nil)
            self.state = .idle
            self.advance()
        }
    }

    private func write(_ frame: VarlinkFrame, whenTaken: @escaping () -> Void) {
        guard let context else { return }
        let size = frame.bytes.readableBytes
        outstandingBytes += size
        context.writeAndFlush(wrapOutboundOut(frame.bytes)).assumeIsolated().whenComplete { result in
            self.outstandingBytes -= size
            if case .success = result { whenTaken() }
        }
    }

    // MARK: - The end

    /// Replaces the deadline, unless it is the same one that runs already.
    private func expect(_ next: Deadline?) {
        guard deadline?.0 != next else { return }
        deadline?.1.cancel()
        deadline = nil
        guard let next, let context else { return }
        let time =
            switch next {
            case .request: limits.idleTime
            case .restOfRequest: limits.requestTime
            case .answer: limits.answerTime
            }
        deadline = (next, context.eventLoop.assumeIsolated().scheduleTask(in: time) { self.close() })
    }

    private func close() {
        guard let context else { return }
        if case .streaming(let stream) = state {
            state = .closing
            stream.peerGone()
        }
        state = .closing
        context.close(promise: nil)
    }

    private func over() {
        expect(nil)
        context = nil
        let last = state
        state = .closing
        if case .streaming(let stream) = last { stream.peerGone() }
    }
}
