internal import CLinux
internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix

/// Tells when something in the directories of some files changes: the kernel's inotify(7), as an event of the loop.
///
/// It watches directories, because nobody writes to a file that is replaced by renaming another file over it. It does
/// not tell what changed: the listener looks at its files.
final class FileWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The kernel's end, for ``add(_:to:)``; negative where the kernel has none to give.
    let descriptor: Int32
    private let onChange: () -> Void
    private var settling: Scheduled<Void>?
    private var channel: (any Channel)?

    /// A certificate and its key are rarely written at the same instant.
    private static let settle = TimeAmount.seconds(1)
    /// Many events at once, and never less than the longest (inotify(7)).
    private static let readBytes = 4096

    private init(descriptor: Int32, onChange: @escaping () -> Void) {
        self.descriptor = descriptor
        self.onChange = onChange
    }

    /// Watches nothing yet. Nil where the kernel allows no watch; that is logged.
    static func start(on loop: any EventLoop, log: Logger, onChange: @escaping () -> Void) -> FileWatch? {
        let descriptor = saker_file_watch()
        guard descriptor >= 0 else {
            log.warning(
                "Changes of certificates cannot be watched: they are looked for at each connection",
                metadata: ["errno": "\(-descriptor)"])
            return nil
        }
        let watch = FileWatch(descriptor: descriptor, onChange: onChange)
        let handler = NIOLoopBound(watch, eventLoop: loop)
        NIOPipeBootstrap(group: loop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readBytes))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler.value) }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
            .assumeIsolated()
            .whenSuccess { watch.channel = $0 }
        return watch
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

    func stop() {
        settling?.cancel()
        channel?.close(promise: nil)
        channel = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard settling == nil else { return }
        settling = context.eventLoop.assumeIsolated().scheduleTask(in: Self.settle) { [self] in
            settling = nil
            onChange()
        }
    }
}
