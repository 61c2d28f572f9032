internal import AgentLogic
internal import NIOCore
internal import SecureLink
internal import TrackWire

/// The connection itself: one attempt at a time, and the one link that came of it.
///
/// A part of the link's shell. May touch: the connector. Everything that a connection brings leaves as an ``Event`` with
/// the number of its attempt. An attempt or link that was closed says nothing any more.
final class LinkChannel {
    enum Event {
        /// TCP stands, and TLS begins.
        case transportStands
        /// The server is verified; the text names the TLS version and the cipher.
        case secured(String)
        /// The link stands, and the server is verified.
        case connected
        /// The attempt came to nothing. The time is the one at which certificates were judged.
        case failed(any Error, JudgedTime)
        case frame(ServerFrame)
        /// A part of a frame has come.
        case arriving
        /// The peer broke the protocol.
        case violation(WireError)
        /// The link ended by itself. The error is the one that ended it, when there was one.
        case closed((any Error)?)
    }

    private struct Link {
        let id: LinkID
        let channel: any Channel
        let handler: FrameHandler
    }

    private let context: ShellContext
    private let connector: any LinkConnector
    private let tell: (LinkID, Event) -> Void
    /// The attempt that was asked for last, until it is closed.
    private var wanted: LinkID?
    private var link: Link?

    init(_ context: ShellContext, connector: any LinkConnector, tell: @escaping (LinkID, Event) -> Void) {
        self.context = context
        self.connector = connector
        self.tell = tell
    }

    /// The link that stands.
    var id: LinkID? { link?.id }

    func connect(_ id: LinkID, to server: AgentConfiguration.Server, judgedAt time: JudgedTime) {
        wanted = id
        let own = NIOLoopBound(self, eventLoop: context.loop)
        let handler = NIOLoopBound(FrameHandler { event in own.value.said(event, id) }, eventLoop: context.loop)
        connector.connect(to: server, verificationTime: time.seconds, on: context.loop) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(handler.value)
                own.value.say(.transportStands, id)
            }
        }
        .assumeIsolated()
        .whenComplete { [self] result in
            switch result {
            case .success(let channel):
                guard wanted == id else {
                    // The attempt was given up; there may be another link already.
                    handler.value.detach()
                    channel.close(promise: nil)
                    return
                }
                link = Link(id: id, channel: channel, handler: handler.value)
                tell(id, .connected)
            case .failure(let error):
                // The end of an attempt that was given up says nothing about the present attempt.
                guard wanted == id else { return }
                tell(id, .failed(error, time))
            }
        }
    }

    /// Gives an attempt up, or closes its link when the frames that were written before have left. True when it was the
    /// link that stood.
    func close(_ id: LinkID) -> Bool {
        if wanted == id { wanted = nil }
        guard let link, link.id == id else { return false }
        self.link = nil
        link.handler.detach()
        // The link's own limits bound how long the last frames may take.
        link.channel.close(promise: nil)
        return true
    }

    /// Writes a message on the link that stands; without a link it is dropped.
    func send(_ message: ClientFrame.OneOf_Message) {
        guard link != nil else { return }
        send(WireCodec.encode(ClientFrame(message)))
    }

    /// The same with an encoded frame.
    func send(_ frame: [UInt8]) {
        link?.channel.writeAndFlush(ByteBuffer(bytes: frame), promise: nil)
    }

    /// An attempt that was given up says nothing any more.
    private func say(_ event: Event, _ id: LinkID) {
        if wanted == id { tell(id, event) }
    }

    private func said(_ event: FrameHandler.Event, _ id: LinkID) {
        switch event {
        case .secured(let encryption): say(.secured(encryption), id)
        case .frame(let frame): tell(id, .frame(frame))
        case .arriving: tell(id, .arriving)
        case .violation(let error): tell(id, .violation(error))
        case .closed(let error):
            // While connecting, the connection attempt itself tells the reason.
            guard let link, link.id == id else { return }
            self.link = nil
            tell(id, .closed(error))
        }
    }
}

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
