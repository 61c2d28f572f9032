import ServiceLifecycle

/// Work that the server does at its start and then again and again, until it is asked to stop.
protocol RepeatedWork: Service {
    /// From the end of one round to the beginning of the next.
    static var pause: Duration { get }

    func round() async
}

extension RepeatedWork {
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await round()
                try await Task.sleep(for: Self.pause)
            }
        }
    }
}
