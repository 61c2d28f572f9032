import NIOCore

/// Closes a connection that takes too long: to send a whole request, to take an answer, or between the two.
///
/// A client that sends one byte now and then never lets a connection fall idle; so the clock runs until the request
/// is complete, not until the next byte. While the answer is being made the clock stands still.
final class ConnectionDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias InboundOut = NIOAny
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    /// Sent down the pipeline when a whole request has arrived.
    enum Event: Sendable {
        case requestComplete
    }

    private let limit: TimeAmount
    private var pending: Scheduled<Void>?

    init(_ limit: TimeAmount) {
        self.limit = limit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        start(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        pending?.cancel()
        pending = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        pending?.cancel()
        pending = nil
        context.fireChannelInactive()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard case Event.requestComplete? = event as? Event else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        pending?.cancel()
        pending = nil
        promise?.succeed()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        start(context)
        // Every piece that the client takes gives it the whole time for the next.
        let promise = promise ?? context.eventLoop.makePromise()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        promise.futureResult.whenSuccess {
            let (handler, context) = bound.value
            if context.channel.isActive { handler.start(context) }
        }
        context.write(data, promise: promise)
    }

    private func start(_ context: ChannelHandlerContext) {
        pending?.cancel()
        let channel = context.channel
        pending = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    }
}
