import ServiceLifecycle
import TrackModel

/// Does the jobs of clients, one after the other, and removes jobs whose time is over.
protocol JobWork: Service {
    /// From one look for jobs to the next.
    static var interval: Duration { get }

    var now: @Sendable () -> Timestamp { get }

    /// Does every job that waits. False: one failed, and the others may fail the same way.
    func step() async -> Bool

    /// Removes jobs whose time is over.
    func clear() async
}

extension JobWork {
    func run() async {
        // Whoever waits for an answer comes first.
        let work = Task(priority: .background) { await serve() }
        try? await gracefulShutdown()
        work.cancel()
        await work.value
    }

    /// Until the task is cancelled.
    private func serve() async {
        var clearedAt: Timestamp?
        var heldUntil: Timestamp?
        while !Task.isCancelled {
            let time = now()
            if clearedAt.map({ time >= $0.adding(milliseconds: 60_000) || time < $0 }) ?? true {
                await clear()
                clearedAt = time
            }
            if heldUntil.map({ time >= $0 }) ?? true {
                heldUntil = await step() ? nil : now().adding(milliseconds: JobClaim.pause)
            }
            try? await Task.sleep(for: Self.interval)
        }
    }
}

/// The right of one server to work on a job, among those that share a store.
struct JobClaim {
    /// How long a claim holds that nobody prolongs, and how often it is prolonged, milliseconds.
    private static let length: Int64 = 60_000
    private static let renewal: Int64 = 15_000
    /// Between two attempts at a job that failed, milliseconds: the disk may have room then.
    static let pause: Int64 = 60_000

    private var renewedAt: Timestamp

    init(at now: Timestamp) { renewedAt = now }

    /// The end of a claim that begins, or is prolonged, at this time.
    static func end(from now: Timestamp) -> Timestamp { now.adding(milliseconds: length) }

    /// Whether the work goes on: not when its task is cancelled, and not when `prolong` says that the job has gone. `prolong` is
    /// called in time, with the new end of the claim.
    mutating func holds(at now: Timestamp, prolong: (Timestamp) async throws -> Bool) async throws -> Bool {
        guard !Task.isCancelled else { return false }
        guard now >= renewedAt.adding(milliseconds: Self.renewal) else { return true }
        renewedAt = now
        return try await prolong(Self.end(from: now))
    }
}
