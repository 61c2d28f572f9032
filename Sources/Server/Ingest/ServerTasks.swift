/// Where the server's asynchronous work runs, and how it waits: in Swift's own pool and by its clock, or in a simulation.
package struct ServerTasks: Sendable {
    /// Nil means the thread pool of the process.
    package var executor: (any TaskExecutor)?
    /// Returns after the given time, or at once when the task is cancelled.
    package var sleep: @Sendable (Duration) async -> Void
    /// The clock that measures how long the store takes. No decision depends on it.
    package var clock: @Sendable () -> ContinuousClock.Instant = { .now }

    package init(
        executor: (any TaskExecutor)? = nil,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.executor = executor
        self.sleep = sleep
    }
}
