package import NIOCore

/// The server of the contract: one connection's handler, above whatever carries the bytes. On one event loop.
package final class LinkPeer: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let behaviour: LinkScript.Peer
    private let reset: () -> Void
    package private(set) var record = LinkPeerRecord()

    /// `reset` ends the connection as a kernel does whose process died.
    package init(_ behaviour: LinkScript.Peer, reset: @escaping () -> Void) {
        self.behaviour = behaviour
        self.reset = reset
    }

    package func channelActive(context: ChannelHandlerContext) {
        guard case .greets(let bytes, let ending) = behaviour else { return }
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        let reset = NIOLoopBound(reset, eventLoop: context.eventLoop)
        let greeting = ByteBuffer(bytes: LinkScript.pattern(bytes))
        context.value.writeAndFlush(wrapOutboundOut(greeting)).whenComplete { _ in
            switch ending {
            case .stays: break
            case .closes: context.value.close(promise: nil)
            case .resets: reset.value()
            }
        }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        record.received += bytes.readableBytesView
        if behaviour == .echoes { context.writeAndFlush(wrapOutboundOut(bytes), promise: nil) }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    package func channelInactive(context: ChannelHandlerContext) { record.ends += 1 }
}
