internal import AgentLogic
internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix

/// A descriptor through which the kernel tells of changes, as events of the loop.
///
/// A descriptor that ends, or that the kernel does not give (a process may have too many files open for a moment), is asked for
/// again, for ever.
final class KernelEvents: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Of the log, as in "Network changes".
    private let subject: String
    private let log: Logger
    /// Opens a descriptor that never blocks; a negative error number when there is none.
    private let source: () -> Int32
    private let read: (ByteBuffer) -> Void
    private let missed: () -> Void
    private var channel: (any Channel)?
    private var reopening: Scheduled<Void>?
    private var pause: RetryPause
    private var isStopped = false
    /// The kernel's end; negative while there is none.
    private(set) var descriptor: Int32 = -1

    /// Many events at once, and never less than the longest (inotify(7), netlink(7)).
    private static let readBytes = 8192

    /// `read`: what the kernel has told. `missed`: it may have told more, which nobody has heard; also after a time without a
    /// descriptor.
    init(
        _ subject: String, log: Logger, pause: RetryPause, source: @escaping () -> Int32,
        read: @escaping (ByteBuffer) -> Void, missed: @escaping () -> Void
    ) {
        (self.subject, self.log, self.pause, self.source) = (subject, log, pause, source)
        (self.read, self.missed) = (read, missed)
    }

    func open(on loop: any EventLoop) {
        reopening = nil
        guard !isStopped else { return }
        let new = source()
        guard new >= 0 else { return failed(["errno": "\(-new)"], on: loop) }
        descriptor = new
        let handler = NIOLoopBound(self, eventLoop: loop)
        let isOwned = NIOLoopBoundBox(false, eventLoop: loop)
        NIOPipeBootstrap(group: loop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes))
            .channelInitializer { channel in
                // From now on the channel closes it, also when the loop cannot watch it.
                isOwned.value = true
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(handler.value)
                }
            }
            .takingOwnershipOfDescriptor(input: new)
            .assumeIsolated()
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): opened(channel, on: loop)
                case .failure(let error):
                    if !isOwned.value { close(new) }
                    failed(["error": "\(error)"], on: loop)
                }
            }
    }

    func stop() {
        isStopped = true
        reopening?.cancel()
        channel?.close(promise: nil)
        channel = nil
        descriptor = -1
    }

    private func opened(_ channel: any Channel, on loop: any EventLoop) {
        guard !isStopped else { return channel.close(promise: nil) }
        // It may have ended before anybody knew that it was open.
        guard channel.isActive else { return failed(["error": "it has ended"], on: loop) }
        self.channel = channel
        guard pause.isFailing else { return }
        pause.succeeded()
        log.notice("\(subject) are watched again")
        missed()
    }

    private func failed(_ fields: Logger.Metadata, on loop: any EventLoop) {
        descriptor = -1
        guard !isStopped else { return }
        if !pause.isFailing { log.warning("\(subject) cannot be watched for now", metadata: fields) }
        reopenLater(on: loop)
    }

    private func reopenLater(on loop: any EventLoop) {
        reopening?.cancel()
        reopening = loop.assumeIsolated().scheduleTask(in: .milliseconds(pause.failed())) { [self] in open(on: loop) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isStopped { read(unwrapInboundIn(data)) }
    }

    /// The kernel had more to tell than its buffer held (ENOBUFS): a new descriptor goes on.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isStopped { missed() }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard channel != nil, !isStopped else { return }
        (channel, descriptor) = (nil, -1)
        reopenLater(on: context.eventLoop)
    }
}
