internal import Glibc
internal import Logging
internal import MetricsText
internal import NIOCore
internal import NIOPosix

/// The outputs of the agent's metrics: a text file for node_exporter and a listener, each when the configuration asks
/// for it.
///
/// Metrics are not the agent's task: a failure of an output is counted and logged once, and stops nothing. Confined to
/// the agent's loop.
final class MetricsOutput {
    private let agent: Agent
    private let settings: AgentConfiguration.Metrics
    private let loop: any EventLoop
    private let log: Logger
    private let isControlOpen: () -> Bool
    private let textfile: MetricsTextfile?
    private var timer: RepeatedTask?
    private var listener: MetricsListener?
    private var isStopped = false
    private(set) var textfileFailures: UInt64 = 0
    private var scrapes: UInt64 = 0
    /// The failure of the text file that was logged last. The same failure is not logged again.
    private var toldFailure: String?

    /// `isControlOpen`: whether the process has its control socket.
    init(
        _ agent: Agent, _ settings: AgentConfiguration.Metrics, log: Logger, loop: any EventLoop,
        isControlOpen: @escaping () -> Bool
    ) {
        self.agent = agent
        self.settings = settings
        self.loop = loop
        self.log = log
        self.isControlOpen = isControlOpen
        textfile = settings.textfile.map(MetricsTextfile.init)
    }

    func start() {
        let bound = NIOLoopBound(self, eventLoop: loop)
        if textfile != nil {
            let interval = TimeAmount.seconds(Int64(settings.interval))
            timer = loop.scheduleRepeatedTask(initialDelay: .zero, delay: interval) { _ in bound.value.writeTextfile() }
        }
        guard let address = settings.listen else { return }
        let listening = MetricsListener.start(on: address, group: loop) { loop in
            loop.makeSucceededFuture(bound.value.scraped())
        }
        listening.assumeIsolated().whenComplete { [self] result in
            switch result {
            case .success(let listener) where isStopped: _ = listener.close()
            case .success(let listener): self.listener = listener
            case .failure(let error):
                log.error("Metrics cannot be listened for", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Ends both outputs and removes the text file, so that nobody takes old numbers for new ones.
    func stop() -> EventLoopFuture<Void> {
        isStopped = true
        timer?.cancel()
        let closed = listener?.close() ?? loop.makeSucceededVoidFuture()
        let removed = textfile?.remove(on: loop) ?? loop.makeSucceededVoidFuture()
        return closed.and(removed).map { _ in }
    }

    private func scraped() -> [UInt8] {
        scrapes &+= 1
        return page()
    }

    private func page() -> [UInt8] {
        var page = agent.metrics()
        page.add(AgentMetrics.controlSocket, isControlOpen())
        page.add(AgentMetrics.textfileFailures, textfileFailures)
        page.add(AgentMetrics.scrapes, scrapes)
        return page.text
    }

    /// One page more, besides those of the timer.
    func writeTextfile() {
        textfile?.write(page(), on: loop).assumeIsolated().whenSuccess { [self] failure in
            guard let failure else {
                if toldFailure != nil { log.notice("Metrics are written to their text file again") }
                toldFailure = nil
                return
            }
            textfileFailures &+= 1
            guard toldFailure != failure, !isStopped else { return }
            toldFailure = failure
            log.warning("Metrics cannot be written to their text file", metadata: ["error": "\(failure)"])
        }
    }
}

/// The file that node_exporter's textfile collector reads, written on a thread of its own: a directory that hangs holds
/// up neither the loop nor the ring's disk thread.
///
/// Each page replaces the page before in one step, so that a reader never sees half a page. No page is synchronised:
/// after a power cut an old page is worth nothing.
final class MetricsTextfile {
    private let path: String
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private var isWriting = false
    private var isRemoved = false

    /// Why a page could not be written, a sentence; nil when the page is in its place.
    typealias Outcome = String?

    init(path: String) {
        self.path = path
        thread.start()
    }

    /// Writes a page and completes on the loop. Must be called on the loop. While a page is being written, another page
    /// fails at once: pages never queue up.
    func write(_ page: [UInt8], on loop: any EventLoop) -> EventLoopFuture<Outcome> {
        guard !isWriting, !isRemoved else {
            return loop.makeSucceededFuture("\(path): the page before is still being written")
        }
        isWriting = true
        let written = thread.runIfActive(eventLoop: loop) { [path] in Self.replace(path, by: page) }
        return written.assumeIsolated().map { [self] outcome in
            isWriting = false
            return outcome
        }.nonisolated()
    }

    /// Removes the file, so that nobody reads old metrics, and ends the thread.
    func remove(on loop: any EventLoop) -> EventLoopFuture<Void> {
        isRemoved = true
        let done = loop.makePromise(of: Void.self)
        thread.runIfActive(eventLoop: loop) { [path] in _ = unlink(path) }.whenComplete { [thread] _ in
            thread.shutdownGracefully { _ in done.succeed() }
        }
        return done.futureResult
    }

    /// Writes a new file beside the old one and renames it. Removes the new file when that fails.
    private static func replace(_ path: String, by page: [UInt8]) -> Outcome {
        // node_exporter reads names that end in .prom and nothing else.
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard file >= 0 else { return failure(path, errno) }
        var number: Int32 = 0
        // Other users read the file, whatever the unit's umask says.
        if fchmod(file, 0o644) != 0 { number = errno }
        var rest = page[...]
        while number == 0, !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { number = errno }
        }
        if close(file) != 0, number == 0 { number = errno }
        if number == 0, rename(temporary, path) != 0 { number = errno }
        guard number != 0 else { return nil }
        unlink(temporary)
        return failure(path, number)
    }

    private static func failure(_ path: String, _ number: Int32) -> String {
        let reason =
            switch number {
            case ENOENT: "its directory does not exist"
            case EACCES, EPERM: "this user may not write there"
            case EROFS: "it is read-only here; under systemd the unit needs ReadWritePaths= for its directory"
            case ENOSPC, EDQUOT: "there is no space left"
            default: String(cString: strerror(number))
            }
        return "\(path): \(reason)"
    }
}
