package import AlarmLog
package import DiskRing
internal import Dispatch
package import GNSSFeed
package import Geofencing
package import LocalFences
package import Logging
package import NIOCore
internal import SecureLink
internal import Synchronization
package import TrackModel

/// The parts of the world that the agent uses. The agent decides everything else on its event loop, by the clock of
/// that loop. With other dependencies the same agent runs in a simulation.
package struct AgentDependencies {
    package var clock: any SystemClockSource
    package var connector: any LinkConnector
    package var feeds: any FeedSource
    package var disk: any CacheExecutor
    package var stateStore: any DurableStateStore
    /// For the jitter of waits: random, or the same in a repeated run.
    package var seed: UInt64
    /// Names the present start of the computer; nil: nobody knows it.
    package var boot: String?
    /// Nil: pushes are neither kept nor acknowledged.
    package var alarms: (any AlarmExecutor)?
    /// Nil: no hooks are run.
    package var hooks: (any HookExecutor)?
    /// Nil: the vehicle's own fences are in memory only.
    package var fences: LocalFenceStore?
    /// Nil: the server's fences are in memory only.
    package var serverFences: ServerFenceStore?
    /// The disk was in another computer when the agent ran last.
    package var isOnAnotherComputer: Bool
    package var longWork: any LongWorkExecutor

    package init(
        clock: any SystemClockSource, connector: any LinkConnector, feeds: any FeedSource, disk: any CacheExecutor,
        stateStore: any DurableStateStore, seed: UInt64, boot: String? = nil, alarms: (any AlarmExecutor)? = nil,
        hooks: (any HookExecutor)? = nil, fences: LocalFenceStore? = nil, serverFences: ServerFenceStore? = nil,
        isOnAnotherComputer: Bool = false, longWork: any LongWorkExecutor = ImmediateExecutor()
    ) {
        self.clock = clock
        self.connector = connector
        self.feeds = feeds
        self.disk = disk
        self.stateStore = stateStore
        self.seed = seed
        self.boot = boot
        self.alarms = alarms
        self.hooks = hooks
        self.fences = fences
        self.serverFences = serverFences
        self.isOnAnotherComputer = isOnAnotherComputer
        self.longWork = longWork
    }
}

/// Does work that takes long, and that waits for no disk, beside the event loop: one piece after the other, in the order of the
/// calls.
package protocol LongWorkExecutor: AnyObject {
    /// Completes on the given loop; nil when too much waits already: nothing was done.
    func perform<Result: Sendable>(
        on loop: any EventLoop, _ work: @escaping @Sendable () -> Result
    ) -> EventLoopFuture<Result>?
}

/// Does it on the loop: in a simulation nothing takes time.
package final class ImmediateExecutor: LongWorkExecutor {
    package init() {}

    package func perform<Result: Sendable>(
        on loop: any EventLoop, _ work: @escaping @Sendable () -> Result
    ) -> EventLoopFuture<Result>? {
        loop.makeSucceededFuture(work())
    }
}

/// The clock of the system, right or wrong. Only people's times and certificates depend on it.
package protocol SystemClockSource: AnyObject {
    func read() -> KernelClockState
}

/// Makes the connections to the server.
package protocol LinkConnector: AnyObject {
    /// Completes with a channel of plain `ByteBuffer`s on `loop`, the initializer's handlers in place, once the server is
    /// verified. `verificationTime`: seconds since 1970 at which certificates are judged; nil for the system's.
    func connect(
        to server: AgentConfiguration.Server, verificationTime: Int64?, on loop: any EventLoop,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel>
    /// Reads trust and identity again for the connections to come, and completes on `loop` with what an operator should
    /// know of them. Fails and goes on with the former ones when they cannot be used.
    func reload(_ server: AgentConfiguration.Server, on loop: any EventLoop) -> EventLoopFuture<[String]>
    /// From now on the connector takes replaced certificates and keys for later connections, and tells of them on
    /// `loop`.
    func watch(on loop: any EventLoop, log: Logger, deliver: @escaping (CertificateReload) -> Void)
    func stopWatching()
    /// The end of the agent's certificate in use, seconds since 1970 UTC; nil: it has none, or nobody has read it yet.
    var clientCertificateEnd: Int64? { get }
}

/// A connector without files has nothing to watch.
extension LinkConnector {
    package func watch(on loop: any EventLoop, log: Logger, deliver: @escaping (CertificateReload) -> Void) {}
    package func stopWatching() {}
    package var clientCertificateEnd: Int64? { nil }
}

/// What became of certificates or keys whose files changed.
package enum CertificateReload: Hashable, Sendable {
    /// They were read for the first time.
    case read(warnings: [String])
    /// The next connection uses them.
    case replaced(warnings: [String])
    /// The new files cannot be used; the former ones stay in use.
    case refused(reason: String)
    /// The files cannot be used, and there are no former ones: no connection can be made.
    case missing(reason: String)
}

/// Opens the watch of gpsd.
package protocol FeedSource: AnyObject {
    /// `deliver` may be called on any thread, one call at a time, until `stop()` of what is returned.
    func open(
        _ gnss: AgentConfiguration.GNSS, deliver: @escaping @Sendable (FeedEvent) -> Void
    ) throws(GNSSFeedError) -> any OpenFeed
}

/// One open watch. The agent ignores what the watch still says after `stop()`.
package protocol OpenFeed: AnyObject {
    func stop()
}

/// Runs operations on the disk ring beside the event loop, one after the other, in the order of the calls.
package protocol CacheExecutor: AnyObject {
    /// Completes on the given loop; nil when too many operations wait already: nothing was done.
    func perform<Result: Sendable>(
        on loop: any EventLoop, _ operation: @escaping @Sendable (DiskRing) -> Result
    ) -> EventLoopFuture<Result>?
    /// Waits for the operations that were asked for before, and closes the ring.
    func shutDown(on loop: any EventLoop, now: MonotonicTime) -> EventLoopFuture<Void>
}

/// Runs operations on the alarm journal beside the event loop, one after the other, in the order of the calls.
package protocol AlarmExecutor: AnyObject {
    /// Completes on the given loop; nil when too many operations wait already: nothing was done.
    func perform<Result: Sendable>(
        on loop: any EventLoop, _ operation: @escaping @Sendable (AlarmJournal) -> Result
    ) -> EventLoopFuture<Result>?
}

/// Where the vehicle's own fences are kept, and what was found there at the start.
package struct LocalFenceStore {
    package var writer: any LocalFenceWriter
    package var found: LoadedLocalFences
    /// What the alarm journal remembers of the entities.
    package var states: [JournalFenceState]

    package init(writer: any LocalFenceWriter, found: LoadedLocalFences, states: [JournalFenceState]) {
        self.writer = writer
        self.found = found
        self.states = states
    }
}

/// Keeps the vehicle's own fences. A slow disk does not hold up the event loop.
package protocol LocalFenceWriter: AnyObject {
    /// Completes on the given loop: with nil when all fences are on the disk, otherwise with a sentence that says why they
    /// could not be written. Returns nil instead of a future when too much waits for the disk already: then nothing was
    /// done.
    func write(_ fences: KeptFences, nextFence: Int32, on loop: any EventLoop) -> EventLoopFuture<String?>?
    /// Reads them again; nil as with `write`.
    func read(on loop: any EventLoop) -> EventLoopFuture<LoadedLocalFences>?
    /// What the names of time zones stand for, as far as this computer knows; nil as with `write`.
    func zones(_ names: [String], on loop: any EventLoop) -> EventLoopFuture<[String: ZoneOffsets]>?
}

/// Where the server's fences are kept, and what was found there at the start.
package struct ServerFenceStore {
    package var writer: any ServerFenceWriter
    package var found: LoadedServerFences
    /// What the alarm journal remembers of the entities.
    package var states: [JournalFenceState]

    package init(writer: any ServerFenceWriter, found: LoadedServerFences, states: [JournalFenceState]) {
        self.writer = writer
        self.found = found
        self.states = states
    }
}

/// Keeps the server's fences. A slow disk does not hold up the event loop.
package protocol ServerFenceWriter: AnyObject {
    /// As ``LocalFenceWriter/write(_:nextFence:on:)``.
    func write(_ content: ServerFenceSet, on loop: any EventLoop) -> EventLoopFuture<String?>?
}

/// Keeps the state that must survive a restart. A slow disk does not hold up the event loop.
package protocol DurableStateStore: AnyObject {
    /// Completes on the given loop: with nil when the whole state is on the disk, otherwise with a sentence that says
    /// why it could not be written. Returns nil instead of a future when too much waits for the disk already: then
    /// nothing was done.
    func write(_ state: DurableState, on loop: any EventLoop) -> EventLoopFuture<String?>?
}

/// The kernel's clock.
final class KernelClock: SystemClockSource, Sendable {
    func read() -> KernelClockState { .read() }
}

/// gpsd through libgps, on a thread of the feed's own.
final class GNSSFeedSource: FeedSource {
    func open(
        _ gnss: AgentConfiguration.GNSS, deliver: @escaping @Sendable (FeedEvent) -> Void
    ) throws(GNSSFeedError) -> any OpenFeed {
        let feed = try GNSSFeed(
            configuration: FeedConfiguration(host: gnss.host, port: UInt16(clamping: gnss.port), device: gnss.device),
            deliver: deliver)
        try feed.start()
        return feed
    }
}

extension GNSSFeed: OpenFeed {}

/// A thread for work that takes long, while there is some. Points and heartbeats do not wait for it.
final class LongWorkThread: LongWorkExecutor, Sendable {
    private let queue = DispatchQueue(label: "io.saker.long-work")
    private let waiting = Mutex(0)

    /// Pieces of work that may wait: each may hold a message of the control socket (1 MiB).
    static let maximumWaiting = 8

    func perform<Result: Sendable>(
        on loop: any EventLoop, _ work: @escaping @Sendable () -> Result
    ) -> EventLoopFuture<Result>? {
        let isAccepted = waiting.withLock { count in
            guard count < Self.maximumWaiting else { return false }
            count += 1
            return true
        }
        guard isAccepted else { return nil }
        let promise = loop.makePromise(of: Result.self)
        queue.async { [self] in
            let result = work()
            waiting.withLock { $0 -= 1 }
            promise.succeed(result)
        }
        return promise.futureResult
    }
}
