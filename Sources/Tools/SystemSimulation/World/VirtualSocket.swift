internal import NIOCore
internal import SecureLink

/// One end of a virtual connection, as the channel that a process has of it.
///
/// Unchecked, because no lock guards its state: like everything of a history it is touched on the loop's one thread alone.
final class VirtualSocket: Channel, ChannelCore, @unchecked Sendable {
    let side: VirtualConnection.Side
    var connection: VirtualConnection?
    /// Sees every write, before the network does.
    var onWrite: (([UInt8]) -> Void)?
    /// Makes another frame of each that is written, after ``onWrite`` has seen it.
    var rewrite: (([UInt8]) -> [UInt8])?
    private(set) var isReading = false
    private(set) var isActive = false
    private var isOpen = true
    private var isSevered = false
    /// Bytes that may wait for a peer that takes none; a write beyond ends the connection.
    private let unsentBytes: Int
    private let loop: VirtualLoop
    private let closePromise: EventLoopPromise<Void>
    private(set) lazy var pipeline = ChannelPipeline(channel: self)

    init(side: VirtualConnection.Side, loop: VirtualLoop, unsentBytes: Int = .max) {
        self.side = side
        self.loop = loop
        self.unsentBytes = unsentBytes
        closePromise = loop.makePromise()
    }

    /// The connection stands: from here on the process hears of it.
    func begin() {
        guard isOpen else { return }
        isActive = true
        pipeline.syncOperations.fireChannelActive()
        if isActive { pipeline.read() }
    }

    // MARK: From the network

    func take(_ bytes: [UInt8]) {
        guard isOpen, !isSevered else { return }
        isReading = false
        pipeline.syncOperations.fireChannelRead(NIOAny(ByteBuffer(bytes: bytes)))
        guard isOpen, !isSevered else { return }
        pipeline.syncOperations.fireChannelReadComplete()
        if isActive { pipeline.read() }
    }

    func endedByPeer() {
        connection = nil
        shut()
    }

    func resetByPeer() {
        connection = nil
        if isOpen { pipeline.syncOperations.fireErrorCaught(SecureLinkError(.reset, "the connection was reset")) }
        shut()
    }

    /// The process is gone: its handlers hear nothing any more.
    func sever() {
        isSevered = true
        connection = nil
        shut()
    }

    private func shut() {
        guard isOpen else { return }
        isOpen = false
        isActive = false
        if !isSevered { pipeline.syncOperations.fireChannelInactive() }
        // Later, because handlers may be under way in the pipeline.
        loop.execute { [self] in
            removeHandlers(pipeline: pipeline)
            closePromise.succeed(())
        }
    }

    // MARK: From the process

    func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
        // A process that is gone hears of nothing.
        guard !isSevered else { return promise?.succeed(()) ?? () }
        guard isOpen, let connection else { return promise?.fail(ChannelError.ioOnClosedChannel) ?? () }
        let bytes = Array(unwrapData(data, as: ByteBuffer.self).readableBytesView)
        guard bytes.count <= unsentBytes - connection.unread(from: side) else {
            let error = SecureLinkError(
                .sendBufferFull, "more than \(unsentBytes) bytes wait for a peer that takes none")
            promise?.fail(error)
            pipeline.syncOperations.fireErrorCaught(error)
            return close0(error: error, mode: .all, promise: nil)
        }
        promise?.succeed(())
        onWrite?(bytes)
        connection.send(rewrite?(bytes) ?? bytes, from: side)
    }

    func flush0() {}

    func read0() {
        guard !isReading else { return }
        isReading = true
        guard let connection else { return }
        loop.execute { [side] in connection.deliver(from: side == .agent ? .server : .agent) }
    }

    func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard isOpen else { return promise?.fail(ChannelError.alreadyClosed) ?? () }
        let connection = connection
        self.connection = nil
        connection?.end(from: side)
        promise?.succeed(())
        shut()
    }

    // MARK: What NIO asks of a channel

    var allocator: ByteBufferAllocator { ByteBufferAllocator() }
    var closeFuture: EventLoopFuture<Void> { closePromise.futureResult }
    var eventLoop: any EventLoop { loop }
    var isWritable: Bool { true }
    var localAddress: SocketAddress? { nil }
    var remoteAddress: SocketAddress? { nil }
    var parent: (any Channel)? { nil }
    var _channelCore: any ChannelCore { self }

    func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
        loop.makeFailedFuture(ChannelError.operationUnsupported)
    }

    func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
        loop.makeFailedFuture(ChannelError.operationUnsupported)
    }

    func localAddress0() throws -> SocketAddress { throw ChannelError.operationUnsupported }
    func remoteAddress0() throws -> SocketAddress { throw ChannelError.operationUnsupported }
    func register0(promise: EventLoopPromise<Void>?) { promise?.fail(ChannelError.operationUnsupported) }
    func registerAlreadyConfigured0(promise: EventLoopPromise<Void>?) { register0(promise: promise) }
    func bind0(to address: SocketAddress, promise: EventLoopPromise<Void>?) { register0(promise: promise) }
    func connect0(to address: SocketAddress, promise: EventLoopPromise<Void>?) { register0(promise: promise) }

    func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }

    func channelRead0(_ data: NIOAny) {}
    func errorCaught0(error: any Error) {}
}
