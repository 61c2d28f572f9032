import Exposition
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The metrics' own listener as a service. Throws ``MetricsListenerError`` when it cannot listen.
struct MetricsService: Service {
    let address: MetricsAddress
    let figures: ServerFigures
    let logger: Logger
    let onBound: @Sendable (Int) -> Void

    func run() async throws {
        let figures = figures
        let listener = try await MetricsListener.start(on: address, group: MultiThreadedEventLoopGroup.singleton) {
            loop in
            // The page looks at files: the event loop serves the devices meanwhile.
            loop.makeFutureWithTask { await figures.page().text }
        }.get()
        if !address.isLocal {
            logger.warning(
                "the metrics can be read by everyone who reaches their address",
                metadata: ["address": "\(address)"])
        }
        onBound(listener.port ?? 0)
        try? await gracefulShutdown()
        try? await listener.close().get()
    }
}
