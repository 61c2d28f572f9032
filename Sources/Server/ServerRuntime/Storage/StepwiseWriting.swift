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
