internal import AgentLogic
internal import CLinux
internal import Logging
internal import NIOCore

/// Tells when links, addresses or default routes of this machine change. Then it makes no sense to wait for the next
/// try to connect. Reads the kernel's rtnetlink(7) socket.
final class NetworkWatch {
    private let onChange: () -> Void
    private let loop: any EventLoop
    private var news = NetworkNews()
    private var settling: Scheduled<Void>?
    private var events: KernelEvents?

    /// A link that comes up tells of itself, of its addresses and of its routes, one after the other.
    private static let settle = TimeAmount.milliseconds(500)

    private init(on loop: any EventLoop, onChange: @escaping () -> Void) {
        (self.loop, self.onChange) = (loop, onChange)
    }

    /// Watches from now on. While the kernel allows no watch, the agent works without one: it still tries again in
    /// time. `pause`: until a socket is asked for that the kernel did not give. `socket`: its number, or an error number,
    /// negative.
    static func start(
        on loop: any EventLoop, log: Logger, pause: RetryPause = RetryPause(),
        socket: @escaping () -> Int32 = { saker_network_socket() }, onChange: @escaping () -> Void
    ) -> NetworkWatch {
        let watch = NetworkWatch(on: loop, onChange: onChange)
        let events = KernelEvents(
            "Network changes", log: log, pause: pause, source: socket,
            read: { [unowned watch] bytes in
                if watch.news.take(bytes.readableBytesView) { watch.changed() }
            }, missed: { [unowned watch] in watch.changed() })
        watch.events = events
        events.open(on: loop)
        return watch
    }

    func stop() {
        settling?.cancel()
        events?.stop()
    }

    private func changed() {
        guard settling == nil else { return }
        settling = loop.assumeIsolated().scheduleTask(in: Self.settle) { [self] in
            settling = nil
            onChange()
        }
    }
}
