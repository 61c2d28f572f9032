internal import ConnectionLimits
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
            var table: ConnectionTable<ObjectIdentifier>
            var channels: [ObjectIdentifier: any Channel] = [:]
        }

        private let state: Mutex<State>

        init(_ limits: Limits, _ address: MetricsAddress) {
            let perAddress: Int =
                switch address {
                case .unix: limits.connections
                case .internet: limits.connectionsPerAddress
                }
            state = Mutex(State(table: ConnectionTable(.init(connections: limits.connections, perAddress: perAddress))))
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

/// One connection: a request, its answer, the end. What comes after the request is read and dropped, so that closing
/// does not take the answer away from a client that still sends.
final class MetricsConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let time: TimeAmount
    private let page: MetricsListener.Page
    private let onServed: (Bool) -> Void
    private var request = MetricsRequest()
    private var isAnswered = false
    private var isSent = false
    private var hasInputEnded = false
    private var deadline: Scheduled<Void>?

    /// `onServed` is told true when the request is whole, and false when its answer goes out.
    init(time: TimeAmount, page: @escaping MetricsListener.Page, onServed: @escaping (Bool) -> Void) {
        self.time = time
        self.page = page
        self.onServed = onServed
    }

    // The handler is added before a server's connection is active.
    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered, let answer = request.take(unwrapInboundIn(data).readableBytesView) else { return }
        isAnswered = true
        onServed(true)
        let channel = context.channel
        switch answer {
        case .refused(let refusal): send(MetricsRequest.response(refusal), to: channel)
        case .page(let isBodyWanted):
            page(context.eventLoop).hop(to: context.eventLoop).assumeIsolated().whenComplete { [self] result in
                switch result {
                case .success(let page):
                    send(MetricsRequest.response(page: page, isBodyWanted: isBodyWanted), to: channel)
                case .failure: channel.close(promise: nil)
                }
            }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        hasInputEnded = true
        // Who has not asked cannot be answered; who has asked gets the answer first.
        if !isAnswered || isSent { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func send(_ response: [UInt8], to channel: any Channel) {
        onServed(false)
        channel.writeAndFlush(ByteBuffer(bytes: response)).assumeIsolated().whenComplete { [self] _ in
            isSent = true
            channel.close(mode: hasInputEnded ? .all : .output, promise: nil)
        }
    }
}

/// Where the metrics are read: a Unix socket, or an address and port.
package enum MetricsAddress: Hashable, Sendable, CustomStringConvertible {
    case unix(path: String)
    /// `host` is an address, never a name. Port 0 lets the kernel choose.
    case internet(host: String, port: Int)

    /// From `/run/saker/metrics.sock`, `127.0.0.1:9443` or `[::1]:9443`; nil when it is none of these.
    package init?(_ text: String) {
        if text.hasPrefix("/") {
            self = .unix(path: text)
            return
        }
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
            port <= 65_535
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":"), host.utf8.allSatisfy({ Self.isHexadecimal($0) || $0 == 0x3A || $0 == 0x2E })
            else { return nil }
        } else {
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 4, parts.allSatisfy({ UInt8($0) != nil && $0.count <= 3 && !$0.hasPrefix("+") })
            else { return nil }
        }
        self = .internet(host: String(host), port: port)
    }

    /// What a configuration that breaks the rule is told.
    package static let rule =
        "an address and port such as \"127.0.0.1:9443\" or \"[::1]:9443\", or the path of a Unix socket that begins with /"

    /// Whether only programs on this machine can reach it.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .internet(let host, _): host.hasPrefix("127.") || host == "::1"
        }
    }

    package var description: String {
        switch self {
        case .unix(let path): path
        case .internet(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
