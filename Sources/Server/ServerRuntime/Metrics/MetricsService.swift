import Exposition
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The metrics' own listener as a service. While something is in its way, the server serves without it and tries again.
struct MetricsService: Service {
    let address: MetricsAddress
    let figures: ServerFigures
    let logger: Logger
    /// Between two tries.
    var interval = Duration.seconds(5)
    let onBound: @Sendable (Int) -> Void
    /// The first try has failed.
    let onObstacle: @Sendable () -> Void

    func run() async throws {
        guard let listener = await listen() else { return }
        if !address.isLocal {
            logger.warning(
                "the metrics can be read by everyone who reaches their address",
                metadata: ["address": "\(address)"])
        }
        onBound(listener.port ?? 0)
        try? await gracefulShutdown()
        try? await listener.close().get()
    }

    /// Nil when the server stops first.
    private func listen() async -> MetricsListener? {
        let figures = figures
        var isTold = false
        while true {
            do {
                return try await MetricsListener.start(on: address, group: MultiThreadedEventLoopGroup.singleton) {
                    loop in
                    // The page looks at files: the event loop serves the devices meanwhile.
                    loop.makeFutureWithTask { await figures.page().text }
                }.get()
            } catch {
                if !isTold {
                    logger.error(
                        "the metrics cannot be listened for: the server serves without them, and tries again",
                        metadata: ["reason": "\(error)"])
                    onObstacle()
                }
                isTold = true
            }
            do {
                try await cancelWhenGracefulShutdown { [interval] in try await Task.sleep(for: interval) }
            } catch {
                return nil
            }
        }
    }
}
