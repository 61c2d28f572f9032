internal import JSON
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

/// Finds the interface and method of a request, and answers for those that do not exist.
final class VarlinkRouter {
    private let interfaces: [String: any VarlinkInterface]
    private var connections: UInt64 = 0

    init(service: VarlinkServiceInfo, interfaces: [any VarlinkInterface]) {
        let own = ServiceInterface(service: service, interfaces: interfaces)
        self.interfaces = Dictionary((interfaces + [own]).map { ($0.name, $0) }) { _, last in last }
    }

    /// A number that no other connection has.
    func makeConnectionNumber() -> UInt64 {
        connections += 1
        return connections
    }

    func answer(
        _ request: VarlinkRequest, peer: PeerCredentials, connection: VarlinkClientConnection? = nil,
        on loop: any EventLoop
    ) -> VarlinkAnswer {
        guard let dot = request.method.lastIndex(of: "."), request.method.utf8.count <= 256 else {
            return .failure(.invalidParameter("method"), on: loop)
        }
        let name = String(request.method[..<dot])
        let member = String(request.method[request.method.index(after: dot)...])
        guard let interface = interfaces[name] else { return .failure(.interfaceNotFound(name), on: loop) }
        guard interface.methods.contains(member) else { return .failure(.methodNotFound(request.method), on: loop) }
        let call = VarlinkCall(
            method: member, parameters: request.parameters, peer: peer, more: request.more, oneway: request.oneway,
            connection: connection)
        return interface.answer(call, on: loop)
    }
}

/// What `org.varlink.service.GetInfo` says.
package struct VarlinkServiceInfo: Hashable, Sendable {
    package var vendor: String
    package var product: String
    package var version: String
    package var url: String

    package init(vendor: String, product: String, version: String, url: String) {
        self.vendor = vendor
        self.product = product
        self.version = version
        self.url = url
    }
}

/// The interface that every Varlink service has: what is served here, and its descriptions.
final class ServiceInterface: VarlinkInterface {
    let name = "org.varlink.service"
    let methods: Set<String> = ["GetInfo", "GetInterfaceDescription"]
    let interfaceDescription = """
        # Every Varlink service has this interface: it tells what else is served.
        interface org.varlink.service

        # Who serves here, and which interfaces.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # The description of one interface, in this language.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # Nobody here speaks that interface.
        error InterfaceNotFound (interface: string)

        # The interface has no such method.
        error MethodNotFound (method: string)

        # The interface names the method, this service does not have it.
        error MethodNotImplemented (method: string)

        # A parameter is missing, unknown or of the wrong type.
        error InvalidParameter (parameter: string)

        # The caller may not do that.
        error PermissionDenied ()

        # The method streams and needs the flag `more`.
        error ExpectedMore ()

        """

    private let service: VarlinkServiceInfo
    private let descriptions: [String: String]

    init(service: VarlinkServiceInfo, interfaces: [any VarlinkInterface]) {
        self.service = service
        var descriptions = Dictionary(interfaces.map { ($0.name, $0.interfaceDescription) }) { _, last in last }
        descriptions[name] = interfaceDescription
        self.descriptions = descriptions
    }

    func answer(_ call: VarlinkCall, on loop: any EventLoop) -> VarlinkAnswer {
        switch call.method {
        case "GetInfo":
            if let unknown = call.parameters.keys.min() { return .failure(.invalidParameter(unknown), on: loop) }
            return .reply(
                loop.makeSucceededFuture([
                    "vendor": .string(service.vendor), "product": .string(service.product),
                    "version": .string(service.version), "url": .string(service.url),
                    "interfaces": .array(descriptions.keys.sorted().map(JSONValue.string)),
                ]))
        case "GetInterfaceDescription":
            if let unknown = call.parameters.keys.filter({ $0 != "interface" }).min() {
                return .failure(.invalidParameter(unknown), on: loop)
            }
            guard let asked = call.parameters["interface"]?.stringValue else {
                return .failure(.invalidParameter("interface"), on: loop)
            }
            guard let description = descriptions[asked] else {
                return .failure(.interfaceNotFound(String(asked.prefix(256))), on: loop)
            }
            return .reply(loop.makeSucceededFuture(["description": .string(description)]))
        default: return .failure(.methodNotImplemented("\(name).\(call.method)"), on: loop)
        }
    }
}

/// A call as it came in, its members checked for type.
struct VarlinkRequest: Hashable {
    /// With the interface's name.
    let method: String
    let parameters: [String: JSONValue]
    let more: Bool
    let oneway: Bool

    /// Throws `InvalidParameter` with the name of the member that is missing or of the wrong type. Members this version
    /// of the protocol does not know are ignored, as the protocol wants it.
    init(_ message: JSONValue) throws(VarlinkError) {
        guard case .object(let members) = message else { throw .invalidParameter("method") }
        guard let method = members["method"]?.stringValue else { throw .invalidParameter("method") }
        self.method = method
        switch members["parameters"] {
        case nil, .null: parameters = [:]
        case .object(let given): parameters = given
        default: throw .invalidParameter("parameters")
        }
        more = try Self.flag("more", in: members)
        oneway = try Self.flag("oneway", in: members)
        // A connection is never handed to another protocol here.
        if try Self.flag("upgrade", in: members) { throw .invalidParameter("upgrade") }
    }

    private static func flag(_ name: String, in members: [String: JSONValue]) throws(VarlinkError) -> Bool {
        switch members[name] {
        case nil, .null: return false
        case .bool(let value): return value
        default: throw .invalidParameter(name)
        }
    }
}
