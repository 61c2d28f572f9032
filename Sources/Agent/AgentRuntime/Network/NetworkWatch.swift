internal import CLinux
internal import Logging
internal import NIOCore
internal import NIOPosix

/// Tells when links, addresses or default routes of this machine change. Then it makes no sense to wait for the next
/// try to connect. Reads the kernel's rtnetlink(7) socket, as an event of the loop.
final class NetworkWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let onChange: () -> Void
    private let log: Logger
    private var news = NetworkNews()
    private var settling: Scheduled<Void>?
    private var channel: (any Channel)?

    /// A link that comes up tells of itself, of its addresses and of its routes, one after the other.
    private static let settle = TimeAmount.milliseconds(500)

    private init(log: Logger, onChange: @escaping () -> Void) {
        self.log = log
        self.onChange = onChange
    }

    /// Watches from now on. Where the kernel allows no watch, the agent works without one: it still tries again in
    /// time.
    static func start(on loop: any EventLoop, log: Logger, onChange: @escaping () -> Void) -> NetworkWatch {
        let watch = NetworkWatch(log: log, onChange: onChange)
        watch.open(on: loop)
        return watch
    }

    func stop() {
        settling?.cancel()
        let channel = channel
        self.channel = nil
        channel?.close(promise: nil)
    }

    private func open(on loop: any EventLoop) {
        let descriptor = saker_network_socket()
        guard descriptor >= 0 else {
            log.warning("Network changes cannot be watched", metadata: ["errno": "\(-descriptor)"])
            return
        }
        let handler = NIOLoopBound(self, eventLoop: loop)
        NIOPipeBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler.value) }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
            .assumeIsolated()
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): self.channel = channel
                case .failure(let error):
                    log.warning("Network changes cannot be watched", metadata: ["error": "\(error)"])
                }
            }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if news.take(unwrapInboundIn(data).readableBytesView) { changed(on: context.eventLoop) }
    }

    /// The kernel had more to tell than its buffer held (ENOBUFS): something changed, and a new socket goes on.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        changed(on: context.eventLoop)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard channel != nil else { return }
        channel = nil
        let loop = context.eventLoop
        loop.assumeIsolated().scheduleTask(in: .seconds(1)) { [self] in open(on: loop) }
    }

    private func changed(on loop: any EventLoop) {
        guard settling == nil else { return }
        settling = loop.assumeIsolated().scheduleTask(in: Self.settle) { [self] in
            settling = nil
            onChange()
        }
    }
}
