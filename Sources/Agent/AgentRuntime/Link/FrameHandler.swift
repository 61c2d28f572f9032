internal import NIOCore
internal import SecureLink
internal import TrackWire

/// Turns the bytes of a secure link into server frames and hands them to its owner; knows nothing of what they mean.
///
/// Lives on the agent's event loop, as its owner does.
final class FrameHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What the link told.
    enum Event {
        /// The server is verified; the text names the TLS version and the cipher.
        case secured(String)
        case frame(ServerFrame)
        /// A part of a frame has come.
        case arriving
        /// The peer broke the protocol; the link is being closed.
        case violation(WireError)
        /// The last event: the link is gone. The error is the one that ended it, when there was one.
        case closed((any Error)?)
    }

    private var decoder = FrameDecoder()
    private var onEvent: ((Event) -> Void)?
    private var failure: (any Error)?

    init(onEvent: @escaping (Event) -> Void) {
        self.onEvent = onEvent
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        decoder.append(unwrapInboundIn(data).readableBytesView)
        do {
            while onEvent != nil, let bytes = try decoder.next() {
                onEvent?(.frame(try WireCodec.decodeServer(bytes)))
            }
            if decoder.bufferedBytes > 0 { onEvent?(.arriving) }
        } catch {
            onEvent?(.violation(error))
            context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let peer = event as? TLSPeer { onEvent?(.secured("\(peer.protocolVersion) \(peer.cipher)")) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failure = failure ?? error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let tell = onEvent
        onEvent = nil
        tell?(.closed(failure))
        context.fireChannelInactive()
    }

    /// Nothing comes any more. The owner holds this handler, and what it is told with holds the owner.
    func handlerRemoved(context: ChannelHandlerContext) {
        onEvent = nil
    }

    /// The owner is no longer interested: whatever the link still says belongs to the past.
    func detach() {
        onEvent = nil
    }
}
