package import Ingest
package import Logging
package import NIOCore
import SecureLink
import Synchronization
package import TrackModel
package import TrackStore

/// Answers a Call: the service, the session's entity, the v3 path and its parameters go in; the Web API's status and
/// the whole response object come out.
package typealias GatewayCallHandler =
    @Sendable (
        _ service: ServiceID, _ entity: String, _ path: String, _ parameters: [String: String]
    ) async -> (status: Int32, json: String)

/// Everything that the connections of one gateway share: the gateway without its port and its TLS, which
/// ``GatewayServer`` adds.
package final class GatewayCore: Sendable {
    let limits: GatewayLimits
    let deadlines: GatewayDeadlines
    let store: any TrackStore
    let ingest: IngestWriter
    let registry: SessionRegistry
    /// How often vehicles have logged in.
    let logins: Mutex<LoginRates>
    let pushOutcomes: PushOutcomeWriter
    private let changes: StoreChangeFeed
    let clones: CloneEnforcement
    let health: HealthReportWriter
    let fences: FenceReading
    let census: ConnectionCensus
    let counters: GatewayCounters
    let logger: Logger
    let lines: SenderLog
    let now: @Sendable () -> Timestamp
    let callHandler: GatewayCallHandler?
    /// Of all connections; a call that took too long counts until its handler returns.
    let callShares: Mutex<CallShares>
    let tasks: ServerTasks

    /// `ingest` takes the batches and belongs to whoever runs it; `now` is the server's clock: it judges times that lie ahead and stamps what is received.
    package init(
        limits: GatewayLimits, deadlines: GatewayDeadlines, store: any TrackStore, ingest: IngestWriter,
        logger: Logger, now: @escaping @Sendable () -> Timestamp, callHandler: GatewayCallHandler?,
        tasks: ServerTasks = ServerTasks()
    ) {
        self.limits = limits
        self.deadlines = deadlines
        self.tasks = tasks
        counters = GatewayCounters()
        registry = SessionRegistry(mostOfVehicle: limits.sessionsOfVehicle)
        logins = Mutex(LoginRates(limits))
        callShares = Mutex(CallShares(limits))
        self.ingest = ingest
        pushOutcomes = PushOutcomeWriter(
            store: store, registry: registry, counters: counters, sleep: tasks.sleep, logger: logger)
        let lines = SenderLog(logger)
        self.lines = lines
        clones = CloneEnforcement(store: store, registry: registry, lines: lines)
        changes = StoreChangeFeed(
            store: store, registry: registry, clones: clones, tasks: tasks, now: now, logger: logger)
        health = HealthReportWriter(store: store, registry: registry, tasks: tasks, logger: logger)
        fences = FenceReading(store, executor: tasks.executor, zones: ingest.zones) { service, unreadable in
            for fence in unreadable {
                lines.write(
                    .error, "a fence cannot be read, so vehicles do not get it",
                    [
                        "service": "\(service.rawValue)", "fence": "\(fence.fence)", "reason": "\(fence.reason)",
                    ], of: .store)
            }
        }
        census = ConnectionCensus(limits: limits)
        self.store = store
        self.logger = logger
        self.now = now
        self.callHandler = callHandler
    }

    package var counts: GatewayCounts { counters.counts }

    // MARK: Connections

    /// Counts a new connection until it closes; throws when it is one too many.
    package func admit(_ channel: any Channel) throws {
        let (isAdmitted, replaced) = census.enter(channel)
        if let replaced {
            counters.add(to: \.turnedAway)
            Self.cutOff(replaced)
        }
        guard isAdmitted else {
            counters.add(to: \.turnedAway)
            throw ConnectionRefused()
        }
        channel.closeFuture.whenComplete { [census] _ in census.leave(channel) }
        counters.add(to: \.accepted)
    }

    /// Whether a connection may have a session: it may take the place of another one.
    func takePlace(_ channel: any Channel, of service: ServiceID) -> Bool {
        let (isTaken, replaced) = census.takePlace(channel, of: service)
        if let replaced { Self.cutOff(replaced) }
        if !isTaken || replaced != nil { counters.add(to: \.turnedAway) }
        return isTaken
    }

    /// At once: a close through TLS waits for the end of a handshake, and a login could come meanwhile.
    private static func cutOff(_ channel: any Channel) {
        channel.eventLoop.execute { SecureLink.cutOff(channel) }
    }

    /// The handler of one connection. It belongs behind the handler that secures the channel and tells the end of the
    /// handshake. `clockProblem`: of the moment in which the connection was taken; nobody gets in over it.
    package func makeConnection(from address: String, clockProblem: String? = nil) -> any ChannelDuplexHandler {
        GatewayConnection(core: self, address: address, clockProblem: clockProblem)
    }

    /// Why the server's clock counts as wrong; nil: it can be right.
    var clockProblem: String? { ingest.clock.problem(at: now()) }

    // MARK: Life

    /// Reads the changes of the store, and writes the outcomes of messages and the health of vehicles, until ``takeNothingMore()``.
    package func watchStore() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.changes.run() }
            group.addTask { await self.health.run() }
            group.addTask {
                while !Task.isCancelled {
                    await self.tasks.sleep(SenderLog.interval)
                    self.lines.tellLeftOut()
                }
            }
            await pushOutcomes.run()
            group.cancelAll()
        }
    }

    /// Takes no further connection and no further frame. Batches that were submitted are still stored and acknowledged.
    package func takeNothingMore() {
        census.close()
        for link in registry.links { link.perform { $0.drain() } }
        pushOutcomes.finish()
    }

    /// Returns when every session has heard of ``takeNothingMore()`` and what they submitted is settled.
    package func drained() async {
        var loops: Set<ObjectIdentifier> = []
        for link in registry.links where loops.insert(ObjectIdentifier(link.eventLoop)).inserted {
            try? await link.eventLoop.submit {}.get()
        }
        await ingest.settled()
    }

    /// Tells every agent that the gateway closes, and closes its connection.
    package func dismissAll() {
        for channel in census.channels { channel.triggerUserOutboundEvent(GatewayStops(), promise: nil) }
    }
}

/// Closes a connection for which there is no room, before its handshake.
private struct ConnectionRefused: Error {}
