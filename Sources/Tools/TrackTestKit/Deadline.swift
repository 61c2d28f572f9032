package import Logging
import Synchronization
package import TrackModel

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

/// Keeps the events of the journal that a logger is told.
package struct EventRecorder: LogHandler {
    private final class Events: Sendable {
        let list = Mutex<[Logger.Metadata]>([])
    }

    private let told = Events()
    package var logLevel = Logger.Level.trace
    package var metadata: Logger.Metadata = [:]

    package init() {}

    /// The message ids in their order.
    package var ids: [String] { fields.compactMap { $0["message_id"] } }

    /// The fields of each event, the message id among them.
    package var fields: [[String: String]] {
        told.list.withLock { $0.map { $0.mapValues { "\($0)" } } }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        guard let fields = event.metadata, fields["message_id"] != nil else { return }
        told.list.withLock { $0.append(fields) }
    }
}

/// Tests write times as numbers. No program does: a number may also be a duration, and that mistake must not compile.
extension MonotonicTime: ExpressibleByIntegerLiteral {
    package init(integerLiteral milliseconds: Int64) {
        self.init(milliseconds: milliseconds)
    }

    /// After every time of the clock.
    package static let distantFuture = Self(milliseconds: .max)
}

/// Sebastiano Vigna's SplitMix64: small, and the same everywhere for the same seed.
package struct SplitMix: RandomNumberGenerator, Sendable {
    package var state: UInt64

    package init(state: UInt64) {
        self.state = state
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
