internal import NIOCore
internal import SecureLink

/// Gives the connection's bytes to the reader, and the reader's result to the promise.
final class HTTPExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var reader: HTTPAnswerReader
    private let answered: EventLoopPromise<HTTPAnswer>
    /// Why the connection ended, when it did not end well.
    private var trouble: (any Error)?

    init(_ limits: HTTPLimits, _ answered: EventLoopPromise<HTTPAnswer>) {
        reader = HTTPAnswerReader(limits: limits)
        self.answered = answered
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        take(reader.received(Array(unwrapInboundIn(data).readableBytesView)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        trouble = trouble ?? error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        take(reader.ended(isWhole: trouble == nil))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        answered.fail(trouble.map { HTTPExchangeError($0) } ?? HTTPExchangeError(.cut, "the connection ended"))
    }

    private func take(_ action: HTTPAnswerReader.Action) {
        switch action {
        case .wait: break
        case .done(let answer): answered.succeed(answer)
        case .fail(let error):
            // A broken connection says more than an answer that ends too early. Without TLS's goodbye it is only cut.
            if error.code == .cut, let trouble = trouble as? SecureLinkError, trouble.code != .closedByPeer {
                answered.fail(HTTPExchangeError(trouble))
            } else {
                answered.fail(error)
            }
        }
    }
}
