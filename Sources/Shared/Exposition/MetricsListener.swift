package import NIOCore
internal import NIOPosix
internal import Synchronization
internal import Varlink

/// Answers `GET /metrics` on one address, over plain HTTP/1: one request a connection, everything bounded.
package final class MetricsListener: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Open at one time; one more is closed at once.
        package var connections = 8
        /// For the request to arrive and the answer to be taken.
        package var time = TimeAmount.seconds(10)

        package init() {}
    }

    /// Makes the page of one scrape, to be completed on the given loop.
    package typealias Page = @Sendable (any EventLoop) -> EventLoopFuture<[UInt8]>

    private let listener: any Channel
    private let file: SocketFile?

    private init(_ listener: any Channel, _ file: SocketFile?) {
        self.listener = listener
        self.file = file
    }

    /// Listens, with connections on the group's loops. Fails with ``MetricsListenerError``.
    package static func start(
        on address: MetricsAddress, group: any EventLoopGroup, limits: Limits = Limits(), page: @escaping Page
    ) -> EventLoopFuture<MetricsListener> {
        let loop = group.any()
        let bootstrap: @Sendable () -> ServerBootstrap = {
            Self.bootstrap(loop, group, Census(most: limits.connections), limits.time, page)
        }
        let started: EventLoopFuture<MetricsListener>
        switch address {
        case .internet(let host, let port):
            started = bootstrap().serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).map { MetricsListener($0, nil) }
        case .unix(let path):
            // Whoever can reach the directory may read numbers that name nobody.
            let file = SocketFile(path: path, mode: 0o666, group: nil)
            started = file.prepare(on: loop).flatMap { bootstrap().bind(unixDomainSocketPath: file.temporaryPath) }
                .flatMap { listener in
                    var file = file
                    do {
                        try file.publish()
                    } catch {
                        return listener.close().flatMapThrowing { throw error }
                    }
                    return loop.makeSucceededFuture(MetricsListener(listener, file))
                }
        }
        return started.flatMapErrorThrowing { throw MetricsListenerError(address, $0) }
    }

    private static func bootstrap(
        _ loop: any EventLoop, _ group: any EventLoopGroup, _ census: Census, _ time: TimeAmount, _ page: @escaping Page
    ) -> ServerBootstrap {
        ServerBootstrap(group: loop, childGroup: group)
            .serverChannelOption(.backlog, value: 16)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard census.enter() else { throw TooMany() }
                    channel.closeFuture.whenComplete { _ in census.leave() }
                    try channel.pipeline.syncOperations.addHandler(MetricsConnection(time: time, page: page))
                }
            }
    }

    /// The port it listens on; nil for a Unix socket.
    package var port: Int? { listener.localAddress?.port }

    /// Takes no more connections and removes the socket's file; those that are open end by themselves in their time.
    package func close() -> EventLoopFuture<Void> {
        file?.remove()
        return listener.close().flatMapError { [listener] _ in listener.eventLoop.makeSucceededVoidFuture() }
    }

    private struct TooMany: Error {}

    private final class Census: Sendable {
        private let most: Int
        private let open = Atomic(0)

        init(most: Int) {
            self.most = most
        }

        func enter() -> Bool {
            if open.wrappingAdd(1, ordering: .relaxed).newValue <= most { return true }
            leave()
            return false
        }

        func leave() { open.wrappingSubtract(1, ordering: .relaxed) }
    }
}

/// Why the metrics cannot be listened for, with what to do.
package struct MetricsListenerError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ address: MetricsAddress, _ error: any Error) {
        description =
            "[metrics] listen: \(address) cannot be listened on (\(error)): choose another place, or end what uses it"
    }
}
