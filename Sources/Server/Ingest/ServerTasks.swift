/// Where the server's asynchronous work runs and how it waits: Swift's own pool and clock, or those of a simulation.
package struct ServerTasks: Sendable {
    /// Nil: the pool of the process.
    package var executor: (any TaskExecutor)?
    /// Returns after the time, or at once when the task is cancelled.
    package var sleep: @Sendable (Duration) async -> Void
    /// Measures how long the store takes; nothing is decided by it.
    package var clock: @Sendable () -> ContinuousClock.Instant = { .now }

    package init(
        executor: (any TaskExecutor)? = nil,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.executor = executor
        self.sleep = sleep
    }
}
