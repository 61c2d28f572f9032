internal import Admission
internal import LocalSocket
package import NIOCore
internal import NIOPosix
internal import Synchronization

/// Answers `GET /metrics` on one address, over plain HTTP/1. Each connection carries one request; sizes, times and
/// connections are bounded.
package final class MetricsListener: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Open at one time. For one more the oldest goes whose page is not being made; when all wait for a page, the
        /// newest.
        package var connections = 8
        /// Of these from one address; a Unix socket's clients have all.
        package var connectionsPerAddress = 4
        /// For the request to arrive and the answer to be taken.
        package var time = TimeAmount.seconds(10)

        package init() {}
    }

    /// Makes the page of one scrape, to be completed on the given loop.
    package typealias Page = @Sendable (any EventLoop) -> EventLoopFuture<[UInt8]>

    private enum Socket {
        case local(LocalSocket)
        case internet(any Channel)
    }

    private let socket: Socket

    private init(_ socket: Socket) {
        self.socket = socket
    }

    /// Listens, with connections on the group's loops. Fails with ``MetricsListenerError``.
    package static func start(
        on address: MetricsAddress, group: any EventLoopGroup, limits: Limits = Limits(), page: @escaping Page
    ) -> EventLoopFuture<MetricsListener> {
        let loop = group.any()
        let bootstrap: @Sendable () -> ServerBootstrap = {
            Self.bootstrap(loop, group, Census(limits, address), limits.time, page)
        }
        let started: EventLoopFuture<MetricsListener>
        switch address {
        case .internet(let host, let port):
            started = bootstrap().serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).map { MetricsListener(.internet($0)) }
        case .unix(let path):
            // Whoever can reach the directory may read the page, because its numbers name nobody.
            started = LocalSocket.listen(at: .init(path: path, mode: 0o666), on: loop, bootstrap: bootstrap)
                .map { MetricsListener(.local($0)) }
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
                    guard census.enter(channel) else { throw TooMany() }
                    try channel.pipeline.syncOperations.addHandler(
                        MetricsConnection(time: time, page: page) { census.note(channel, isServed: $0) })
                }
            }
    }

    /// The port that it listens on; nil for a Unix socket.
    package var port: Int? {
        switch socket {
        case .local: nil
        case .internet(let listener): listener.localAddress?.port
        }
    }

    /// Takes no more connections and removes the socket's file. Open connections end by themselves within their time limit.
    package func close() -> EventLoopFuture<Void> {
        switch socket {
        case .local(let socket): socket.close()
        case .internet(let listener):
            listener.close().flatMapError { _ in listener.eventLoop.makeSucceededVoidFuture() }
        }
    }

    private struct TooMany: Error {}

    private final class Census: Sendable {
        private struct State {
            var table: AdmissionTable<ObjectIdentifier>
            var channels: [ObjectIdentifier: any Channel] = [:]
        }

        private let state: Mutex<State>

        init(_ limits: Limits, _ address: MetricsAddress) {
            let perAddress: Int =
                switch address {
                case .unix: limits.connections
                case .internet: limits.connectionsPerAddress
                }
            state = Mutex(State(table: AdmissionTable(.init(connections: limits.connections, perAddress: perAddress))))
        }

        /// Another connection may go for it.
        func enter(_ channel: any Channel) -> Bool {
            let id = ObjectIdentifier(channel)
            let (isAdmitted, gone) = state.withLock { state -> (Bool, (any Channel)?) in
                switch state.table.enter(id, from: ClientAddress.group(channel.remoteAddress)) {
                case .refused: return (false, nil)
                case .admitted:
                    state.channels[id] = channel
                    return (true, nil)
                case .replacing(let other):
                    state.channels[id] = channel
                    return (true, state.channels.removeValue(forKey: other))
                }
            }
            gone?.close(promise: nil)
            if isAdmitted { channel.closeFuture.whenComplete { [self] _ in leave(id) } }
            return isAdmitted
        }

        func note(_ channel: any Channel, isServed: Bool) {
            state.withLock { $0.table.note(ObjectIdentifier(channel), isServed ? .busy : .resting) }
        }

        private func leave(_ id: ObjectIdentifier) {
            state.withLock { state in
                state.table.leave(id)
                state.channels[id] = nil
            }
        }
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
