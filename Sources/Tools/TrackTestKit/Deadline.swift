package struct DeadlineExceeded: Error {}

/// Runs the body; throws after two minutes. For what a test waits for when it has no clock of its own: another process, a
/// socket of the kernel.
package func withDeadline(_ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: .seconds(120))
            throw DeadlineExceeded()
        }
        try await group.next()
        group.cancelAll()
    }
}

/// Looks again and again, for what tells nobody that it has changed; throws after two minutes.
package func until(_ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while try await !condition() {
        guard ContinuousClock.now < end else { throw DeadlineExceeded() }
        await Task.yield()
    }
}
