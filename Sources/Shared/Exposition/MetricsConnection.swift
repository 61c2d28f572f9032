internal import NIOCore

/// One connection: a request, its answer, the end. What comes after the request is read and dropped, so that closing
/// does not take the answer away from a client that still sends.
final class MetricsConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let time: TimeAmount
    private let page: MetricsListener.Page
    private let onServed: (Bool) -> Void
    private var request = MetricsRequest()
    private var isAnswered = false
    private var isSent = false
    private var hasInputEnded = false
    private var deadline: Scheduled<Void>?

    /// `onServed` is told true when the request is whole, and false when its answer goes out.
    init(time: TimeAmount, page: @escaping MetricsListener.Page, onServed: @escaping (Bool) -> Void) {
        self.time = time
        self.page = page
        self.onServed = onServed
    }

    // The handler is added before a server's connection is active.
    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered, let answer = request.take(unwrapInboundIn(data).readableBytesView) else { return }
        isAnswered = true
        onServed(true)
        let channel = context.channel
        switch answer {
        case .refused(let refusal): send(MetricsRequest.response(refusal), to: channel)
        case .page(let isBodyWanted):
            page(context.eventLoop).hop(to: context.eventLoop).assumeIsolated().whenComplete { [self] result in
                switch result {
                case .success(let page):
                    send(MetricsRequest.response(page: page, isBodyWanted: isBodyWanted), to: channel)
                case .failure: channel.close(promise: nil)
                }
            }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        hasInputEnded = true
        // Who has not asked cannot be answered; who has asked gets the answer first.
        if !isAnswered || isSent { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func send(_ response: [UInt8], to channel: any Channel) {
        onServed(false)
        channel.writeAndFlush(ByteBuffer(bytes: response)).assumeIsolated().whenComplete { [self] _ in
            isSent = true
            channel.close(mode: hasInputEnded ? .all : .output, promise: nil)
        }
    }
}
