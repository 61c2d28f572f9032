internal import AgentControl
internal import Logging
internal import NIOCore
internal import Systemd
internal import Varlink

/// The control socket of the process. While something is in its way, the agent tracks without it and tries again.
///
/// May touch: the Varlink server, one timer, the journal.
final class ControlSocket {
    /// Between two tries.
    private static let interval = TimeAmount.seconds(5)

    private let options: VarlinkServer.Options
    private let interfaces: [any VarlinkInterface]
    private let log: Logger
    private let loop: any EventLoop
    private let changed: () -> Void
    private var server: VarlinkServer?
    private var timer: Scheduled<Void>?
    private var isClosed = false
    /// What is in the way; nil when the socket is open, and before the first try has ended.
    private(set) var obstacle: String?

    /// `changed` is called when ``obstacle`` is another.
    init(
        _ options: VarlinkServer.Options, _ interfaces: [any VarlinkInterface], log: Logger, loop: any EventLoop,
        changed: @escaping () -> Void
    ) {
        self.options = options
        self.interfaces = interfaces
        self.log = log
        self.loop = loop
        self.changed = changed
    }

    var isOpen: Bool { server != nil }

    /// Completes when the first try has ended, one way or the other.
    func open() -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        VarlinkServer.start(options, interfaces: interfaces, on: loop).assumeIsolated().whenComplete { [self] result in
            switch result {
            case .success(let server): opened(server)
            case .failure(let error): refused("\(error)")
            }
            promise.succeed()
        }
        return promise.futureResult
    }

    private func opened(_ server: VarlinkServer) {
        guard !isClosed else {
            _ = server.close()
            return
        }
        self.server = server
        guard obstacle != nil else { return }
        obstacle = nil
        log.notice("The control socket is open", metadata: .event(.controlSocketOpened, ["socket": "\(options.path)"]))
        changed()
    }

    private func refused(_ reason: String) {
        guard !isClosed else { return }
        timer = loop.assumeIsolated().scheduleTask(in: Self.interval) { [self] in _ = open() }
        guard reason != obstacle else { return }
        obstacle = reason
        log.error(
            "The control socket cannot be opened, and the agent tracks without it",
            metadata: .event(.controlSocketFailed, ["reason": "\(reason)"]))
        changed()
    }

    /// Completes when no client is connected any more and the socket's file is gone.
    func close() -> EventLoopFuture<Void> {
        isClosed = true
        timer?.cancel()
        return server?.close() ?? loop.makeSucceededVoidFuture()
    }
}
