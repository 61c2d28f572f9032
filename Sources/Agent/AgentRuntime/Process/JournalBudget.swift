internal import ConnectionLimits
internal import Logging
internal import Synchronization
internal import TrackModel

/// How many lines the agent writes into the journal: each message has a budget. So neither a server nor a user of the control socket
/// who sends without end fills the vehicle's disk with lines. A message that names a user has a budget for each user.
///
/// What was left out is counted. The next line of the same message has the number in `skipped`; ``sayLeftOut(with:)`` says it when none
/// follows.
final class JournalBudget: Sendable {
    /// 100 lines of a message at once, then one every 2 s; 1,000 and 10 a second of all messages.
    private let lines: Mutex<SenderLines>
    private let clock: @Sendable () -> MonotonicTime

    init(clock: @escaping @Sendable () -> MonotonicTime) {
        var limits = SenderLines.Limits(burstOfAll: 1000, intervalOfAll: 100)
        limits.burst = 100
        lines = Mutex(SenderLines(limits))
        self.clock = clock
    }

    /// Gives every line of a maker's handlers a budget.
    func bounding(
        _ make: @escaping @Sendable (_ label: String) -> any LogHandler
    ) -> @Sendable (_ label: String) -> any LogHandler {
        { BoundedLogHandler(inner: make($0), budget: self) }
    }

    /// Nil: the line is not written. Otherwise how many lines of the message were not written before it.
    fileprivate func line(of event: LogEvent) -> Int64? {
        var message = event.message.description
        if let user = event.metadata?["uid"] { message += " (uid \(user))" }
        let now = clock()
        return lines.withLock { $0.line(of: message, at: now) }
    }

    /// Says how many lines were left out of messages that nobody has written since. Call it about once a minute.
    func sayLeftOut(with log: Logger) {
        let now = clock()
        for (message, count) in lines.withLock({ $0.takeLeftOut(at: now) }) {
            log.notice(
                "Lines of the journal were left out",
                metadata: ["line": "\(message ?? "others")", "skipped": "\(count)"])
        }
    }
}

/// Hands to the inner handler what the budget allows.
private struct BoundedLogHandler: LogHandler {
    var inner: any LogHandler
    let budget: JournalBudget

    var logLevel: Logger.Level {
        get { inner.logLevel }
        set { inner.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { inner.metadata }
        set { inner.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { inner.metadataProvider }
        set { inner.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { inner[metadataKey: key] }
        set { inner[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        guard let skipped = budget.line(of: event) else { return }
        guard skipped > 0 else { return inner.log(event: event) }
        var event = event
        event.metadata = (event.metadata ?? [:]).merging(["skipped": "\(skipped)"]) { _, new in new }
        inner.log(event: event)
    }
}
