import ConfigurationFile
import Gateway
import Ingest
import JSON
import Logging
import ServiceLifecycle
import Synchronization
import Systemd
import TrackModel

/// The device port as a service.
struct GatewayService: Service {
    let gateway: GatewayServer
    let ports: BoundPorts

    func run() async throws {
        try await gateway.start()
        ports.note(.device, gateway.localPort ?? 0)
        try? await gracefulShutdown()
        await gateway.stop()
    }
}

/// Tells whoever waits for it that the server can be used, and that it is ending.
struct Readiness: Service {
    let ports: BoundPorts
    let portsFile: String?
    let notifier: Notifier
    let logger: Logger

    func run() async throws {
        guard let bound = await cancelWhenGracefulShutdown({ await ports.all() }) else { return await end() }
        if let portsFile {
            do throws(ConfigurationError) {
                try AtomicFile.write(Array(BoundPorts.json(bound).utf8), to: portsFile, mode: 0o644)
            } catch {
                throw ServerError(.configuration, error.detail)
            }
        }
        let web = Self.list(bound, [.http, .https])
        if !web.isEmpty {
            logger.notice(
                "Clients can call the Web API",
                metadata: ["ports": "\(web)", "message_id": "\(MessageID.apiListening)"])
        }
        let all = Self.list(bound, BoundPorts.Name.allCases)
        notifier.ready(status: "listening: " + all)
        logger.notice(
            "The server is ready", metadata: ["ports": "\(all)", "message_id": "\(MessageID.programStarted)"])
        await end()
    }

    private func end() async {
        try? await gracefulShutdown()
        notifier.stopping()
        logger.notice("saker-server stops", metadata: ["message_id": "\(MessageID.programStopping)"])
    }

    private static func list(_ bound: [BoundPorts.Name: Int], _ names: [BoundPorts.Name]) -> String {
        names.compactMap { name in bound[name].map { "\(name.rawValue) \($0)" } }.joined(separator: ", ")
    }
}

/// The ports that were asked for, as they become known; the server is ready when all of them listen.
final class BoundPorts: Sendable {
    enum Name: String, CaseIterable, Sendable {
        case device, http, https, metrics
    }

    private struct State {
        var expected: Set<Name>
        var ports: [Name: Int] = [:]
        var isComplete: Bool { expected.isSubset(of: ports.keys) }
        var waiting: CheckedContinuation<[Name: Int], Never>?
    }

    private let state: Mutex<State>

    init(expected: Set<Name>) {
        state = Mutex(State(expected: expected))
    }

    func note(_ name: Name, _ port: Int) {
        let waiting: CheckedContinuation<[Name: Int], Never>? = state.withLock { state in
            state.ports[name] = port
            return state.isComplete ? state.waiting.take() : nil
        }
        waiting?.resume(returning: state.withLock { $0.ports })
    }

    /// The server is ready without this one.
    func doWithout(_ name: Name) {
        let waiting: CheckedContinuation<[Name: Int], Never>? = state.withLock { state in
            state.expected.remove(name)
            return state.isComplete ? state.waiting.take() : nil
        }
        waiting?.resume(returning: state.withLock { $0.ports })
    }

    /// Gives up waiting: what is known by then is returned.
    func abandon() {
        let waiting: CheckedContinuation<[Name: Int], Never>? = state.withLock { $0.waiting.take() }
        waiting?.resume(returning: state.withLock { $0.ports })
    }

    /// Returns when all listen; nil when the task is cancelled first.
    func all() async -> [Name: Int]? {
        let ports = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<[Name: Int], Never>) in
                let ports: [Name: Int]? = state.withLock { state in
                    if state.isComplete || Task.isCancelled { return state.ports }
                    state.waiting = continuation
                    return nil
                }
                if let ports { continuation.resume(returning: ports) }
            }
        } onCancel: {
            abandon()
        }
        return state.withLock { $0.expected }.isSubset(of: ports.keys) ? ports : nil
    }

    /// `{"device":7443,"https":8443}`, for scripts that let the kernel choose.
    static func json(_ ports: [Name: Int]) -> String {
        let members = ports.map { ($0.key.rawValue, JSONValue.integer(Int64($0.value))) }
        return "\(JSONValue.object(Dictionary(uniqueKeysWithValues: members)))\n"
    }
}

/// Asks systemd for more time while the start gets on: a large store takes longer to copy than systemd waits for a start, and a
/// start that is ended would begin the copy anew for ever.
final class StartTimeoutExtension: Sendable {
    /// From one request to the next, in milliseconds.
    static let interval: Int64 = 10_000
    /// For how long each request counts, from its moment on.
    static let reach = Duration.seconds(300)

    private let notifier: Notifier
    private let clock: @Sendable () -> MonotonicTime
    private let asked = Mutex<MonotonicTime?>(nil)

    init(notifier: Notifier, clock: @escaping @Sendable () -> MonotonicTime) {
        self.notifier = notifier
        self.clock = clock
    }

    /// A part of the start is done.
    func progress() {
        let now = clock()
        let isDue = asked.withLock { asked in
            if let asked, now - asked < Self.interval { return false }
            asked = now
            return true
        }
        guard isDue else { return }
        notifier.extendTimeout(by: Self.reach)
        notifier.status("copying the store before its tables are changed")
    }
}

/// The writer of points as a service: starts before whoever submits to it, and ends after them.
struct IngestService: Service {
    /// Whoever submits has waited for its own batches before this service is told to end: what is left belongs to a store
    /// that hangs.
    private static let stopTimeout = Duration.seconds(2)
    /// How often the writer hears of changed fences at least.
    private static let interval = Duration.seconds(1)

    let ingest: IngestWriter

    func run() async throws {
        let (ended, end) = AsyncStream<Void>.makeStream()
        let ingest = ingest
        // Not a child task: a store that hangs must not keep the process from ending.
        let work = Task {
            await ingest.run()
            end.finish()
        }
        // When no points come, changes of fences must not pile up for the first batch.
        let following = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                ingest.followFences(at: SystemClock.now())
            }
        }
        try? await gracefulShutdown()
        following.cancel()
        ingest.finish()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ended {} }
            group.addTask { try? await Task.sleep(for: Self.stopTimeout) }
            await group.next()
            group.cancelAll()
        }
        work.cancel()
    }
}
