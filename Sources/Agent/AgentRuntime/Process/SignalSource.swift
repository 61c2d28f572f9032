// For `sigset_t` too, which the headers of this door bring along.
internal import CLinux
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Signals as events of the loop: the handler only writes the signal's number into a pipe, because a signal handler may
/// do little else.
final class SignalSource: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// What the agent acts on; everything else keeps its default.
    private static let handled = [SIGTERM, SIGINT, SIGHUP, SIGUSR1]
    /// The writing end of the pipe. Read by the handler; set before any is installed.
    private static let writingEnd = Atomic<Int32>(-1)

    private let onSignal: (Int32) -> Void

    private init(onSignal: @escaping (Int32) -> Void) {
        self.onSignal = onSignal
    }

    /// Delivers signals on the loop from now on; once in a process.
    ///
    /// SIGPIPE is ignored, so that a write to a peer that has gone away fails with an error.
    static func start(on loop: any EventLoop, _ onSignal: @escaping (Int32) -> Void) -> EventLoopFuture<Void> {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return loop.makeFailedFuture(IOError(errnoCode: errno, reason: "pipe")) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        writingEnd.store(ends[1], ordering: .sequentiallyConsistent)
        let handler = NIOLoopBound(SignalSource(onSignal: onSignal), eventLoop: loop)
        return NIOPipeBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(handler.value)
                }
            }
            .takingOwnershipOfDescriptor(input: ends[0])
            .map { _ in Self.install() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for number in unwrapInboundIn(data).readableBytesView { onSignal(Int32(number)) }
    }

    private static func install() {
        signal(SIGPIPE, SIG_IGN)
        for number in handled {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                // A full pipe holds thousands of signals that nobody took: this one would not matter.
                write(SignalSource.writingEnd.load(ordering: .relaxed), &byte, 1)
                errno = before
            }
            action.sa_flags = SA_RESTART
            sigaction(number, &action, nil)
        }
        // Whoever started this process may have blocked them, and a mask is inherited.
        var handledSet = sigset_t()
        sigemptyset(&handledSet)
        for number in handled { sigaddset(&handledSet, number) }
        pthread_sigmask(SIG_UNBLOCK, &handledSet, nil)
    }
}
