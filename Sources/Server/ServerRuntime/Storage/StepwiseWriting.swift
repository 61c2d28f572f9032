import TrackStore

/// Does long work on the store in steps, with breaks in which others write: see ``WriterBreaks``.
struct StepwiseWriting: Sendable {
    private var breaks = WriterBreaks()
    private var due: Duration?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async -> Void

    /// `sleep`: may return before its time when the task is cancelled.
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        (self.now, self.sleep) = (now, sleep)
    }

    /// Does one step, after the break that the steps before it have made due.
    mutating func step<Value>(
        _ work: () async throws(TrackStoreError) -> Value
    ) async throws(TrackStoreError) -> Value {
        if let due {
            self.due = nil
            await sleep(due)
        }
        let start = now()
        let value = try await work()
        due = breaks.pause(after: now() - start)
        return value
    }
}

/// When somebody who writes into the store again and again must let others write.
///
/// SQLite has no queue of writers: a process that finds the file locked looks again after at most 100 ms, for 5 s in the
/// server, and then its points are refused for the moment. Whoever begins the next transaction at once is always faster.
struct WriterBreaks: Hashable, Sendable {
    /// Work after which a break is due: a step may be shorter.
    static let longestWork = Duration.milliseconds(100)
    /// Longer than SQLite's longest wait between two looks, so that whoever waits looks in it.
    static let shortestBreak = Duration.milliseconds(150)

    private var worked = Duration.zero

    /// A step has taken so long. Returns for how long to leave the store alone before the next one; nil: not yet.
    mutating func pause(after step: Duration) -> Duration? {
        worked += step
        guard worked >= Self.longestWork else { return nil }
        defer { worked = .zero }
        return max(worked, Self.shortestBreak)
    }
}
