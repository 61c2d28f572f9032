package import Ingest
package import Logging
import NIOCore
import NIOPosix
import SecureLink
import ServerIdentity
import Synchronization
import Systemd
package import TrackModel
package import TrackStore
import TrackWire

/// The server's side of Saker Track Protocol 1: takes device connections, checks logins, and hands batches to the
/// server's ``IngestWriter``. See docs/formats/track-protocol.md.
package final class GatewayServer: Sendable {
    private enum State {
        case idle
        case starting
        case running(any Channel, pushes: Task<Void, Never>)
        case stopped
    }

    private let configuration: GatewayConfiguration
    let core: GatewayCore
    private let group: any EventLoopGroup
    private let state = Mutex(State.idle)
    private let stopRequests: AsyncStream<Void>
    private let requestStopNow: AsyncStream<Void>.Continuation
    private let pushesEnd: AsyncStream<Void>
    private let pushesHaveEnded: AsyncStream<Void>.Continuation

    /// Opens nothing yet.
    ///
    /// `ingest` must run from before ``start()`` until after ``stop()``. `now` is the server's clock: it judges times
    /// that lie ahead and stamps received points. Without `callHandler` every Call is answered with status 240.
    package init(
        configuration: GatewayConfiguration, store: any TrackStore, ingest: IngestWriter, logger: Logger,
        now: @escaping @Sendable () -> Timestamp, callHandler: GatewayCallHandler? = nil
    ) {
        self.configuration = configuration
        core = GatewayCore(
            limits: configuration.limits, deadlines: configuration.deadlines, store: store, ingest: ingest,
            logger: logger, now: now, callHandler: callHandler)
        group = MultiThreadedEventLoopGroup.singleton
        (stopRequests, requestStopNow) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (pushesEnd, pushesHaveEnded) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: Life

    /// Starts, serves until ``requestStop()`` or the task's cancellation, then stops as ``stop()`` does.
    package func run() async throws(GatewayError) {
        try await start()
        for await _ in stopRequests {}
        await stop()
    }

    /// Ends ``run()``; returns at once and may be called from anywhere, also twice.
    package func requestStop() { requestStopNow.finish() }

    /// Listens; returns once connections are accepted. Throws `.bind`, and `.state` when it was started before.
    package func start() async throws(GatewayError) {
        let mayStart = state.withLock { state in
            guard case .idle = state else { return false }
            state = .starting
            return true
        }
        guard mayStart else { throw GatewayError(.state, "the gateway was started before; make a new one") }
        let channel: any Channel
        do {
            channel = try await bind()
        } catch {
            state.withLock { $0 = .idle }
            throw GatewayError(
                .bind, "cannot listen on \(configuration.host):\(configuration.port) (\(error)); is the port taken?")
        }
        let (core, ended) = (core, pushesHaveEnded)
        let task = Task {
            await core.watchStore()
            ended.finish()
        }
        state.withLock { $0 = .running(channel, pushes: task) }
        core.logger.notice(
            "Vehicles can connect",
            metadata: [
                "host": "\(configuration.host)", "port": "\(localPort ?? 0)",
                "message_id": "\(MessageID.gatewayListening)",
            ])
    }

    /// Stops within about ``GatewayDeadlines/drain`` and ``GatewayDeadlines/close``: accepts nothing more, stores and
    /// acknowledges the received batches, then tells every agent that the gateway closes.
    package func stop() async {
        requestStop()
        let running: (channel: any Channel, pushes: Task<Void, Never>)? = state.withLock { state in
            guard case .running(let channel, let pushes) = state else { return nil }
            state = .stopped
            return (channel, pushes)
        }
        guard let running else { return }
        core.census.close()
        try? await running.channel.close()
        core.takeNothingMore()
        await drain()
        running.pushes.cancel()
        core.dismissAll()
        await core.census.untilEmpty(atMost: configuration.deadlines.close * 2)
        core.logger.info("No vehicle is connected any more", metadata: ["connections_left": "\(core.census.count)"])
    }

    /// Received batches are stored and acknowledged. A store that hangs must not keep the process from ending.
    private func drain() async {
        let (core, end, limit) = (core, pushesEnd, configuration.deadlines.drain)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await core.drained()
                for await _ in end {}
            }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: Administration

    /// The port that the gateway listens on; nil while it does not listen.
    package var localPort: Int? {
        state.withLock { state in
            guard case .running(let channel, _) = state else { return nil }
            return channel.localAddress?.port
        }
    }

    /// Logged-in sessions.
    package var sessionCount: Int { core.registry.count }
    /// Connections in any phase.
    package var connectionCount: Int { core.census.count }
    package var counts: GatewayCounts { core.counters.counts }
    /// Calls of agents that are being answered.
    package var callsAtWork: Int { core.callShares.withLock { $0.count } }

    // MARK: Accepting

    /// Of one connection. The gateway writes nothing more to a peer that has not taken 64 KiB, but for one message.
    private static let unsentBytes = 4 << 20

    private func bind() async throws -> any Channel {
        let (core, identity) = (core, configuration.identity)
        // The session has a shorter time for the handshake, and tells why it ends.
        let limits = SecureLink.Limits(
            handshake: .seconds(60), goodbye: .seconds(5), unsentBytes: Self.unsentBytes)
        return try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            // The gateway does not read from a peer that reads slowly: see GatewayConnection. No more bytes than these
            // may wait for such a peer.
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 16 * 1024, high: 64 * 1024))
            // Bytes that are read beyond the window wait in memory. The gateway reads one TLS record at a time, so that
            // the backlogs of a whole fleet wait in the kernel, where the agents' windows close.
            .childChannelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 256, initial: 512, maximum: 16 * 1024)
            )
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let address = channel.remoteAddress?.ipAddress ?? "unknown"
                    try core.admit(channel)
                    let pipeline = channel.pipeline.syncOperations
                    let problem = core.clockProblem
                    let context = problem == nil ? identity.context : identity.contextForAnybody
                    try SecureLink.secure(channel, with: context, limits: limits)
                    try pipeline.addHandler(core.makeConnection(from: address, clockProblem: problem))
                }
            }
            .bind(host: configuration.host, port: configuration.port)
            .get()
    }
}

/// Why the gateway could not start.
package struct GatewayError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The address cannot be listened on.
        case bind
        /// It runs already, or has been stopped.
        case state
    }

    package let code: Code
    /// For people: the value, the rule and what to do. Never a secret.
    package let detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package var description: String { detail }
}
