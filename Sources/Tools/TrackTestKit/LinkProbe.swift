package import NIOCore

/// The owner of a link as the agent is one: connects, has a handler behind it, writes, closes, and notes all it is told.
///
/// On one event loop, which may be a virtual one.
package final class LinkProbe: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer
    /// How an implementation connects: `LinkConnector.connect`, with the address and the loop filled in.
    package typealias Connect = (
        _ verificationTime: Int64?, _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel>

    /// What comes so long after the end would still be noted.
    private static let silence = TimeAmount.milliseconds(300)

    private let script: LinkScript
    private let loop: any EventLoop
    private let done: EventLoopPromise<LinkRecord>
    private let started: NIODeadline
    private var record = LinkRecord()
    private var channel: (any Channel)?
    private var isEnding = false
    private var hasClosed = false

    private struct InitializerFailed: Error {}

    private init(_ script: LinkScript, _ loop: any EventLoop) {
        self.script = script
        self.loop = loop
        started = loop.now
        done = loop.makePromise()
    }

    /// Plays the script; completes with what was seen, also when it was not what it should be. Call it on the loop.
    package static func run(
        _ script: LinkScript, on loop: any EventLoop, connect: Connect
    ) -> EventLoopFuture<LinkRecord> {
        let probe = NIOLoopBound(LinkProbe(script, loop), eventLoop: loop)
        loop.scheduleTask(in: script.limit) { probe.value.finish(isUnfinished: true) }
        connect(script.verificationTime) { channel in
            channel.eventLoop.makeCompletedFuture {
                if script.failsToInitialize { throw InitializerFailed() }
                try channel.pipeline.syncOperations.addHandler(probe.value)
            }
        }
        .whenComplete { result in
            switch result {
            case .success(let channel): probe.value.connected(channel)
            case .failure(let error): probe.value.failed(error)
            }
        }
        return probe.value.done.futureResult
    }

    private func connected(_ channel: any Channel) {
        self.channel = channel
        record.timesConnected += 1
        if case .active = record.events.first { record.wasActiveWhenConnected = true }
        var position = 0
        for count in script.writes {
            channel.writeAndFlush(ByteBuffer(bytes: LinkScript.pattern(count, from: position)), promise: nil)
            position += count
        }
        switch script.close {
        case .never: break
        case .whenConnected: close()
        case .afterReceiving(let count): if record.received.count >= count { close() }
        }
    }

    private func failed(_ error: any Error) {
        record.connectError = error
        end()
    }

    private func close() {
        guard let channel, !hasClosed else { return }
        hasClosed = true
        channel.close(promise: nil)
        guard script.writesAfterClose > 0 else { return }
        let probe = NIOLoopBound(self, eventLoop: loop)
        channel.writeAndFlush(ByteBuffer(repeating: 0xFF, count: script.writesAfterClose)).whenComplete { result in
            if case .failure = result {
                probe.value.record.lateWriteFailed = true
            } else {
                probe.value.record.lateWriteFailed = false
            }
        }
    }

    private func end() {
        guard !isEnding else { return }
        isEnding = true
        record.duration = loop.now - started
        let probe = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: Self.silence) { probe.value.finish(isUnfinished: false) }
    }

    private func finish(isUnfinished: Bool) {
        record.isUnfinished = isUnfinished && !isEnding
        done.succeed(record)
        channel?.close(promise: nil)
    }

    // MARK: What the link tells

    package func channelActive(context: ChannelHandlerContext) { record.events.append(.active) }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if case .bytes(let count) = record.events.last {
            record.events[record.events.count - 1] = .bytes(count + bytes.readableBytes)
        } else {
            record.events.append(.bytes(bytes.readableBytes))
        }
        record.received += bytes.readableBytesView
        if case .afterReceiving(let count) = script.close, record.received.count >= count { close() }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        record.events.append(.error(error))
        context.close(promise: nil)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        record.events.append(.inactive)
        end()
    }
}

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
