internal import AgentRuntime
internal import GNSSFeed
internal import Glibc
internal import NIOCore
internal import SecureLink
internal import TrackTestKit

/// The vehicle's system clock: wrong at boot, stepping, drifting.
final class SimulatedSystemClock: SystemClockSource {
    private let loop: VirtualLoop
    /// Milliseconds since 1970 at virtual time 0.
    var offset: Int64
    /// Parts in a million by which it runs fast.
    var drift: Int64 = 0
    var isSynchronised = true

    init(loop: VirtualLoop, offset: Int64) {
        self.loop = loop
        self.offset = offset
    }

    func read() -> KernelClockState {
        let elapsed = Int64(loop.now.uptimeNanoseconds / 1_000_000)
        return KernelClockState(
            milliseconds: offset + elapsed + elapsed / 1000 * drift / 1000, isSynchronised: isSynchronised)
    }
}

/// gpsd and its receiver as one process of the agent sees them.
final class SimulatedFeedSource: FeedSource {
    /// The process's open watch, if any.
    private(set) var open: SimulatedOpenFeed?
    var onOpen: () -> Void = {}
    var onClose: () -> Void = {}

    func open(
        _ gnss: AgentConfiguration.GNSS, deliver: @escaping @Sendable (FeedEvent) -> Void
    ) throws(GNSSFeedError) -> any OpenFeed {
        let watch = SimulatedOpenFeed(source: self, deliver: deliver)
        open = watch
        onOpen()
        return watch
    }

    /// Its process is dead. Agent, watch and source hold each other: nobody else would let go of them.
    func forget() {
        open?.deliver = { _ in }
        open = nil
        (onOpen, onClose) = ({}, {})
    }

    fileprivate func closed(_ watch: SimulatedOpenFeed) {
        guard open === watch else { return }
        open = nil
        onClose()
    }
}

final class SimulatedOpenFeed: OpenFeed {
    private let source: SimulatedFeedSource
    fileprivate(set) var deliver: @Sendable (FeedEvent) -> Void

    init(source: SimulatedFeedSource, deliver: @escaping @Sendable (FeedEvent) -> Void) {
        self.source = source
        self.deliver = deliver
    }

    func stop() { source.closed(self) }
}

/// The agent's way into the virtual network.
final class SimulatedConnector: LinkConnector {
    private let network: VirtualNetwork
    /// Milliseconds since 1970 from which the server's certificate is valid.
    private let certificateFrom: Int64
    private let clock: SimulatedSystemClock
    /// Makes the server's end of a new connection; nil when nobody listens.
    var accept: () -> VirtualSocket? = { nil }
    var onWrite: ([UInt8]) -> Void = { _ in }
    /// For the next connection.
    var rewrite: (([UInt8]) -> [UInt8])?
    var onLink: () -> Void = {}
    private(set) var connections: [VirtualConnection] = []
    private(set) var attempts = 0

    init(network: VirtualNetwork, clock: SimulatedSystemClock, certificateFrom: Int64) {
        self.network = network
        self.clock = clock
        self.certificateFrom = certificateFrom
    }

    /// Told to a process that is no more, so that nobody holds what waited for the answer.
    private struct Dead: Error {}

    /// As long as the real one waits for TCP, and then for TLS.
    private static let limits = SecureLink.Limits()

    func connect(
        to server: AgentConfiguration.Server, verificationTime: Int64?, on loop: any EventLoop,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        attempts += 1
        let promise = loop.makePromise(of: (any Channel).self)
        let judgedAt = verificationTime ?? clock.read().milliseconds / 1000
        let reach = network.reach
        guard reach != .swallows else {
            network.loop.at(network.loop.now + Self.limits.connect) {
                guard (loop as? ProcessLoop)?.isAlive == true else { return promise.fail(Dead()) }
                promise.fail(SecureLinkError(.connectTimeout, "nobody answers"))
            }
            return promise.futureResult
        }
        let taken = TimeAmount.milliseconds(2 * network.handshakeTrips() * network.delay())
        let limit = Self.limits.connect + Self.limits.handshake
        network.loop.at(network.loop.now + min(taken, limit)) { [self] in
            guard (loop as? ProcessLoop)?.isAlive == true else { return promise.fail(Dead()) }
            guard reach == .works, network.reach == .works else {
                return promise.fail(SecureLinkError(.connectRefused, "no way to the server"))
            }
            guard taken < limit else { return promise.fail(SecureLinkError(.handshakeTimeout, "no TLS handshake")) }
            guard judgedAt * 1000 >= certificateFrom else {
                return promise.fail(SecureLinkError(.certificateNotYetValid, "the certificate is not valid yet"))
            }
            guard let peer = accept() else {
                return promise.fail(SecureLinkError(.connectRefused, "connection refused"))
            }
            let own = VirtualSocket(side: .agent, loop: network.loop, unsentBytes: Self.limits.unsentBytes)
            (own.onWrite, own.rewrite) = (onWrite, rewrite)
            let connection = VirtualConnection(network: network, agent: own, server: peer)
            connections.removeAll { $0.isOver }
            connections.append(connection)
            onLink()
            initializer(own).whenComplete { result in
                peer.begin()
                switch result {
                case .success:
                    own.begin()
                    promise.succeed(own)
                case .failure(let error):
                    promise.fail(SecureLinkError(.other, "the connection could not be set up: \(error)"))
                    own.close(promise: nil)
                }
            }
        }
        return promise.futureResult
    }

    func reload(_ server: AgentConfiguration.Server, on loop: any EventLoop) -> EventLoopFuture<[String]> {
        loop.makeSucceededFuture([])
    }

    /// The machine or the process is gone.
    func drop(tellingPeer: Bool) {
        for connection in connections {
            if tellingPeer { connection.abort(.agent) } else { connection.drop(.agent) }
        }
        connections = []
    }

    /// Its process is dead.
    func forget() {
        (accept, onLink) = ({ nil }, {})
        onWrite = { _ in }
    }
}
