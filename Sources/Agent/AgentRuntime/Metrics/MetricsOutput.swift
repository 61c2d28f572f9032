internal import Exposition
internal import Logging
internal import NIOCore

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
