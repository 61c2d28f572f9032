internal import AgentLogic
internal import CLinux
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
    private let isChange: (ByteBuffer) -> Bool
    private let onChange: () -> Void
    private let settle: TimeAmount
    private let loop: any EventLoop
    private var settling: Scheduled<Void>?
    private var channel: (any Channel)?
    private var reopening: Scheduled<Void>?
    private var pause: RetryPause
    private var isStopped = false
    /// The kernel's end, for ``FileWatch/add(_:to:)``; negative while there is none.
    private(set) var descriptor: Int32 = -1

    /// Many events at once, and never less than the longest (inotify(7), netlink(7)).
    private static let readBytes = 8192

    /// Watches from now on. `settle`: from a change until `onChange`, because changes come in groups. `pause`: until a descriptor is
    /// asked for again. `isChange`: whether what was read is a change. After a time without a descriptor there may have been one.
    init(
        _ subject: String, on loop: any EventLoop, log: Logger, pause: RetryPause, settle: TimeAmount,
        source: @escaping () -> Int32, isChange: @escaping (ByteBuffer) -> Bool = { _ in true },
        onChange: @escaping () -> Void
    ) {
        (self.subject, self.loop, self.log, self.pause, self.settle) = (subject, loop, log, pause, settle)
        (self.source, self.isChange, self.onChange) = (source, isChange, onChange)
        open()
    }

    private func open() {
        reopening = nil
        guard !isStopped else { return }
        let new = source()
        guard new >= 0 else { return failed(["errno": "\(-new)"]) }
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
                case .success(let channel): opened(channel)
                case .failure(let error):
                    if !isOwned.value { close(new) }
                    failed(["error": "\(error)"])
                }
            }
    }

    func stop() {
        isStopped = true
        settling?.cancel()
        reopening?.cancel()
        channel?.close(promise: nil)
        channel = nil
        descriptor = -1
    }

    private func changed() {
        guard settling == nil else { return }
        settling = loop.assumeIsolated().scheduleTask(in: settle) { [self] in
            settling = nil
            onChange()
        }
    }

    private func opened(_ channel: any Channel) {
        guard !isStopped else { return channel.close(promise: nil) }
        // It may have ended before anybody knew that it was open.
        guard channel.isActive else { return failed(["error": "it has ended"]) }
        self.channel = channel
        guard pause.isFailing else { return }
        pause.succeeded()
        log.notice("\(subject) are watched again")
        changed()
    }

    private func failed(_ fields: Logger.Metadata) {
        descriptor = -1
        guard !isStopped else { return }
        if !pause.isFailing { log.warning("\(subject) cannot be watched for now", metadata: fields) }
        reopenLater()
    }

    private func reopenLater() {
        reopening?.cancel()
        reopening = loop.assumeIsolated().scheduleTask(in: .milliseconds(pause.failed())) { [self] in open() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isStopped, isChange(unwrapInboundIn(data)) { changed() }
    }

    /// The kernel had more to tell than its buffer held (ENOBUFS): a new descriptor goes on.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isStopped { changed() }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard channel != nil, !isStopped else { return }
        (channel, descriptor) = (nil, -1)
        reopenLater()
    }
}

/// Tells when something in the directories of some files changes: the kernel's inotify(7), as an event of the loop.
///
/// It watches directories, because nobody writes to a file that is replaced by renaming another file over it. It does
/// not tell what changed: the listener looks at its files. While the kernel allows no watch, the listener looks at them at each
/// connection.
enum FileWatch {
    /// Watches nothing yet. After `onChange` the directories must be added once more: the kernel's end may be another one.
    static func start(
        on loop: any EventLoop, log: Logger, pause: RetryPause = RetryPause(),
        source: @escaping () -> Int32 = { saker_file_watch() }, onChange: @escaping () -> Void
    ) -> KernelEvents {
        // A certificate and its key are rarely written at the same instant.
        KernelEvents(
            "Changes of certificates", on: loop, log: log, pause: pause, settle: .seconds(1), source: source,
            onChange: onChange)
    }

    /// Watches the directories of these files, those of their targets included when they are links. May wait for a disk;
    /// on any thread.
    static func add(_ files: [String], to descriptor: Int32) {
        guard descriptor >= 0 else { return }
        for file in files {
            _ = saker_file_watch_directory(descriptor, directory(of: file))
            guard let target = realpath(file, nil) else { continue }
            _ = saker_file_watch_directory(descriptor, directory(of: String(cString: target)))
            free(target)
        }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
