import NIOCore

/// Stands before everything else in a connection's pipeline, TLS included: counts what comes from the wire for its
/// ``ConnectionGuard``, and ends the connection without the goodbye of TLS, which would wait for the client.
final class ArrivalMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let owner: ConnectionGuard
    private var context: ChannelHandlerContext?

    init(_ owner: ConnectionGuard) {
        self.owner = owner
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard owner.arrived(unwrapInboundIn(data).readableBytes) else { return }
        context.fireChannelRead(data)
    }

    func close() { context?.close(promise: nil) }
}
