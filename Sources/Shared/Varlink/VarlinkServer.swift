internal import LocalSocket
package import NIOCore
internal import NIOPosix

/// A Varlink service on a Unix socket, on one event loop.
package final class VarlinkServer: Sendable {
    /// What one client, and all together, may cost. Sizes in bytes.
    package struct Limits: Hashable, Sendable {
        /// One message, either way its NUL not counted.
        package var messageBytes = 1_048_576
        /// Requests sent ahead while one is being answered; more wait in the client's socket.
        package var pipelineBytes = 65_536
        /// Streamed replies the client has not taken.
        package var streamBytes = 262_144
        /// Open connections; the last eighth is kept for root.
        package var connections = 64
        /// Open connections of one user other than root.
        package var connectionsOfOneUser = 32
        /// A connection with nothing under way is closed after it.
        package var idleTime = TimeAmount.minutes(10)
        /// From the first byte of a request to its last.
        package var requestTime = TimeAmount.seconds(10)
        /// Until a client has taken an answer.
        package var answerTime = TimeAmount.seconds(10)

        package init() {}
    }

    package struct Options: Hashable, Sendable {
        /// Where the socket is; its directory is made when it is missing.
        package var path: String
        /// Permission bits of the socket: who may write may connect.
        package var mode: UInt32
        /// Group that the socket gets; nil leaves the process's own.
        package var group: UInt32?
        package var service: VarlinkServiceInfo
        package var limits: Limits

        package init(
            path: String, mode: UInt32 = 0o660, group: UInt32? = nil, service: VarlinkServiceInfo,
            limits: Limits = Limits()
        ) {
            self.path = path
            self.mode = mode
            self.group = group
            self.service = service
            self.limits = limits
        }
    }

    private let socket: LocalSocket
    private let clients: NIOLoopBound<VarlinkClients>

    private init(_ socket: LocalSocket, _ clients: NIOLoopBound<VarlinkClients>) {
        self.socket = socket
        self.clients = clients
    }

    /// Opens the socket and serves `interfaces` and `org.varlink.service` on it. Call this on `loop`; the interfaces are
    /// asked on the same loop. Fails with `LocalSocketError`.
    package static func start(
        _ options: Options, interfaces: [any VarlinkInterface], on loop: any EventLoop
    ) -> EventLoopFuture<VarlinkServer> {
        let router = VarlinkRouter(service: options.service, interfaces: interfaces)
        let clients = NIOLoopBound(VarlinkClients(limits: options.limits, router: router), eventLoop: loop)
        let place = LocalSocket.Place(path: options.path, mode: options.mode, group: options.group)
        return LocalSocket.listen(at: place, on: loop) {
            ServerBootstrap(group: loop, childGroup: loop)
                .serverChannelOption(.backlog, value: 64)
                // One answer at a time wakes the loop often enough; a turn takes at most so many new clients.
                .serverChannelOption(.maxMessagesPerRead, value: 8)
                .childChannelInitializer { channel in
                    PeerCredentials.read(of: channel).flatMapThrowing { peer in
                        try clients.value.admit(channel, peer)
                    }
                }
        }.map { VarlinkServer($0, clients) }
    }

    /// Takes no more clients, closes the connections of all clients and removes the socket file.
    package func close() -> EventLoopFuture<Void> {
        socket.eventLoop.flatSubmit { [socket, clients] in
            let closed = socket.close()
            clients.value.closeAll()
            return closed
        }
    }

    /// Clients connected now.
    package var connectionCount: EventLoopFuture<Int> {
        socket.eventLoop.submit { [clients] in clients.value.count }
    }
}

/// The clients that are connected. Confined to the server's event loop.
final class VarlinkClients {
    private let limits: VarlinkServer.Limits
    private let router: VarlinkRouter
    private var channels: [ObjectIdentifier: (channel: any Channel, user: UInt32)] = [:]

    init(limits: VarlinkServer.Limits, router: VarlinkRouter) {
        self.limits = limits
        self.router = router
    }

    var count: Int { channels.count }

    struct Full: Error {}

    /// Sets up a new connection; throws, which closes it, when there are too many.
    func admit(_ channel: any Channel, _ peer: PeerCredentials) throws {
        let reserved = peer.user == 0 ? 0 : limits.connections / 8
        let ofUser = channels.values.count { $0.user == peer.user }
        guard channels.count < limits.connections - reserved,
            peer.user == 0 || ofUser < limits.connectionsOfOneUser
        else { throw Full() }
        try channel.pipeline.syncOperations.addHandler(VarlinkConnection(router: router, limits: limits, peer: peer))
        let key = ObjectIdentifier(channel)
        channels[key] = (channel, peer.user)
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.channels[key] = nil }
    }

    func closeAll() {
        for client in channels.values { client.channel.close(promise: nil) }
    }
}
